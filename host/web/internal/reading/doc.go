// Package reading finds every path that a server may take a sent one for: servers differ
// in what they decode, resolve and cut, and in whether they fold the case of letters.
//
// What is made of the readings lives in host/web: routes, forward auth and held steps
// ask its Policy. Start reading at reading.go.
package reading
