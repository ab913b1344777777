package bind

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// constant gives a parsed literal its value. OData-URL 5.1.1.14.1
func constant(e *syntax.Literal) (*plan.Literal, error) {
	text := func(k edm.Kind, v string) *plan.Literal {
		return &plan.Literal{T: edm.Of(k), Value: plan.Value{Bytes: []byte(v)}}
	}
	switch e.Kind {
	case syntax.Null:
		return &plan.Literal{T: edm.Of(edm.Null), Value: plan.Value{Null: true}}, nil
	case syntax.Boolean:
		return plan.Bool(e.Text == "true"), nil
	case syntax.Integer:
		n, err := strconv.ParseInt(strings.TrimPrefix(e.Text, "+"), 10, 64)
		if err != nil {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "%s is not a 64-bit integer", e.Text)
		}
		return &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: n}}, nil
	case syntax.Decimal:
		plain, ok := plainDecimal(e.Text)
		if !ok {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "the number has more than %d digits, or more than %d after the point", maxDigits, maxScale)
		}
		return text(edm.Decimal, plain), nil
	case syntax.Double:
		return double(e)
	case syntax.Single:
		return single32(e)
	case syntax.String:
		return text(edm.String, e.Text), nil
	case syntax.GUID:
		return text(edm.Guid, strings.ToLower(e.Text)), nil
	case syntax.Date, syntax.DateTimeOffset, syntax.TimeOfDay, syntax.Duration:
		return temporal(e)
	case syntax.Bytes:
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(e.Text, "="))
		if err != nil {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "the binary value is not base64url")
		}
		return &plan.Literal{T: edm.Of(edm.Binary), Value: plan.Value{Bytes: raw}}, nil
	}
	return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "geographic and geometric values are not supported")
}

func double(e *syntax.Literal) (*plan.Literal, error) {
	f, err := strconv.ParseFloat(strings.Replace(strings.TrimPrefix(e.Text, "+"), "INF", "Inf", 1), 64)
	if err != nil {
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "%.40s is too large for a double", e.Text)
	}
	return &plan.Literal{T: edm.Of(edm.Double), Value: plan.Value{Float: f}}, nil
}

func single32(e *syntax.Literal) (*plan.Literal, error) {
	f, err := strconv.ParseFloat(e.Text, 32)
	if err != nil {
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "%.40s is too large for an Edm.Single", e.Text)
	}
	return &plan.Literal{T: edm.Of(edm.Single), Value: plan.Value{Float: f}}, nil
}

// maxDigits and maxScale are what every database can hold exactly.
const (
	maxDigits = 65
	maxScale  = 30
)

// plainDecimal writes a decimal without an exponent; false when it has too many digits.
func plainDecimal(s string) (string, bool) {
	if len(s) > 4*maxDigits {
		return "", false
	}
	d, _, err := apd.NewFromString(s)
	if err != nil || d.Form != apd.Finite || d.Exponent > maxDigits || d.Exponent < -4*maxDigits {
		return "", false
	}
	if d.IsZero() {
		return "0", true
	}
	d.Reduce(d)
	if d.NumDigits()+int64(max(d.Exponent, 0)) > maxDigits || d.Exponent < -maxScale {
		return "", false
	}
	return d.Text('f'), true
}

// convert gives a constant another type, when it has the same value there.
func convert(l *plan.Literal, to edm.Type) (*plan.Literal, bool) {
	from := l.T
	switch {
	case to.Collection:
		return nil, false
	case l.Value.Null:
		return &plan.Literal{T: to, Value: plan.Value{Null: true}}, true
	case from.Same(to):
		return l, true
	case from.Kind.Integer() && to.Kind.Integer():
		lo, hi := to.Kind.Bounds()
		return &plan.Literal{T: to, Value: l.Value}, l.Value.Int >= lo && l.Value.Int <= hi
	case from.Kind.Numeric() && to.Kind == edm.Decimal:
		return toDecimal(l, to)
	case from.Kind.Numeric() && to.Kind.Floating():
		return toFloat(l, to)
	case from.Kind == edm.Double && to.Kind.Integer(), from.Kind == edm.Decimal && to.Kind.Integer():
		d, ok := toDecimal(l, edm.Of(edm.Decimal))
		if !ok {
			return nil, false
		}
		n, err := strconv.ParseInt(string(d.Value.Bytes), 10, 64)
		lo, hi := to.Kind.Bounds()
		return &plan.Literal{T: to, Value: plan.Value{Int: n}}, err == nil && n >= lo && n <= hi
	case from.Kind == edm.String:
		return fromString(l, to)
	case l.Adapts && to.Kind == edm.String && from.Kind.Integer():
		return &plan.Literal{T: to, Value: plan.Value{Bytes: strconv.AppendInt(nil, l.Value.Int, 10)}}, true
	}
	return nil, false
}

func toDecimal(l *plan.Literal, to edm.Type) (*plan.Literal, bool) {
	text := string(l.Value.Bytes)
	switch {
	case l.T.Kind.Integer():
		text = strconv.FormatInt(l.Value.Int, 10)
	case l.T.Kind != edm.Decimal:
		text = strconv.FormatFloat(l.Value.Float, 'g', -1, 64)
	}
	plain, ok := plainDecimal(text)
	return &plan.Literal{T: to, Value: plan.Value{Bytes: []byte(plain)}}, ok
}

func toFloat(l *plan.Literal, to edm.Type) (*plan.Literal, bool) {
	f := l.Value.Float
	switch {
	case l.T.Kind.Integer():
		f = float64(l.Value.Int)
	case l.T.Kind == edm.Decimal:
		f, _ = strconv.ParseFloat(string(l.Value.Bytes), 64)
	}
	if to.Kind == edm.Single {
		f = float64(float32(f))
	}
	return &plan.Literal{T: to, Value: plan.Value{Float: f}}, true
}

// fromString reads what a string can stand for: a member of an enumeration and a duration always (OData 4.01), the
// rest only for a column of the user in a row policy.
func fromString(l *plan.Literal, to edm.Type) (*plan.Literal, bool) {
	text := string(l.Value.Bytes)
	switch {
	case to.Kind == edm.Enum:
		n, ok := to.Enum.Parse(text)
		return &plan.Literal{T: to, Value: plan.Value{Int: n}}, ok
	case to.Kind == edm.Duration:
		d, ok := scalar.ParseDuration(text)
		return &plan.Literal{T: to, Value: plan.Value{Bytes: []byte(d.String())}}, ok
	case !l.Adapts:
		return nil, false
	}
	parsed, err := syntax.ParseLiteral(text)
	if err != nil {
		return nil, false
	}
	typed, err := constant(parsed)
	if err != nil || typed.T.Kind == edm.String {
		return nil, false
	}
	return convert(typed, to)
}

// negated is the constant with the other sign, an Int64 where it is an integer; false when there is none.
func negated(l *plan.Literal) (*plan.Literal, bool) {
	n := *l
	switch {
	case l.Value.Null:
	case l.T.Kind == edm.Decimal && isZero(l), string(l.Value.Bytes) == "PT0S": // without a sign
	case l.T.Kind.Integer():
		if l.Value.Int == math.MinInt64 {
			return nil, false
		}
		n.Value.Int, n.T = -l.Value.Int, edm.Of(edm.Int64)
	case l.T.Kind == edm.Duration && string(l.Value.Bytes) == scalar.FormatMicros(math.MinInt64):
		return nil, false
	case l.T.Kind == edm.Decimal || l.T.Kind == edm.Duration:
		text, ok := strings.CutPrefix(string(l.Value.Bytes), "-")
		if !ok {
			text = "-" + text
		}
		n.Value.Bytes = []byte(text)
	default:
		n.Value.Float = -l.Value.Float
	}
	return &n, true
}

// isZero tells whether a number is zero.
func isZero(l *plan.Literal) bool {
	switch {
	case l.Value.Null:
		return false
	case l.T.Kind.Integer():
		return l.Value.Int == 0
	case l.T.Kind == edm.Decimal:
		return strings.Trim(string(l.Value.Bytes), "-0.") == ""
	}
	return l.Value.Float == 0
}

// formatTime writes an instant as JSON has it, in UTC.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z07:00") }

// temporal gives date and time literals their canonical text. Years beyond four digits are part of the standard, but
// no database here keeps them.
func temporal(e *syntax.Literal) (*plan.Literal, error) {
	lit := func(k edm.Kind, v string) (*plan.Literal, error) {
		return &plan.Literal{T: edm.Of(k), Value: plan.Value{Bytes: []byte(v)}}, nil
	}
	bad := plan.Errorf(plan.Malformed, e.Pos(), "%.40q is not a point in time", e.Text)
	switch e.Kind {
	case syntax.Duration:
		d, ok := scalar.ParseDuration(e.Text)
		if !ok {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "%.40q is not a duration", e.Text)
		}
		return lit(edm.Duration, d.String())
	case syntax.TimeOfDay:
		t, ok := clock(e.Text)
		if !ok {
			return nil, bad
		}
		return lit(edm.TimeOfDay, t)
	}
	year, _, _ := strings.Cut(strings.TrimPrefix(e.Text, "-"), "-")
	if strings.HasPrefix(e.Text, "-") || len(year) > 4 || year == "0000" {
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "years before 1 and after 9999 are not supported")
	}
	if e.Kind == syntax.Date {
		if _, err := time.Parse(time.DateOnly, e.Text); err != nil {
			return nil, bad
		}
		return lit(edm.Date, e.Text)
	}
	t, ok := instant(e.Text)
	if !ok {
		return nil, bad
	}
	at, err := lit(edm.DateTimeOffset, formatTime(t))
	_, offset := t.Zone()
	at.Zoned = offset != 0
	return at, err
}

// instant reads a DateTimeOffset: seconds may be missing, and may be 60.
func instant(s string) (time.Time, bool) {
	day, rest, ok := strings.Cut(strings.ToUpper(s), "T")
	cut := strings.IndexAny(rest, "Z+-")
	if !ok || cut < 0 {
		return time.Time{}, false
	}
	of, zone := rest[:cut], rest[cut:]
	if strings.Count(of, ":") == 1 {
		of += ":00"
	}
	leap := strings.HasPrefix(of[min(len(of), 5):], ":60")
	if leap {
		of = of[:5] + ":59" + of[8:]
	}
	t, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", day+"T"+shorten(of)+zone)
	if err != nil {
		return time.Time{}, false
	}
	if leap {
		t = t.Add(time.Second)
	}
	return t, t.UTC().Year() >= 1 && t.UTC().Year() <= 9999
}

// shorten cuts fractional seconds to nanoseconds.
func shorten(of string) string {
	if i := strings.IndexByte(of, '.'); i >= 0 && len(of) > i+10 {
		return of[:i+10]
	}
	return of
}

// clock reads a TimeOfDay.
func clock(s string) (string, bool) {
	if strings.Count(s, ":") == 1 {
		s += ":00"
	}
	t, err := time.Parse("15:04:05.999999999", shorten(s))
	if err != nil {
		return "", false
	}
	return t.Format("15:04:05.999999999"), true
}
