package engine

import (
	"reflect"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// handleOf is the statement of SQLite's C interface. The driver keeps it to itself, and has a call of that interface, which
// finds the column anew, for the kind, the length and the bytes of each cell. It is 0 where the driver calls it otherwise; cells
// are then read by the driver.
func handleOf(stmt *sqlite.Stmt) uintptr {
	field := reflect.ValueOf(stmt).Elem().FieldByName("stmt")
	if field.Kind() != reflect.Uintptr {
		return 0
	}
	return uintptr(field.Uint())
}

// values reads the current row by the C interface; the connection is in use by nobody else.
func (c *sqliteCursor) values(cells []Cell) {
	arena, tls := c.arena[:0], c.conn.tls
	for i := range cells {
		cell := &cells[i]
		value := sqlite3.Xsqlite3_column_value(tls, c.handle, int32(i)) //nolint:gosec // there are some columns
		*cell = Cell{}
		switch sqlite3.Xsqlite3_value_type(tls, value) {
		case sqlite3.SQLITE_INTEGER:
			cell.Kind, cell.Int = Int, sqlite3.Xsqlite3_value_int64(tls, value)
		case sqlite3.SQLITE_FLOAT:
			cell.Kind, cell.Float = Float, sqlite3.Xsqlite3_value_double(tls, value)
		case sqlite3.SQLITE_TEXT:
			cell.Kind = Text
			cell.Bytes, arena = bytesOf(tls, value, arena)
		case sqlite3.SQLITE_BLOB:
			cell.Kind = Blob
			cell.Bytes, arena = bytesOf(tls, value, arena)
		}
	}
	c.arena = arena
}

// bytesOf appends a text or a blob to an arena, a new one where there is no room: the texts of the row stay where they are.
func bytesOf(tls *libc.TLS, value uintptr, arena []byte) (text, grown []byte) {
	at := sqlite3.Xsqlite3_value_blob(tls, value)
	if at == 0 {
		return []byte{}, arena
	}
	stored := libc.GoBytes(at, int(sqlite3.Xsqlite3_value_bytes(tls, value)))
	if len(stored) > cap(arena)-len(arena) {
		arena = make([]byte, 0, max(2*(len(arena)+len(stored)), 1024))
	}
	from := len(arena)
	arena = append(arena, stored...)
	return arena[from:len(arena):len(arena)], arena
}
