package plan

import (
	"fmt"
	"strings"
	"time"
)

// Explanation is what a source did for a plan, for operators. It holds SQL and must not reach clients.
type Explanation struct {
	Statements []ExplainedStatement
	// Advice are statements that would create an index which the plan lacks.
	Advice []string
	// Notes tell how conditions on parts of texts are answered.
	Notes []string
}

// ExplainedStatement is one statement that a source ran.
type ExplainedStatement struct {
	SQL string
	// Params is the number of parameters; their values are not shown.
	Params int
	// QueryPlan is the query plan of the database, by line.
	QueryPlan []string
	// Rows is the number of rows that were read, Elapsed the time from the start to the last of them.
	Rows    int
	Elapsed time.Duration
	// Stopped reports whether the statement failed, such as by a time limit, before its last row was read.
	Stopped bool
}

// String writes what the statements took, and the advice, for a terminal. The source has written their texts before.
func (e Explanation) String() string {
	var b strings.Builder
	for i, s := range e.Statements {
		how := "%d rows in %v"
		if s.Stopped {
			how = "stopped after %d rows and %v"
		}
		fmt.Fprintf(&b, "statement %d: "+how+"\n", i+1, s.Rows, s.Elapsed.Round(time.Microsecond))
	}
	for _, note := range e.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	for _, a := range e.Advice {
		fmt.Fprintf(&b, "an index would help: %s\n", a)
	}
	return b.String()
}

// String writes a plan for a terminal: what is read and in which order, without constants.
func (p *Plan) String() string {
	kinds := [...]string{"service document", "metadata", "collection", "entity", "property", "raw value", "count"}
	var b strings.Builder
	b.WriteString(kinds[p.Kind])
	if p.Top != nil {
		b.WriteString(" of " + p.Top.Set.Name + "\n")
		p.Top.describe(&b, "  ")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (n *Node) describe(b *strings.Builder, indent string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+"\n", args...) }
	if n.Query.Key != nil {
		line("key: %s", exprText(n.Query.Key))
	}
	if policy := n.Query.Range.Policy; policy != nil {
		text := exprText(policy)
		if l, ok := policy.(*Literal); ok && l.Value.Int == 0 {
			text = "lets no row pass"
		}
		line("policy: %s", text)
	}
	if n.Query.Filter != nil {
		line("filter: %s", exprText(n.Query.Filter))
	}
	for _, c := range n.Query.Computed {
		line("compute %s: %s", c.Name, exprText(c.Expr))
	}
	if n.Query.Search != nil {
		line("search")
	}
	var order []string
	for _, o := range n.Query.Order {
		item := exprText(o.Expr)
		if o.Desc {
			item += " desc"
		}
		order = append(order, item)
	}
	if len(order) > 0 {
		line("order: %s", strings.Join(order, ", "))
	}
	if n.Many && n.Page.Read > 0 {
		line("window: skip %d, limit %d, read %d, page size %d", n.Page.Skip, n.Page.Limit, n.Page.Read, n.Page.Size)
	}
	if n.Page.After != nil {
		line("behind the row that $skiptoken names")
	}
	if n.Count {
		line("count")
	}
	line("columns: %d", len(n.Columns))
	for _, x := range n.Expand {
		line("expand %s to %s", x.Nav.Name, x.Set.Name)
		x.describe(b, indent+"  ")
	}
}

// exprText writes an expression with "?" for constants, which may be a caller's.
func exprText(e Expr) string {
	switch e := e.(type) {
	case *Literal:
		return "?"
	case *Ref:
		parts := []string{fmt.Sprintf("%s#%d", e.Range.Set.Name, e.Range.ID)}
		for _, p := range e.Path {
			parts = append(parts, p.Name)
		}
		return strings.Join(parts, "/")
	case *Computed:
		return e.Name
	case *Sub:
		inner := ""
		if e.Query.Filter != nil {
			inner = ": " + exprText(e.Query.Filter)
		}
		return e.Op + "(" + e.Query.Range.Set.Name + inner + ")"
	case *Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = exprText(a)
		}
		return e.Name + "(" + strings.Join(args, ", ") + ")"
	}
	return ""
}
