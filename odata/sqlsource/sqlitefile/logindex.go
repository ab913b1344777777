package sqlitefile

// headSize is the size of the header of a log's index, of which there are two copies.
// https://www.sqlite.org/walformat.html#the_wal_index_header
const headSize = 48

// LogHead is both copies. Two of one index are equal when nothing was committed in between; those of two logs that have no
// commit may be equal as well.
type LogHead [2 * headSize]byte

// LogIndex is the first page of the index of a database's log, as SQLite and all processes share it in memory. Every commit
// writes its header, and PRAGMA data_version is what a connection makes of that: it looks whether the header is the one that
// it saw last. Looking oneself needs neither a transaction nor its locks. It is nil where there is no such memory.
// Head may be called by several goroutines at once, but by none beside or behind Unmap.
type LogIndex []byte

// Head is the header at this moment. False while it is being written, and where there is none.
func (w LogIndex) Head() (h LogHead, ok bool) {
	const isInit = 12
	if len(w) < len(h) {
		return h, false
	}
	copy(h[:], w)
	return h, h[isInit] != 0 && string(h[:headSize]) == string(h[headSize:])
}
