//go:build !linux

package sqlitefile

// MapLogIndex maps nothing: it would need to know the descriptors of the process.
func MapLogIndex(string) LogIndex { return nil }

// Unmap gives the memory back.
func (w LogIndex) Unmap() error { return nil }
