package bind

import (
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// cursor adds to a node what its next links are made of. Columns that the order goes by are read besides those of the
// answer.
func (b *binding) cursor(n *plan.Node, q *syntax.Query) {
	n.Cursor = make([]int, 0, len(n.Query.Order))
	for _, o := range n.Query.Order {
		at := slices.IndexFunc(n.Columns, func(c plan.Column) bool { return plan.Same(c.Expr, o.Expr) })
		if at < 0 {
			at = len(n.Columns)
			n.Columns = append(n.Columns, plan.Column{Expr: o.Expr, T: o.Expr.Type()})
		}
		n.Cursor = append(n.Cursor, at)
	}
	options := q.Options
	if n.Nav != nil {
		options = b.withAliases(options)
	} else {
		n.Path = b.rawPath
	}
	n.Decisive = decisive(options)
}

// decisive writes the options that decide on the rows of a collection and their order, in a form that does not depend on
// the order and the encoding of the options.
func decisive(options []syntax.Option) string {
	var list []string
	for _, o := range options {
		switch {
		case strings.HasPrefix(o.Name, "@"):
		case slices.Contains([]string{"$apply", "$compute", "$filter", "$orderby", "$search", "$top"}, o.Name):
		default:
			continue
		}
		list = append(list, o.Name+"="+o.Value)
	}
	slices.Sort(list)
	return strings.Join(list, "\x00")
}

// stays reports whether the values of an order belong to the rows. The numbers that $apply gives to rows do not: other
// rows that come and go change them.
func stays(order []plan.Order) bool {
	own := len(order) > 0
	seen := map[derivedColumn]bool{}
	var visit func(e plan.Expr) bool
	visit = func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Aggregate:
			own = own && e.Op != "row"
			return false
		case *plan.Cell:
			at := derivedColumn{e.Range.Derived, e.Column}
			if seen[at] {
				break
			}
			seen[at] = true
			for _, p := range e.Range.Derived.Parts {
				plan.WalkInto(visit, p.Values[e.Column])
			}
		}
		return own
	}
	for _, o := range order {
		plan.WalkInto(visit, o.Expr)
	}
	return own
}

// Behind returns the plan of the page that a $skiptoken names. p is the plan of the same request without the token, which
// is at pos. The fault is a *plan.Error.
func Behind(p *plan.Plan, token string, pos int) (*plan.Plan, error) {
	return p.Behind(token, pos, canonical)
}

// canonical reports whether a value of a token can be one of a type, and gives it the form of plan.Value: databases see only
// values that a literal of the type could have. Texts may have any bytes, because SQLite stores any.
func canonical(v *plan.Value, k edm.Kind) bool {
	switch {
	case v.Null:
		return true
	case k == edm.Boolean, k == edm.Enum, k.Integer():
		least, greatest := k.Bounds()
		if k == edm.Boolean {
			least, greatest = 0, 1
		}
		return v.Bytes == nil && v.Float == 0 && least <= v.Int && v.Int <= greatest
	case k.Floating():
		return v.Bytes == nil && v.Int == 0
	case v.Bytes == nil:
		return false
	}
	text, ok := canonicalText(string(v.Bytes), k)
	v.Bytes = []byte(text)
	return ok
}

func canonicalText(s string, k edm.Kind) (string, bool) {
	switch k {
	case edm.Binary, edm.String:
		return s, true
	case edm.Decimal:
		return shortDecimal(s)
	case edm.Guid:
		r, ok := scalar.FromText(k, []byte(s))
		return r.Text, ok
	case edm.Date:
		_, err := time.Parse(time.DateOnly, s)
		return s, err == nil && s[:4] != "0000"
	case edm.DateTimeOffset:
		t, ok := instant(s)
		return formatTime(t), ok
	case edm.TimeOfDay:
		return clock(s)
	case edm.Duration:
		d, ok := scalar.ParseDuration(s)
		return d.String(), ok
	}
	return "", false
}

// shortDecimal returns a number in plain notation without zeros that mean nothing. Stored numbers have any number of digits.
func shortDecimal(s string) (string, bool) {
	digits, minus := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(fraction, "0123456789") != "" || point && fraction == "" {
		return "", false
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	if minus && whole != "0" {
		whole = "-" + whole
	}
	return whole, true
}
