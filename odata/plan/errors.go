package plan

import (
	"fmt"
	"strconv"
)

// ErrorKind is the sort of fault of an Error. Package odata maps it to an HTTP status, in one place.
type ErrorKind uint8

// The kinds of faults, with the status they lead to.
const (
	// Malformed: the request is wrong in itself. 400
	Malformed ErrorKind = iota
	// NotFound: the path names nothing that exists for this caller. 404
	NotFound
	// Unauthenticated: the set demands a signed-in caller. 401
	Unauthenticated
	// Forbidden: the set demands a caller whose intent loop has ended. 403
	Forbidden
	// NotImplemented: the standard has it and we do not. 501
	NotImplemented
	// Unavailable: the database was too slow or is away. 503
	Unavailable
	// TooLarge: the request asks for more than a limit allows. 400
	TooLarge
)

// Error is a fault that a client may see: the message is for people and names nothing but what the client sent or
// the metadata shows.
type Error struct {
	Kind ErrorKind
	// Pos is the byte offset in the request target, as in syntax.Error; -1 when there is no place.
	Pos     int
	Message string
	// Limit is the configuration key of the limit that a TooLarge request goes beyond; empty for one that is fixed.
	Limit string
	// Cause is for the log; it is not part of Error() and must not reach a client.
	Cause error
}

// Error is the message with its place.
func (e *Error) Error() string {
	if e.Pos < 0 {
		return e.Message
	}
	return e.Message + " (at position " + strconv.Itoa(e.Pos) + ")"
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Exceeded is the fault of a request that asks for more than a limit allows. key is the name of the limit below
// odata.limits; asked describes what was asked for, as the beginning of a sentence.
func Exceeded(pos int, key string, limit int64, asked string) *Error {
	e := Errorf(TooLarge, pos, "%s; the limit odata.limits.%s is %d", asked, key, limit)
	e.Limit = "odata.limits." + key
	return e
}

// Errorf makes an Error at a byte offset of the request target, -1 when there is no place.
func Errorf(k ErrorKind, pos int, format string, args ...any) *Error {
	return &Error{Kind: k, Pos: pos, Message: fmt.Sprintf(format, args...)}
}
