//go:build !linux && !darwin

package pack

import "io/fs"

// stateOf is zero: here the system tells of a file no more than its size and its time, and one that has both of another
// is taken for it until the host starts anew.
func stateOf(fs.FileInfo) state { return state{} }
