package sqltext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// standard holds the methods that most dialects have in common. A dialect embeds it and replaces what differs.
type standard struct{}

func (standard) placeholder(int) string { return "?" }

func (standard) null(edm.Type) frag { return text("NULL") }

// order needs no words for nulls: they are the smallest values.
func (standard) order(x frag, desc, _ bool) frag {
	if desc {
		return fill("$1 DESC", x)
	}
	return x
}

func (standard) nullsFirst(desc, _ bool) bool { return !desc }

func (standard) position(*Column) string { return "" }

func (standard) seeksRows() bool { return true }

func (standard) stamp() string { return "" }

func (standard) remote() bool { return true }

func (standard) stored(x frag, _ edm.Type) frag { return x }

func (standard) full(frag) frag { return frag{} }

func (standard) number(n int64) frag { return param(n) }

func (standard) shown(x frag) frag { return x }

// dialect is what differs between databases.
type dialect interface {
	// quote makes an identifier of a name.
	quote(name string) string
	// placeholder is the n-th parameter of a statement, from 1.
	placeholder(n int) string
	// column is the value of a column in the form that the dialect computes with.
	column(name frag, c *Column, t edm.Type) frag
	// finite is a double as an argument of a function: null for INF and NaN, which may be stored.
	finite(x frag) frag
	// sum adds doubles, by aggregates that the function makes of their templates; null where the result is not finite.
	sum(aggregate func(template string) frag) frag
	// held is the value of a column as an argument of a function: null for a date or time that the type does not have.
	held(x frag, c *Column, t edm.Type) frag
	// shown is a text as answers have it, where it may be stored otherwise.
	shown(x frag) frag
	// fetch is what the select list has for a column, in a form that package cursor decodes.
	fetch(name frag, c *Column, t edm.Type) frag
	// store is the SQL of a value for a column, the inverse of what package cursor makes of fetch; false if the column would alter
	// the value. It is never null.
	store(c *Column, t edm.Type, v plan.Value) (frag, bool)
	// trial is a condition that holds where a column keeps what store has made of a value; false where store has decided on that.
	trial(c *Column, t edm.Type, stored frag) (frag, bool)
	// literal is a constant in that form. It is never null.
	literal(t edm.Type, v plan.Value) frag
	// null is the null of a type.
	null(t edm.Type) frag
	// comparands gives both sides of a comparison in a form that compares right; ok is false when the ordinary
	// values do.
	comparands(g *Generator, op string, x, y plan.Expr) (a, b frag, ok bool)
	// numeric is a condition besides a comparison of numbers, for an operand that compares as no NaN does; empty when there
	// is none.
	numeric(g *Generator, op string, x, y plan.Expr) frag
	// narrow is a condition that an index can answer and that holds wherever "eq", "startswith", "endswith" or "contains"
	// of a text column and a constant does, or "tolower", which is one of these with the column in small letters; empty
	// when there is none.
	narrow(op string, column frag, c *Column, s string) frag
	// hint tells how narrow goes about a column and a text, and which index would help. The condition itself is not in its
	// text.
	hint(g *Generator, t *Table, c *Column, op, s string) Hint
	// same and distinct compare so that null equals null.
	same(x, y frag) frag
	distinct(x, y frag) frag
	// call is the template of a function or an operator from the catalogue, with $1, $2 for the arguments.
	call(g *Generator, e *plan.Call) string
	// sortKey is a value in the form that orders right.
	sortKey(g *Generator, e plan.Expr) frag
	// sortConstant is a constant in the form that compares with sortKey of an expression of its type.
	sortConstant(g *Generator, e plan.Expr, l *plan.Literal) frag
	// seeksRows reports whether an index finds the rows behind others by a comparison of row values.
	seeksRows() bool
	// order is one item of ORDER BY: nulls first when ascending, last when descending.
	order(x frag, desc, nullable bool) frag
	// nullsFirst tells where order puts nulls, or would put them.
	nullsFirst(desc, nullable bool) bool
	// position is the template that makes a parameter of what a row was ordered by, in $1, as it was read; empty where that
	// would not be exact. c is nil for what is no column.
	position(c *Column) string
	// stamp names the state of the data that a statement sees, as text, null where that cannot be told; empty where no
	// statement can.
	stamp() string
	// joinsExists reports whether the database makes a join of EXISTS over a collection if a row of the request is around it.
	joinsExists() bool
	// joinsIn reports whether IN is to stand as it is in a condition. MariaDB makes a join of it that reads the same rows again.
	joinsIn() bool
	// remote tells that a statement is a journey to a server, and a transaction two more.
	remote() bool
	// fence ends a derived table that the database must not merge into the query around it; "" where a lateral join is
	// to be used instead.
	fence() string
	// stored is a computed value as a column of a derived table, which must not lose anything.
	stored(x frag, t edm.Type) frag
	// cell is the value of a column of a derived table, fetchCell what the select list has for it.
	cell(name frag, t edm.Type) frag
	fetchCell(name frag, t edm.Type) frag
	// group is what rows are grouped by for a value, and that value of a group.
	group(g *Generator, e plan.Expr) (key, shown frag)
	// aggregate has the templates of an aggregate: of its call, with the argument as $1, and of what is made of the result.
	aggregate(g *Generator, a *plan.Aggregate) (call, result string)
	// full is a condition that is true, or fails where a decimal in a column of a derived table has been cut to the digits
	// that the column has; empty where columns have any number of them.
	full(name frag) frag
	// linkKey is a column whose values come back as keys.
	linkKey(name frag, c *Column) frag
	// meet is from, the column a that a link starts from, in a form that can be compared with the column b that it leads
	// to, whatever their collations are.
	meet(from frag, a, b *Column) frag
	// exact is the template of what is compared of a column of a link, where the column takes other texts for equal than
	// the same one; empty where it does not.
	exact(c *Column) string
	// among compares a column with many values that the database itself gave.
	among(column frag, c *Column, values []any) frag
	// amongRows compares several columns with many keys of so many values.
	amongRows(columns []frag, as []*Column, keys [][]any) frag
	// number is a row number.
	number(n int64) frag
	// contains finds text without regard to case, for the portable search.
	contains(column, term frag) frag
	// searches is a condition on the texts of columns for all terms of a search at once; ok is false where each term takes
	// a condition of its own.
	searches(s *plan.Search, columns []frag) (f frag, ok bool)
	// fullText finds a term by the full-text index of a table; ok is false when the index cannot answer.
	fullText(ft *FullText, alias string, s *plan.Search) (f frag, ok bool)
}

// Generator writes statements for one mapping and one database. It is safe for concurrent use.
type Generator struct {
	d dialect
	m *Mapping
	// row replaces the table of a range; nil for none. See WouldBe.
	row *wouldBe
	// returned is the range of a row that RETURNING of SQLite and MariaDB calls by the name of its table; nil for none.
	returned *plan.Range
}

// MaxParameters is how many parameters a statement may have.
func (g *Generator) MaxParameters() int {
	if _, ok := g.d.(sqlite); ok {
		return 32_766
	}
	return 65_535
}

// New makes a Generator. Dialects are "sqlite", "postgres", and "mysql".
func New(dialectName string, m *Mapping) (*Generator, error) {
	switch dialectName {
	case "sqlite":
		return &Generator{d: sqlite{}, m: m}, nil
	case "postgres":
		return &Generator{d: postgres{db: function.Database{CaseCollation: quotedOrEmpty(m.CaseCollation)}}, m: m}, nil
	case "mysql":
		return &Generator{d: mysql{db: function.Database{CaseCollation: m.CaseCollation}}, m: m}, nil
	}
	return nil, fmt.Errorf("there is no dialect %q; there are sqlite, postgres, and mysql", dialectName)
}

// Wide is a Generator whose sums of integers may have any number of digits, for plans whose statements have failed with an
// engine.IsOverflow; nil where this one's may.
func (g *Generator) Wide() *Generator {
	d, ok := g.d.(sqlite)
	if !ok || d.wide {
		return nil
	}
	return &Generator{d: sqlite{wide: true, clean: d.clean}, m: g.m}
}

// bare reports whether a column holds nothing but values of its type.
func (g *Generator) bare(c *Column) bool {
	d, ok := g.d.(sqlite)
	return c.Loose == "" || ok && d.bare(c)
}

// Statement is SQL with the arguments of its parameters: nil, bool, int64, float64, string, []byte, or time.Time.
type Statement struct {
	SQL  string
	Args []any
}

// limit ends a statement; skip is 0 or more.
func (g *Generator) limit(read, skip int64) frag {
	rows := g.d.number(read)
	if !g.d.remote() {
		rows = text(strconv.FormatInt(read, 10))
	}
	if skip == 0 {
		return fill("LIMIT $1", rows)
	}
	return fill("LIMIT $1 OFFSET $2", rows, g.d.number(skip))
}

// identifier puts a name between quotes, in the form that fragments need.
func identifier(quote, name string) string {
	if !strings.ContainsAny(name, quote) && !strings.Contains(name, "$") {
		return quote + name + quote
	}
	return quote + strings.NewReplacer(quote, quote+quote, "$", dollar).Replace(name) + quote
}

// finish numbers the parameters.
func (g *Generator) finish(f frag) Statement {
	var b strings.Builder
	n := 0
	for i := range len(f.sql) {
		switch f.sql[i] {
		case mark[0]:
			n++
			b.WriteString(g.d.placeholder(n))
		case dollar[0]:
			b.WriteByte('$')
		default:
			b.WriteByte(f.sql[i])
		}
	}
	return Statement{SQL: b.String(), Args: f.args}
}

func (g *Generator) table(name []string) string {
	quoted := make([]string, len(name))
	for i, part := range name {
		quoted[i] = g.d.quote(part)
	}
	return strings.Join(quoted, ".")
}

func quotedOrEmpty(collation string) string {
	if collation == "" {
		return ""
	}
	return postgres{}.quote(collation)
}
