package sqlite3

import (
	"errors"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// ErrUncounted is the error of LimitHeap after SQLite has begun to work without counting its memory.
var ErrUncounted = errors.New("SQLite has begun before its memory was limited: limit it before the first database is opened")

// LimitHeap bounds the memory that SQLite allocates in this process, in bytes, for all connections of all drivers. Close to the
// limit SQLite reuses the page of any connection that was not used for longest, and sorts with files. What it cannot do
// without it still gets. Call LimitHeap before the first database is opened; the limit may change later.
func LimitHeap(bytes int64) error {
	tls := libc.NewTLS()
	defer tls.Close()
	on := libc.NewVaList(int32(1))
	defer libc.Xfree(tls, on)
	lib.Xsqlite3_config(tls, lib.SQLITE_CONFIG_MEMSTATUS, on) // it fails if SQLite works already, and HeapUsed shows whether it counts
	lib.Xsqlite3_soft_heap_limit64(tls, bytes)
	p := lib.Xsqlite3_malloc(tls, 64)
	defer lib.Xsqlite3_free(tls, p)
	if HeapUsed() == 0 {
		return ErrUncounted
	}
	return nil
}

// HeapUsed returns how many bytes SQLite has allocated in this process; zero where LimitHeap was not called.
func HeapUsed() int64 {
	tls := libc.NewTLS()
	defer tls.Close()
	return lib.Xsqlite3_memory_used(tls)
}
