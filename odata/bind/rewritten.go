package bind

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// rewritten returns the end of a message about two operands that do not go together: how the constant is written that goes
// with the other one. It is empty if the constant has no such form.
func rewritten(constant, other plan.Expr) string {
	l, ok := constant.(*plan.Literal)
	if _, both := other.(*plan.Literal); !ok || both || l.Value.Null || other.Type().Collection {
		return ""
	}
	from, to := l.T.Kind, other.Type().Kind
	if from == edm.String {
		return unquoted(string(l.Value.Bytes), to)
	}
	text := written(l)
	switch {
	case text == "":
	case to == edm.String:
		return "; put the text in single quotes: '" + text + "'"
	case from == edm.Date && to == edm.DateTimeOffset:
		return "; a point in time has a time and a zone: write " + text + "T00:00:00Z"
	case from == edm.DateTimeOffset && to == edm.Date:
		return "; a date has no time: write " + text[:len("2006-01-02")]
	}
	return ""
}

// maxWritten is the longest constant that a message repeats.
const maxWritten = 64

// unquoted is rewritten for a text beside a value of another type.
func unquoted(text string, to edm.Kind) string {
	kind := edm.Invalid
	if len(text) <= maxWritten {
		kind = kindOf(text)
	}
	if kind == edm.Date && to == edm.DateTimeOffset {
		return "; take the quotes away and add time and zone: write " + text + "T00:00:00Z"
	}
	form := ""
	switch to {
	case edm.Date:
		form = "2024-12-31"
	case edm.DateTimeOffset:
		form = "2024-12-31T23:59:59Z"
	case edm.TimeOfDay:
		form = "23:59:59"
	case edm.Guid:
		form = "01234567-89ab-cdef-0123-456789abcdef"
	case edm.Boolean:
		form = "true"
	default:
		if !to.Numeric() {
			return ""
		}
		form = "42"
	}
	if kind == to || kind.Numeric() && to.Numeric() {
		return "; take the quotes away: write " + text
	}
	return "; a value of Edm." + to.String() + " has no quotes, as in " + form
}

// kindOf is the type of the literal that a text would be without quotes; edm.Invalid if it would be none.
func kindOf(text string) edm.Kind {
	parsed, err := syntax.ParseLiteral(text)
	if err != nil {
		return edm.Invalid
	}
	l, err := constant(parsed)
	if err != nil {
		return edm.Invalid
	}
	return l.T.Kind
}

// written is a constant that is no text as a URL has it; empty if it is long, or has a form that nobody takes for another
// one.
func written(l *plan.Literal) string {
	text := ""
	switch l.T.Kind {
	case edm.Date, edm.DateTimeOffset, edm.TimeOfDay, edm.Guid, edm.Decimal:
		text = string(l.Value.Bytes)
	case edm.Boolean:
		text = strconv.FormatBool(l.Value.Int != 0)
	default:
		if l.T.Kind.Integer() {
			text = strconv.FormatInt(l.Value.Int, 10)
		}
	}
	if len(text) > maxWritten {
		return ""
	}
	return text
}
