package sqlite3

import (
	"container/list"
	"fmt"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A Stmt is a prepared statement.
type Stmt struct {
	conn   *Conn
	query  string
	handle uintptr
	// place is that in Conn.idle; nil while the statement is in use.
	place *list.Element
	// transient statements are not cached: another one with this text is in use.
	transient bool
	// bytes is the memory of the statement when it was first given back; zero if Conn.MaxBytes is.
	bytes int
	row   row
}

// Prepare returns the statement of a text, from the cache if it is there and not in use. Close gives it back. A text behind
// the first statement is ignored.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	s, known := c.cached[query]
	if known && s.place != nil {
		c.idle.Remove(s.place)
		s.place = nil
		return s, nil
	}
	text, err := libc.CString(query)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	out := c.tls.Alloc(pointerSize)
	defer c.tls.Free(pointerSize)
	code := lib.Xsqlite3_prepare_v3(c.tls, c.db, text, int32(len(query)+1), lib.SQLITE_PREPARE_PERSISTENT, out, 0)
	if code != lib.SQLITE_OK {
		return nil, fmt.Errorf("prepare %q: %w", query, c.fault(code))
	}
	s = &Stmt{conn: c, query: query, handle: *at[uintptr](out), transient: known}
	if !known {
		c.cached[query] = s
	}
	return s, nil
}

// Close gives the statement back to the connection, which finalizes those that were not used for longest if it keeps too
// many, or too large ones. Nobody may use the statement afterwards.
func (s *Stmt) Close() {
	if s.transient {
		s.finalize()
		return
	}
	c := s.conn
	s.Reset()
	lib.Xsqlite3_clear_bindings(c.tls, s.handle)
	s.place = c.idle.PushFront(s)
	if c.MaxBytes > 0 && s.bytes == 0 {
		s.bytes = int(lib.Xsqlite3_stmt_status(c.tls, s.handle, lib.SQLITE_STMTSTATUS_MEMUSED, 0))
		c.bytes += s.bytes
	}
	for len(c.cached) > maxCached || c.bytes > c.MaxBytes && c.idle.Len() > 1 {
		oldest := c.idle.Remove(c.idle.Back()).(*Stmt)
		delete(c.cached, oldest.query)
		c.bytes -= oldest.bytes
		oldest.finalize()
	}
}

func (s *Stmt) finalize() { lib.Xsqlite3_finalize(s.conn.tls, s.handle) } // its error is that of the last Step

// Bind sets the parameter i, from 1, to nil, a bool, an int64, a float64, a string or bytes.
func (s *Stmt) Bind(i int, arg any) error {
	tls, at, code := s.conn.tls, int32(i), int32(0)
	switch v := arg.(type) {
	case nil:
		code = lib.Xsqlite3_bind_null(tls, s.handle, at)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		code = lib.Xsqlite3_bind_int64(tls, s.handle, at, n)
	case int64:
		code = lib.Xsqlite3_bind_int64(tls, s.handle, at, v)
	case float64:
		code = lib.Xsqlite3_bind_double(tls, s.handle, at, v)
	case string:
		return s.bindBytes(v, func(text uintptr) int32 {
			return lib.Xsqlite3_bind_text(tls, s.handle, at, text, int32(len(v)), lib.SQLITE_TRANSIENT)
		})
	case []byte:
		return s.bindBytes(string(v), func(blob uintptr) int32 {
			return lib.Xsqlite3_bind_blob(tls, s.handle, at, blob, int32(len(v)), lib.SQLITE_TRANSIENT)
		})
	default:
		return fmt.Errorf("a parameter has type %T", arg)
	}
	if code != lib.SQLITE_OK {
		return fmt.Errorf("parameter %d: %w", i, s.conn.fault(code))
	}
	return nil
}

func (s *Stmt) bindBytes(v string, bind func(uintptr) int32) error {
	if len(v) > maxBytes {
		return &Error{code: lib.SQLITE_TOOBIG, text: "string or blob too big"}
	}
	copied, err := libc.CString(v)
	if err != nil {
		return err
	}
	defer libc.Xfree(s.conn.tls, copied)
	if code := bind(copied); code != lib.SQLITE_OK {
		return s.conn.fault(code)
	}
	return nil
}

// maxBytes is SQLite's own limit of a text or a blob.
const maxBytes = 1_000_000_000

// Step moves to the next row, and reports whether there is one. After an error the statement begins anew.
func (s *Stmt) Step() (bool, error) {
	c := s.conn
	if c.interrupted.Load() {
		s.Reset()
		return false, &Error{code: lib.SQLITE_INTERRUPT, text: "interrupted"}
	}
	switch code := lib.Xsqlite3_step(c.tls, s.handle); code {
	case lib.SQLITE_ROW:
		s.row.read(c.tls, s.handle)
		return true, nil
	case lib.SQLITE_DONE:
		s.row = row{}
		return false, nil
	default:
		err := c.fault(code)
		s.Reset()
		return false, err
	}
}

// Reset makes the statement begin anew, with the same parameters.
func (s *Stmt) Reset() {
	s.row = row{}
	lib.Xsqlite3_reset(s.conn.tls, s.handle) // its error is that of the last Step
}

// Columns returns the number of values in the current row; 0 if there is none.
func (s *Stmt) Columns() int { return s.row.columns }
