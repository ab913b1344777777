// Package sqlitefile reports whether the file of a SQLite database was exchanged for another one by rename, and keeps the
// write-ahead log of the old one away from the new. It never opens a file: closing one would drop the locks of the
// connections of this process.
//
// Who closes and opens connections is package engine for queries, and host/store/sqlite. Start reading at Identify.
package sqlitefile

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Path is the absolute path of the file that a data source name means: a path, or a file: URI. What stands behind "?" of
// a URI does not count.
func Path(dsn string) (string, error) {
	name, uri := strings.CutPrefix(dsn, "file:")
	if uri {
		name, _, _ = strings.Cut(name, "?")
		// file:///path and file://localhost/path name a host, which is this one.
		name = strings.TrimPrefix(strings.TrimPrefix(name, "//localhost"), "//")
		var err error
		if name, err = url.PathUnescape(name); err != nil {
			return "", err
		}
	}
	return filepath.Abs(name)
}

// Identity is a database file with the log and the index of the log that its connections have open.
type Identity struct {
	path, real   string
	db, wal, shm fs.FileInfo
}

// Identify looks at what path names now. Log and index belong to the database only when a connection that has read is
// open.
func Identify(path string) (Identity, error) {
	real, err := filepath.EvalSymlinks(path) // SQLite puts the log beside the file itself
	if err != nil {
		return Identity{}, err
	}
	id := Identity{path: path, real: real}
	if id.db, err = os.Stat(real); err != nil {
		return Identity{}, err
	}
	id.wal, id.shm = stat(real+"-wal"), stat(real+"-shm")
	return id, nil
}

// stat is nil for a file that is not there.
func stat(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// Alone is the identity without log and index, for a database that no connection has read yet.
func (i Identity) Alone() Identity {
	i.wal, i.shm = nil, nil
	return i
}

// LogBegun tells whether there is a log now, and none in the identity.
func (i Identity) LogBegun() bool { return i.wal == nil && stat(i.real+"-wal") != nil }

// Path is the path that was given to Identify.
func (i Identity) Path() string { return i.path }

// Again is what the path names now, alone.
func (i Identity) Again() (Identity, error) {
	now, err := Identify(i.path)
	return now.Alone(), err
}

// Exchanged tells whether the path names another file now. A file that is missing counts as the old one: the new one may
// be on its way.
func (i Identity) Exchanged() bool {
	_, exchanged := i.Look()
	return exchanged
}

// LookEvery is for how long readers believe what Look has told: looking takes 2 µs, and 8 where the processor did other work
// meanwhile. Whoever writes, or opens a connection, looks each time.
const LookEvery = time.Millisecond

// Look is the file that the path names at this moment, nil for none, and whether it was exchanged.
func (i Identity) Look() (now fs.FileInfo, exchanged bool) {
	now = stat(i.path)
	return now, now != nil && !os.SameFile(i.db, now)
}

// Same tells whether both are one database file.
func (i Identity) Same(other Identity) bool { return os.SameFile(i.db, other.db) }

// Detach removes the names of the log and its index, so that the file that came in the place of the database is never
// read with them. Connections to the old file keep both open. At least one of them must be open: otherwise another file
// may have got the number of the log. Files that are not of this identity stay.
func (i Identity) Detach() error {
	if now := stat(i.real); now != nil && os.SameFile(i.db, now) {
		return nil // a link leads elsewhere now, and the old database is where it was
	}
	return errors.Join(remove(i.real+"-wal", i.wal), remove(i.real+"-shm", i.shm))
}

func remove(path string, was fs.FileInfo) error {
	now := stat(path)
	if was == nil || now == nil || !os.SameFile(was, now) {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
