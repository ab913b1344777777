package sqlite3

import (
	"fmt"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// flags are those of all functions: the same arguments give the same result, and no view or trigger may call them.
const flags = lib.SQLITE_UTF8 | lib.SQLITE_DETERMINISTIC | lib.SQLITE_DIRECTONLY

// Function adds a function of SQL with a number of arguments, any if it is -1. The arguments are valid until it returns.
func (c *Conn) Function(name string, args int, f func(args []Value) (Value, error)) error {
	call := func(tls *libc.TLS, ctx uintptr, n int32, argv uintptr) {
		v, err := f(arguments(tls, make([]Value, 0, 4), n, argv))
		answer(tls, ctx, v, err)
	}
	c.functions = append(c.functions, call)
	return c.create(name, func(name uintptr) int32 {
		return lib.Xsqlite3_create_function_v2(c.tls, c.db, name, int32(args), flags, 0, pointer(call), 0, 0, 0)
	})
}

// An Aggregate computes one value of many.
type Aggregate interface {
	// Step adds a value.
	Step(v Value) error
	// Inverse takes a value away that Step has added: a window moved past it.
	Inverse(v Value) error
	// Value returns the result so far.
	Value() (Value, error)
}

// Aggregate adds an aggregate of one argument, which may be used over windows.
func (c *Conn) Aggregate(name string, begin func() Aggregate) error {
	a := &aggregates{begin: begin}
	step := func(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) { a.add(tls, ctx, argv, false) }
	inverse := func(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) { a.add(tls, ctx, argv, true) }
	value := func(tls *libc.TLS, ctx uintptr) { a.value(tls, ctx) }
	final := func(tls *libc.TLS, ctx uintptr) {
		a.value(tls, ctx)
		a.end(tls, ctx)
	}
	c.functions = append(c.functions, step, inverse, value, final)
	return c.create(name, func(name uintptr) int32 {
		return lib.Xsqlite3_create_window_function(c.tls, c.db, name, 1, flags, 0, pointer(step), pointer(final), pointer(value), pointer(inverse), 0)
	})
}

func (c *Conn) create(name string, do func(name uintptr) int32) error {
	text, err := libc.CString(name)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, text)
	if code := do(text); code != lib.SQLITE_OK {
		return fmt.Errorf("function %s: %w", name, c.fault(code))
	}
	return nil
}

// aggregates are those of a connection that are being computed. SQLite keeps the number of each, from 1.
type aggregates struct {
	begin func() Aggregate
	list  []Aggregate
	free  []int64
}

// add adds a value, or takes it away.
func (a *aggregates) add(tls *libc.TLS, ctx, argv uintptr, away bool) {
	number := slot(tls, ctx, 8)
	if number == nil {
		lib.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	if *number == 0 {
		*number = a.take()
	}
	one, v := a.list[*number-1], Value{tls: tls, mem: at[mem](*at[uintptr](argv))}
	var err error
	if away {
		err = one.Inverse(v)
	} else {
		err = one.Step(v)
	}
	if err != nil {
		fail(tls, ctx, err)
	}
}

// take begins an aggregate and returns its number.
func (a *aggregates) take() int64 {
	if n := len(a.free); n > 0 {
		number := a.free[n-1]
		a.free, a.list[number-1] = a.free[:n-1], a.begin()
		return number
	}
	a.list = append(a.list, a.begin())
	return int64(len(a.list))
}

func (a *aggregates) value(tls *libc.TLS, ctx uintptr) {
	one := a.begin
	if number := slot(tls, ctx, 0); number != nil && *number > 0 {
		one = func() Aggregate { return a.list[*number-1] }
	}
	v, err := one().Value()
	answer(tls, ctx, v, err)
}

func (a *aggregates) end(tls *libc.TLS, ctx uintptr) {
	if number := slot(tls, ctx, 0); number != nil && *number > 0 {
		a.list[*number-1] = nil
		a.free = append(a.free, *number)
		*number = 0
	}
}

// slot returns where SQLite keeps the number of an aggregate, 0 before it began; nil if there is no memory for it.
func slot(tls *libc.TLS, ctx uintptr, size int32) *int64 {
	p := lib.Xsqlite3_aggregate_context(tls, ctx, size)
	if p == 0 {
		return nil
	}
	return at[int64](p)
}

func arguments(tls *libc.TLS, args []Value, n int32, argv uintptr) []Value {
	for i := range uintptr(n) {
		args = append(args, Value{tls: tls, mem: at[mem](*at[uintptr](argv + i*unsafe.Sizeof(argv)))})
	}
	return args
}

// answer is the result of a function.
func answer(tls *libc.TLS, ctx uintptr, v Value, err error) {
	switch {
	case err != nil:
		fail(tls, ctx, err)
	case v.mem != nil:
		lib.Xsqlite3_result_value(tls, ctx, v.address())
	case v.own == nil:
		lib.Xsqlite3_result_null(tls, ctx)
	case v.own.kind == KindInt:
		lib.Xsqlite3_result_int64(tls, ctx, v.Int())
	case v.own.kind == KindFloat:
		lib.Xsqlite3_result_double(tls, ctx, v.Float())
	default:
		text, err := libc.CString(v.own.text)
		if err != nil || len(v.own.text) > maxBytes {
			lib.Xsqlite3_result_error_toobig(tls, ctx)
			return
		}
		lib.Xsqlite3_result_text(tls, ctx, text, int32(len(v.own.text)), lib.SQLITE_TRANSIENT)
		libc.Xfree(tls, text)
	}
}

func fail(tls *libc.TLS, ctx uintptr, err error) {
	text, failed := libc.CString(err.Error())
	if failed != nil {
		lib.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	lib.Xsqlite3_result_error(tls, ctx, text, -1)
	libc.Xfree(tls, text)
}

// pointer returns a function as the C interface takes it: the address of its closure.
func pointer[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }
