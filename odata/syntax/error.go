package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// Error is what every function of this package returns when it fails: always a
// fault of the input, never of the service.
type Error struct {
	// Pos is the byte offset in the text that was handed in, still encoded, from
	// 0 to its length.
	Pos int
	// Code is one of "malformed", "encoding", "unknown_option",
	// "duplicate_option", "unknown_function", "limit", and "not_implemented". The
	// last is something that the standard has and this service has not (501); all
	// others are 400.
	Code string
	// Msg is what is wrong and, where there is one, the remedy. It is meant for the client: beside fixed text it
	// holds only parts of the input.
	Msg string
	// Near quotes the input from Pos on, as it was sent, cut short.
	Near string
}

// Error returns the message with position and quotation.
func (e *Error) Error() string {
	place := " (at position " + strconv.Itoa(e.Pos)
	if e.Near == "" {
		return e.Msg + place + ", the end)"
	}
	return e.Msg + place + ": " + strconv.Quote(e.Near) + ")"
}

// NotImplemented tells 501, a feature of the standard that is not there, from
// 400, a fault of the client.
func (e *Error) NotImplemented() bool { return e.Code == lex.CodeNotImplemented }

// Describe names an expression in a message. It is cut; the message's position tells the rest.
func Describe(e Expr) string {
	switch e := e.(type) {
	case *Literal:
		if e.Kind == String {
			return fmt.Sprintf("'%.40s'", e.Text)
		}
		return fmt.Sprintf("%.40s", e.Text)
	case *Path:
		var names []string
		if e.Root != "" {
			names = append(names, e.Root)
		}
		for _, seg := range e.Segments {
			names = append(names, seg.Name)
		}
		return fmt.Sprintf("%.80s", strings.Join(names, "/"))
	case *Call:
		return "the result of " + e.Func
	case *Binary:
		return "the result of " + e.Op
	}
	return "this expression"
}
