package sqlite

import (
	"errors"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqlitefile"
)

// Bounds of what is kept: how many rows, and how many bytes of values each.
const (
	maxKept     = 8 << 10
	maxKeptData = 1 << 10
)

// keptSessions are rows of sessions that were read since the last commit. Every commit, of any process, changes the head of
// the log's index, so that a row is as it was read while the head is. The reader's mu guards it.
type keptSessions struct {
	// of is the file whose log has the index; the index is nil where the system has no such memory.
	of     sqlitefile.Identity
	index  sqlitefile.LogIndex
	mapped bool
	// looked is when it was last looked whether the file was exchanged.
	looked time.Time
	// at is the head at which the rows were read.
	at   sqlitefile.LogHead
	rows map[string]*store.SessionRow
}

// now is the head of the log of a file; false where it cannot be told.
func (k *keptSessions) now(of sqlitefile.Identity) (head sqlitefile.LogHead, ok bool) {
	if !k.mapped || !k.of.Same(of) {
		return head, false
	}
	return k.index.Head()
}

// find returns the row that was read at the present head; nil where none was.
func (k *keptSessions) find(hash []byte) *store.SessionRow {
	row := k.rows[string(hash)]
	if row == nil {
		return nil
	}
	if head, ok := k.index.Head(); !ok || head != k.at {
		return nil
	}
	return row
}

// keep keeps a row that was read at a head.
func (k *keptSessions) keep(at sqlitefile.LogHead, hash []byte, row *store.SessionRow) {
	if len(row.Data) > maxKeptData {
		return
	}
	if k.rows == nil || at != k.at || len(k.rows) >= maxKept {
		k.rows, k.at = map[string]*store.SessionRow{}, at
	}
	k.rows[string(hash)] = row
}

// watch maps the index of a file's log, which a connection has open. It looks for one once.
func (k *keptSessions) watch(of sqlitefile.Identity) error {
	if k.mapped && k.of.Same(of) {
		return nil
	}
	err := k.drop()
	k.of, k.index, k.mapped = of, sqlitefile.MapLogIndex(of.Path()), true
	if of.Exchanged() { // the index may be that of the new file
		err = errors.Join(err, k.drop())
	}
	return err
}

// drop forgets the rows and gives the index back. It comes before a connection is closed, which may be the last one that
// keeps other processes from cutting the index off.
func (k *keptSessions) drop() error {
	index := k.index
	*k = keptSessions{}
	return index.Unmap()
}
