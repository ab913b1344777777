package engine

import (
	"math"
	"reflect"
	"unsafe"

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

// handle is handleOf, which is asked once for a statement that the connection keeps.
func (c *conn) handle(stmt *sqlite.Stmt, query string, transient bool) uintptr {
	if at, ok := c.known[stmt]; ok {
		return at
	}
	at := handleOf(stmt)
	if !transient {
		c.known[stmt] = at
		c.cached = append(c.cached, query)
	}
	return at
}

// mem is a value as SQLite has it in memory.
type mem = sqlite3.Tsqlite3_value

// storage is what of mem.Fflags tells the storage class. A value may have two of them, such as a number and its text.
const storage = sqlite3.MEM_Null | sqlite3.MEM_Str | sqlite3.MEM_Int | sqlite3.MEM_Real | sqlite3.MEM_Blob | sqlite3.MEM_IntReal | sqlite3.MEM_Zero

// current are the values of the current row, which SQLite has one behind another; none where there is no row. They live
// until the cursor moves.
func (c *sqliteCursor) current() []mem {
	n := int(sqlite3.Xsqlite3_data_count(c.conn.tls, c.handle))
	if n == 0 {
		return nil
	}
	row := libc.GoBytes(sqlite3.Xsqlite3_column_value(c.conn.tls, c.handle, 0), n*int(unsafe.Sizeof(mem{})))
	return unsafe.Slice((*mem)(unsafe.Pointer(unsafe.SliceData(row))), n)
}

// integer is the number of a value of the class MEM_Int, which shares its memory with that of MEM_Real.
func integer(v *mem) int64 { return int64(math.Float64bits(v.Fu.Fr)) } // the same bits

// stored are the bytes of a value of the class MEM_Str or MEM_Blob, where SQLite has them.
func stored(v *mem) []byte {
	if v.Fn == 0 {
		return []byte{}
	}
	return libc.GoBytes(v.Fz, int(v.Fn))
}

// values reads the current row; the connection is in use by nobody else.
func (c *sqliteCursor) values(cells []Cell) {
	c.arena = c.arena[:0]
	row := c.current()
	for i := range cells {
		cell := &cells[i]
		*cell = Cell{}
		if i >= len(row) {
			continue
		}
		switch v := &row[i]; v.Fflags & storage {
		case sqlite3.MEM_Null:
		case sqlite3.MEM_Int:
			cell.Kind, cell.Int = Int, integer(v)
		case sqlite3.MEM_Real:
			cell.Kind, cell.Float = Float, v.Fu.Fr
		case sqlite3.MEM_Str:
			cell.Kind, cell.Bytes = Text, c.copied(stored(v))
		case sqlite3.MEM_Blob:
			cell.Kind, cell.Bytes = Blob, c.copied(stored(v))
		default:
			c.value(cell, i)
		}
	}
}

// value reads a value of the current row that has its class in another way, by the C interface.
func (c *sqliteCursor) value(cell *Cell, i int) {
	tls := c.conn.tls
	v := sqlite3.Xsqlite3_column_value(tls, c.handle, int32(i)) // there are some columns
	switch sqlite3.Xsqlite3_value_type(tls, v) {
	case sqlite3.SQLITE_INTEGER:
		cell.Kind, cell.Int = Int, sqlite3.Xsqlite3_value_int64(tls, v)
	case sqlite3.SQLITE_FLOAT:
		cell.Kind, cell.Float = Float, sqlite3.Xsqlite3_value_double(tls, v)
	case sqlite3.SQLITE_TEXT:
		cell.Kind, cell.Bytes = Text, c.bytes(v)
	case sqlite3.SQLITE_BLOB:
		cell.Kind, cell.Bytes = Blob, c.bytes(v)
	}
}

// bytes are those of a text or a blob.
func (c *sqliteCursor) bytes(v uintptr) []byte {
	at := sqlite3.Xsqlite3_value_blob(c.conn.tls, v)
	if at == 0 {
		return []byte{}
	}
	return c.copied(libc.GoBytes(at, int(sqlite3.Xsqlite3_value_bytes(c.conn.tls, v))))
}

// copied appends bytes to the arena, a new one where there is no room: the texts of the row stay where they are.
func (c *sqliteCursor) copied(stored []byte) []byte {
	if len(stored) > cap(c.arena)-len(c.arena) {
		c.arena = make([]byte, 0, max(2*(len(c.arena)+len(stored)), 1024))
	}
	from := len(c.arena)
	c.arena = append(c.arena, stored...)
	return c.arena[from:len(c.arena):len(c.arena)]
}
