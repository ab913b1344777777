package sqlite3

import (
	"math"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A Kind is a storage class. https://www.sqlite.org/datatype3.html
type Kind uint8

// The storage classes.
const (
	KindNull Kind = iota
	KindInt
	KindFloat
	KindText
	KindBlob
)

// A Value is one of SQLite, where SQLite holds it, or one of Go: the result of a function. The zero value is null. One of a
// row lives until the next Step, one of a function's arguments until the function returns.
type Value struct {
	tls *libc.TLS
	mem *mem
	own *own // nil for a value of SQLite
}

// own is a value of Go.
type own struct {
	kind Kind
	bits uint64
	text string
}

// Null returns null.
func Null() Value { return Value{} }

// Int returns an integer.
func Int(n int64) Value { return Value{own: &own{kind: KindInt, bits: uint64(n)}} }

// Float returns a real; NaN becomes null in SQLite.
func Float(f float64) Value { return Value{own: &own{kind: KindFloat, bits: math.Float64bits(f)}} }

// Text returns a text.
func Text(s string) Value { return Value{own: &own{kind: KindText, text: s}} }

// mem is a value as SQLite holds it.
type mem = lib.Tsqlite3_value

// classes are the bits of mem.Fflags that decide the storage class. A value may have several, such as a number and its text.
const classes = lib.MEM_Null | lib.MEM_Str | lib.MEM_Int | lib.MEM_Real | lib.MEM_Blob | lib.MEM_IntReal | lib.MEM_Zero

// Kind returns the storage class.
func (v Value) Kind() Kind {
	if v.mem == nil {
		return v.ownKind()
	}
	switch v.mem.Fflags & classes {
	case lib.MEM_Int:
		return KindInt
	case lib.MEM_Str:
		return KindText
	case lib.MEM_Real:
		return KindFloat
	case lib.MEM_Null:
		return KindNull
	}
	return v.kindByCall()
}

func (v Value) ownKind() Kind {
	if v.own == nil {
		return KindNull
	}
	return v.own.kind
}

func (v Value) kindByCall() Kind {
	switch lib.Xsqlite3_value_type(v.tls, v.address()) {
	case lib.SQLITE_INTEGER:
		return KindInt
	case lib.SQLITE_FLOAT:
		return KindFloat
	case lib.SQLITE_TEXT:
		return KindText
	case lib.SQLITE_BLOB:
		return KindBlob
	}
	return KindNull
}

// Int returns the value as an integer, by SQLite's rules; 0 for a text of Go.
func (v Value) Int() int64 {
	if v.mem != nil && v.mem.Fflags&classes == lib.MEM_Int {
		return int64(math.Float64bits(v.mem.Fu.Fr)) // integer and real share their memory
	}
	return v.intByCall()
}

func (v Value) intByCall() int64 {
	switch {
	case v.mem != nil:
		return lib.Xsqlite3_value_int64(v.tls, v.address())
	case v.own == nil:
		return 0
	case v.own.kind == KindFloat:
		return int64(math.Float64frombits(v.own.bits))
	}
	return int64(v.own.bits)
}

// Float returns the value as a real, by SQLite's rules; 0 for a text of Go.
func (v Value) Float() float64 {
	if v.mem != nil && v.mem.Fflags&classes == lib.MEM_Real {
		return v.mem.Fu.Fr
	}
	return v.floatByCall()
}

func (v Value) floatByCall() float64 {
	switch {
	case v.mem != nil:
		return lib.Xsqlite3_value_double(v.tls, v.address())
	case v.own == nil:
		return 0
	case v.own.kind == KindInt:
		return float64(int64(v.own.bits))
	}
	return math.Float64frombits(v.own.bits)
}

// Bytes returns the bytes of a text or a blob where SQLite holds them, not copied; a number's as SQLite writes it.
func (v Value) Bytes() []byte {
	if v.mem != nil && v.mem.Fflags&classes == lib.MEM_Str {
		return bytesAt(v.mem.Fz, v.mem.Fn)
	}
	return v.bytesByCall()
}

func (v Value) bytesByCall() []byte {
	switch {
	case v.mem == nil:
		return []byte(v.ownText())
	case v.Kind() == KindBlob:
		blob := lib.Xsqlite3_value_blob(v.tls, v.address())
		return bytesAt(blob, lib.Xsqlite3_value_bytes(v.tls, v.address()))
	}
	text := lib.Xsqlite3_value_text(v.tls, v.address())
	return bytesAt(text, lib.Xsqlite3_value_bytes(v.tls, v.address()))
}

func (v Value) ownText() string {
	if v.own == nil {
		return ""
	}
	return v.own.text
}

// Text returns a copy of Bytes.
func (v Value) Text() string {
	if v.mem == nil {
		return v.ownText()
	}
	return string(v.Bytes())
}

func (v Value) address() uintptr { return uintptr(unsafe.Pointer(v.mem)) }

// row are the values of the current row.
type row struct {
	tls     *libc.TLS
	handle  uintptr
	columns int
	// values are all of them if SQLite holds them one behind another, which joined reports; nil otherwise.
	values []mem
	joined bool
}

func (r *row) read(tls *libc.TLS, handle uintptr) {
	first := lib.Xsqlite3_column_value(tls, handle, 0)
	if r.columns == 0 { // the first row
		r.tls, r.handle = tls, handle
		r.columns = int(lib.Xsqlite3_data_count(tls, handle))
		last := lib.Xsqlite3_column_value(tls, handle, int32(r.columns-1))
		r.joined = last-first == uintptr(r.columns-1)*memSize
	}
	if r.joined {
		r.values = unsafe.Slice(at[mem](first), r.columns)
	}
}

// Value returns the value of column i, from 0, of the current row; null behind the last one.
func (s *Stmt) Value(i int) Value {
	if i < len(s.row.values) {
		return Value{tls: s.row.tls, mem: &s.row.values[i]}
	}
	return s.valueByCall(i)
}

func (s *Stmt) valueByCall(i int) Value {
	if i >= s.row.columns {
		return Value{}
	}
	return Value{tls: s.row.tls, mem: at[mem](lib.Xsqlite3_column_value(s.row.tls, s.row.handle, int32(i)))}
}

const (
	pointerSize = int(unsafe.Sizeof(uintptr(0)))
	memSize     = unsafe.Sizeof(mem{})
)

// at returns what SQLite has at an address. Its memory is not the garbage collector's.
func at[T any](address uintptr) *T {
	var t T
	return (*T)(unsafe.Pointer(unsafe.SliceData(libc.GoBytes(address, int(unsafe.Sizeof(t))))))
}

func bytesAt(address uintptr, n int32) []byte {
	if address == 0 || n == 0 {
		return []byte{}
	}
	return libc.GoBytes(address, int(n))
}
