package engine

import (
	"reflect"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// sums are the aggregates of a connection that are being computed, by their number, from 1. They are for the goroutine that
// uses the connection.
type sums struct {
	list []*decimalSum
	free []int64
	// calls are the functions that SQLite has pointers to, which the garbage collector does not see.
	calls []any
}

// registerSum makes ves_sum a function of SQLite's C interface. The driver's own way to call one takes longer than what SQLite
// does to add a number itself: it looks for the aggregate under a lock, and makes a list of the arguments. It is false where
// the driver does not show its connection.
func registerSum(c *conn) bool {
	field := reflect.ValueOf(c.Conn).Elem().FieldByName("conn")
	if field.Kind() != reflect.Uintptr {
		return false
	}
	name, err := libc.CString("ves_sum")
	if err != nil {
		return false
	}
	defer libc.Xfree(c.tls, name)
	s := &sums{}
	add := func(sign int64) func(*libc.TLS, uintptr, int32, uintptr) {
		return func(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) { s.add(tls, ctx, argv, sign) }
	}
	step, inverse := add(1), add(-1)
	value := func(tls *libc.TLS, ctx uintptr) { s.value(tls, ctx) }
	final := func(tls *libc.TLS, ctx uintptr) {
		s.value(tls, ctx)
		s.end(tls, ctx)
	}
	s.calls = []any{step, inverse, value, final}
	c.sums = s
	const flags = sqlite3.SQLITE_UTF8 | sqlite3.SQLITE_DETERMINISTIC | sqlite3.SQLITE_DIRECTONLY
	return sqlite3.Xsqlite3_create_window_function(c.tls, uintptr(field.Uint()), name, 1, flags, 0,
		pointer(step), pointer(final), pointer(value), pointer(inverse), 0) == sqlite3.SQLITE_OK
}

// pointer is a function as the C interface takes it: where the value of the function is.
func pointer[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

// slot is where SQLite keeps the number of the sum of an aggregate, 0 where it is not begun; nil where there is none.
func slot(tls *libc.TLS, ctx uintptr, size int32) *int64 {
	p := sqlite3.Xsqlite3_aggregate_context(tls, ctx, size)
	if p == 0 {
		return nil
	}
	return (*int64)(unsafe.Pointer(unsafe.SliceData(libc.GoBytes(p, 8))))
}

// begin gives an aggregate a sum.
func (s *sums) begin(number *int64) {
	if n := len(s.free); n > 0 {
		*number = s.free[n-1]
		s.free = s.free[:n-1]
		return
	}
	s.list = append(s.list, &decimalSum{})
	*number = int64(len(s.list))
}

// end gives the sum of an aggregate to the next one.
func (s *sums) end(tls *libc.TLS, ctx uintptr) {
	if number := slot(tls, ctx, 0); number != nil && *number > 0 {
		*s.list[*number-1] = decimalSum{}
		s.free = append(s.free, *number)
		*number = 0
	}
}

// value is the sum so far.
func (s *sums) value(tls *libc.TLS, ctx uintptr) {
	number := slot(tls, ctx, 0)
	if number == nil || *number == 0 {
		sqlite3.Xsqlite3_result_null(tls, ctx)
		return
	}
	v, err := s.list[*number-1].total()
	switch n, whole := wholeNumber(v); {
	case err != nil:
		fail(tls, ctx, err)
	case v.Null:
		sqlite3.Xsqlite3_result_null(tls, ctx)
	case whole:
		sqlite3.Xsqlite3_result_int64(tls, ctx, n)
	default:
		text, err := libc.CString(string(v.Bytes))
		if err != nil {
			sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
			return
		}
		sqlite3.Xsqlite3_result_text(tls, ctx, text, int32(len(v.Bytes)), sqlite3.SQLITE_TRANSIENT) // a number
		libc.Xfree(tls, text)
	}
}

func fail(tls *libc.TLS, ctx uintptr, err error) {
	text, failed := libc.CString(err.Error())
	if failed != nil {
		sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	sqlite3.Xsqlite3_result_error(tls, ctx, text, -1)
	libc.Xfree(tls, text)
}

func (s *sums) add(tls *libc.TLS, ctx, argv uintptr, sign int64) {
	number := slot(tls, ctx, 8)
	if number == nil {
		sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	if *number == 0 {
		s.begin(number)
	}
	sum := s.list[*number-1]
	arg := *(*uintptr)(unsafe.Pointer(unsafe.SliceData(libc.GoBytes(argv, int(unsafe.Sizeof(argv))))))
	v := (*mem)(unsafe.Pointer(unsafe.SliceData(libc.GoBytes(arg, int(unsafe.Sizeof(mem{}))))))
	var err error
	switch v.Fflags & storage {
	case sqlite3.MEM_Null:
	case sqlite3.MEM_Int:
		err = sum.integer(integer(v), sign)
	case sqlite3.MEM_Real:
		err = sum.real(v.Fu.Fr, sign)
	default:
		err = sum.other(tls, arg, sign)
	}
	if err != nil {
		fail(tls, ctx, err)
	}
}

// other adds a value whose class is told in another way, or that is no number of SQLite.
func (s *decimalSum) other(tls *libc.TLS, v uintptr, sign int64) error {
	switch sqlite3.Xsqlite3_value_type(tls, v) {
	case sqlite3.SQLITE_NULL:
		return nil
	case sqlite3.SQLITE_INTEGER:
		return s.integer(sqlite3.Xsqlite3_value_int64(tls, v), sign)
	case sqlite3.SQLITE_FLOAT:
		return s.real(sqlite3.Xsqlite3_value_double(tls, v), sign)
	}
	at := sqlite3.Xsqlite3_value_text(tls, v)
	if at == 0 {
		return nil
	}
	return s.text(string(libc.GoBytes(at, int(sqlite3.Xsqlite3_value_bytes(tls, v)))), sign)
}
