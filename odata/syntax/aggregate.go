package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// aggregateItem consumes one item of aggregate.
func (p *parser) aggregateItem(s *Step) {
	item := p.aggregateExpr()
	if p.keyword("as") {
		item.AsPos = p.RawPos(p.I)
		item.As = p.Ident("a name behind as")
	}
	s.Aggregates = append(s.Aggregates, item)
}

// aggregateExpr consumes an aggregate expression without its name.
func (p *parser) aggregateExpr() (item AggregateItem) {
	at := p.I
	item.Pos = p.RawPos(at)
	if to := p.ScanIdent(at + 1); p.Peek() == '$' && p.Text[at:to] == segCount {
		path := p.newPath(at, "")
		path.Segments = append(path.Segments, Segment{Pos: p.RawPos(at), Name: segCount})
		item.Expr, p.I = path, to
	} else {
		item.Expr = p.expr()
	}
	item.With, item.WithPos = p.method()
	for p.keyword("from") {
		from := FromItem{Pos: p.RawPos(p.I)}
		p.List(func() { from.Paths = append(from.Paths, p.groupPath()) })
		from.With, from.WithPos = p.method()
		item.From = append(item.From, from)
	}
	return item
}

// method consumes "with" and the name of an aggregation method, if they are next.
func (p *parser) method() (name string, pos int) {
	if !p.keyword("with") {
		return "", 0
	}
	at := p.I
	name, qualified := p.Name("an aggregation method behind with")
	if qualified {
		panic(p.Fail(at, lex.CodeNotImplemented, "the aggregation method %s is not implemented", name))
	}
	if p.AnyCase {
		name = strings.ToLower(name)
	}
	return name, p.RawPos(at)
}

// keyword consumes a word between blanks, if it is next.
func (p *parser) keyword(word string) bool {
	from := p.I
	if p.Space() {
		to := p.ScanIdent(p.I)
		if p.WordIs(p.Text[p.I:to], word) && lex.IsSpace(p.PeekAt(to)) {
			p.I = to
			p.Space()
			return true
		}
	}
	p.I = from
	return false
}

// these consumes what follows $these: "/aggregate(…)" or "/$count" (OData Data
// Aggregation 3.6).
func (p *parser) these(at int) Expr {
	p.Node(at)
	x := &These{At: At(p.RawPos(at))}
	if p.AcceptWord("/" + segCount) {
		return x
	}
	if !p.AcceptWord("/aggregate(") {
		panic(p.Malformed(p.I, "expected /aggregate(…) or /$count behind $these"))
	}
	p.Enter()
	defer p.Leave()
	p.Space()
	item := p.aggregateExpr()
	x.Item = &item
	p.Space()
	p.Expect(')', "to close aggregate")
	return x
}

// isDefined consumes the argument of isdefined, a path to a property.
func (p *parser) isDefined(at int) Expr {
	p.Node(at)
	p.I++
	p.Space()
	path := p.groupPath()
	p.Space()
	p.Expect(')', "to close isdefined")
	return &IsDefined{At: At(p.RawPos(at)), Path: path}
}
