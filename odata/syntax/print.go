package syntax

import (
	"strconv"
	"strings"
)

// Pos implements Expr.
func (e *Literal) Pos() int { return e.At }

// Pos implements Expr.
func (e *Path) Pos() int { return e.At }

// Pos implements Expr.
func (e *Binary) Pos() int { return e.At }

// Pos implements Expr.
func (e *Unary) Pos() int { return e.At }

// Pos implements Expr.
func (e *Call) Pos() int { return e.At }

// Pos implements Expr.
func (e *Cast) Pos() int { return e.At }

// Pos implements Expr.
func (e *IsOf) Pos() int { return e.At }

// Pos implements Expr.
func (e *Case) Pos() int { return e.At }

// Pos implements Expr.
func (e *List) Pos() int { return e.At }

// Pos implements Expr.
func (e *Object) Pos() int { return e.At }

// String implements Expr.
func (e *Literal) String() string { return toString(e) }

// String implements Expr.
func (e *Path) String() string { return toString(e) }

// String implements Expr.
func (e *Binary) String() string { return toString(e) }

// String implements Expr.
func (e *Unary) String() string { return toString(e) }

// String implements Expr.
func (e *Call) String() string { return toString(e) }

// String implements Expr.
func (e *Cast) String() string { return toString(e) }

// String implements Expr.
func (e *IsOf) String() string { return toString(e) }

// String implements Expr.
func (e *Case) String() string { return toString(e) }

// String implements Expr.
func (e *List) String() string { return toString(e) }

// String implements Expr.
func (e *Object) String() string { return toString(e) }

func toString(e Expr) string {
	var w printer
	w.expr(e, precOr)
	return w.String()
}

// printer writes expressions in canonical form, with no parentheses but those
// that are needed.
type printer struct{ strings.Builder }

func (w *printer) put(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
}

// expr writes e as an operand that must bind with precedence least or tighter.
func (w *printer) expr(e Expr, least int) {
	switch e := e.(type) {
	case *Literal:
		w.literal(e)
	case *Path:
		w.path(e)
	case *Binary:
		w.binary(e, least)
	case *Unary:
		w.unary(e, least)
	case *Call:
		w.put(e.Func)
		w.exprs("(", e.Args, ")")
	case *Cast:
		w.typeTest("cast", e.X, e.Type)
	case *IsOf:
		w.typeTest("isof", e.X, e.Type)
	case *Case:
		w.put("case(")
		for i, when := range e.When {
			w.comma(i)
			w.expr(when.Cond, precOr)
			w.put(" : ") // without blanks 1:2 would be a time of day
			w.expr(when.Value, precOr)
		}
		w.put(")")
	case *List:
		if e.Array {
			w.exprs("[", e.Items, "]")
		} else {
			w.exprs("(", e.Items, ")")
		}
	case *Object:
		w.put("{")
		for i, m := range e.Members {
			w.comma(i)
			w.jsonString(m.Name)
			w.put(":")
			w.expr(m.Value, precOr)
		}
		w.put("}")
	}
}

func (w *printer) comma(i int) {
	if i > 0 {
		w.put(",")
	}
}

func (w *printer) exprs(open string, items []Expr, closing string) {
	w.put(open)
	for i, item := range items {
		w.comma(i)
		w.expr(item, precOr)
	}
	w.put(closing)
}

func (w *printer) typeTest(op string, x Expr, typeName string) {
	w.put(op, "(")
	if x != nil {
		w.expr(x, precOr)
		w.put(",")
	}
	w.put(typeName, ")")
}

func (w *printer) binary(e *Binary, least int) {
	_, prec := operator(e.Op)
	if prec < least {
		w.put("(")
		defer w.put(")")
	}
	w.expr(e.X, prec)
	w.put(" ", e.Op, " ")
	w.expr(e.Y, prec+1) // operators of one precedence associate to the left
}

func (w *printer) unary(e *Unary, least int) {
	if precUnary < least {
		w.put("(")
		defer w.put(")")
	}
	w.put(e.Op, " ") // with a blank, because "-5" and "-INF" are literals
	w.expr(e.X, precUnary)
}

func (w *printer) literal(l *Literal) {
	switch l.Kind {
	case String:
		w.put("'", strings.ReplaceAll(l.Text, "'", "''"), "'")
	case Duration:
		w.put("duration'", l.Text, "'")
	case Bytes:
		w.put("binary'", l.Text, "'")
	case Enum:
		w.put(l.Type, "'", l.Text, "'")
	case Geography:
		w.put("geography'", l.Text, "'")
	case Geometry:
		w.put("geometry'", l.Text, "'")
	default:
		w.put(l.Text)
	}
}

func (w *printer) path(e *Path) {
	w.put(e.Root)
	for i, s := range e.Segments {
		if i > 0 || e.Root != "" {
			w.put("/")
		}
		w.segment(s)
	}
}

func (w *printer) segment(s Segment) {
	w.put(s.Name)
	w.arguments(s.Args)
	w.arguments(s.Key)
	switch {
	case s.Lambda == nil:
	case s.Lambda.Pred == nil:
		w.put("()")
	default:
		w.put("(")
		if s.Lambda.Var != "" {
			w.put(s.Lambda.Var, ":")
		}
		w.expr(s.Lambda.Pred, precOr)
		w.put(")")
	}
	if s.Options == nil {
		return
	}
	for i, o := range s.Options.Options {
		w.put([]string{"(", ";"}[min(i, 1)], o.Name, "=")
		if o.Name == "$filter" {
			w.expr(s.Options.Filter, precOr)
		} else {
			w.search(s.Options.Search, "")
		}
	}
	w.put(")")
}

func (w *printer) arguments(args *ArgList) {
	if args == nil {
		return
	}
	w.put("(")
	for i, a := range args.Args {
		w.comma(i)
		if a.Name != "" {
			w.put(a.Name, "=")
		}
		w.expr(a.Value, precOr)
	}
	w.put(")")
}

// search writes a $search expression, words as phrases, so that none can be taken
// for an operator.
func (w *printer) search(s *Search, outer string) {
	switch {
	case s.Op == "":
		w.put(`"`, s.Text, `"`)
	case s.Op == "NOT":
		w.put("NOT ")
		w.search(s.Args[0], s.Op)
	case len(s.Args) == 0:
		w.put("''")
	default:
		if outer != "" {
			w.put("(")
			defer w.put(")")
		}
		for i, a := range s.Args {
			if i > 0 {
				w.put(" ", s.Op, " ")
			}
			w.search(a, s.Op)
		}
	}
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
