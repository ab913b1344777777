package syntax_test

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// tree prints an expression with a pair of parentheses around every operator, so
// that tables show how it was understood.
func tree(e syntax.Expr) string {
	w := printer{full: true}
	w.expr(e, 0)
	return w.String()
}

// canonical prints an expression with as few parentheses as possible. Parsing that
// must give the same tree.
func canonical(e syntax.Expr) string {
	var w printer
	w.expr(e, 0)
	return w.String()
}

type printer struct {
	strings.Builder
	full bool
}

// The precedence of operators, written down again from the table of the standard.
const (
	unary   = 7
	primary = 8
)

func precedence(op string) int {
	for i, ops := range []string{"or", "and", "eq ne", "gt ge lt le", "add sub", "mul div divby mod"} {
		if strings.Contains(" "+ops+" ", " "+op+" ") {
			return i + 1
		}
	}
	return primary
}

func (w *printer) put(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
}

// expr writes e as an operand that must bind with precedence least or tighter.
func (w *printer) expr(e syntax.Expr, least int) {
	switch e := e.(type) {
	case *syntax.Literal:
		w.literal(e)
	case *syntax.Path:
		w.path(e)
	case *syntax.Binary:
		prec := precedence(e.Op)
		w.group(w.full || prec < least, func() {
			w.expr(e.X, prec)
			w.put(" ", e.Op, " ")
			w.expr(e.Y, prec+1) // operators of one precedence associate to the left
		})
	case *syntax.Unary:
		w.group(w.full || unary < least, func() {
			w.put(e.Op, " ") // with a blank, because "-5" and "-INF" are literals
			w.expr(e.X, unary)
		})
	case *syntax.Call:
		w.put(e.Func)
		w.list("(", e.Args, ")")
	case *syntax.Cast:
		w.typeTest("cast", e.X, e.Type)
	case *syntax.IsOf:
		w.typeTest("isof", e.X, e.Type)
	case *syntax.Case:
		w.put("case(")
		for i, when := range e.When {
			w.comma(i)
			w.expr(when.Cond, 0)
			w.put(" : ") // without blanks 10:20 would be a time of day
			w.expr(when.Value, 0)
		}
		w.put(")")
	case *syntax.List:
		if e.Array {
			w.list("[", e.Items, "]")
		} else {
			w.list("(", e.Items, ")")
		}
	case *syntax.Object:
		w.put("{")
		for i, m := range e.Members {
			w.comma(i)
			w.jsonString(m.Name)
			w.put(":")
			w.expr(m.Value, 0)
		}
		w.put("}")
	}
}

func (w *printer) group(parens bool, inside func()) {
	if parens {
		w.put("(")
		defer w.put(")")
	}
	inside()
}

func (w *printer) comma(i int) {
	if i > 0 {
		w.put(",")
	}
}

func (w *printer) list(open string, items []syntax.Expr, closing string) {
	w.put(open)
	for i, item := range items {
		w.comma(i)
		w.expr(item, 0)
	}
	w.put(closing)
}

func (w *printer) typeTest(op string, x syntax.Expr, typeName string) {
	w.put(op, "(")
	if x != nil {
		w.expr(x, 0)
		w.put(",")
	}
	w.put(typeName, ")")
}

func (w *printer) literal(l *syntax.Literal) {
	switch l.Kind {
	case syntax.String:
		w.put("'", strings.ReplaceAll(l.Text, "'", "''"), "'")
	case syntax.Duration:
		w.put("duration'", l.Text, "'")
	case syntax.Bytes:
		w.put("binary'", l.Text, "'")
	case syntax.Enum:
		w.put(l.Type, "'", l.Text, "'")
	case syntax.Geography:
		w.put("geography'", l.Text, "'")
	case syntax.Geometry:
		w.put("geometry'", l.Text, "'")
	default:
		w.put(l.Text, suffix(l))
	}
}

// suffix is what a number needs behind it to be read as one of its kind again.
func suffix(l *syntax.Literal) string {
	plain, err := syntax.ParseLiteral(l.Text)
	switch {
	case err != nil || plain.Kind == l.Kind:
		return ""
	case l.Kind == syntax.Decimal:
		return "m"
	case l.Kind == syntax.Double:
		return "d"
	}
	return "f"
}

func (w *printer) path(e *syntax.Path) {
	w.put(e.Root)
	for i, s := range e.Segments {
		if i > 0 || e.Root != "" {
			w.put("/")
		}
		w.segment(s)
	}
}

func (w *printer) segment(s syntax.Segment) {
	w.put(s.Name)
	w.arguments(s.Args)
	if s.Lambda != nil {
		w.put("(")
		if s.Lambda.Var != "" {
			w.put(s.Lambda.Var, ":")
		}
		if s.Lambda.Pred != nil {
			w.expr(s.Lambda.Pred, 0)
		}
		w.put(")")
	}
	w.arguments(s.Key)
	if s.Options == nil {
		return
	}
	w.put("(")
	for i, o := range s.Options.Options {
		if i > 0 {
			w.put(";")
		}
		w.put(o.Name, "=")
		if o.Name == "$filter" {
			w.expr(s.Options.Filter, 0)
		} else {
			w.put(search(s.Options.Search, ""))
		}
	}
	w.put(")")
}

func (w *printer) arguments(args *syntax.ArgList) {
	if args == nil {
		return
	}
	w.put("(")
	for i, a := range args.Args {
		w.comma(i)
		if a.Name != "" {
			w.put(a.Name, "=")
		}
		if a.Value != nil {
			w.expr(a.Value, 0)
		}
	}
	w.put(")")
}

func (w *printer) jsonString(s string) {
	w.put(`"`)
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.put(`\`, string(r))
		case r < ' ':
			w.put(`\u00`, strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			w.put(string(r))
		}
	}
	w.put(`"`)
}

// search prints a $search expression, every word as a phrase.
func search(s *syntax.Search, outer string) string {
	switch {
	case s.Op == "":
		return `"` + s.Text + `"`
	case s.Op == "NOT":
		return "NOT " + search(s.Args[0], s.Op)
	case len(s.Args) == 0:
		return "''"
	}
	var args []string
	for _, a := range s.Args {
		args = append(args, search(a, s.Op))
	}
	joined := strings.Join(args, " "+s.Op+" ")
	if outer != "" && len(args) > 1 {
		return "(" + joined + ")"
	}
	return joined
}
