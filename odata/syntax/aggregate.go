package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// aggregateItem consumes one item of aggregate.
func (p *parser) aggregateItem(s *Step) error {
	item, err := p.aggregateExpr()
	if err == nil {
		err = p.aggregateAs(&item)
	}
	s.Aggregates = append(s.Aggregates, item)
	return err
}

// aggregateExpr consumes an aggregate expression without its name.
func (p *parser) aggregateExpr() (item AggregateItem, err error) {
	at := p.I
	item.Pos = p.RawPos(at)
	if to := p.ScanIdent(at + 1); p.Peek() == '$' && p.Text[at:to] == segCount {
		path, err := p.newPath(at, "")
		if err != nil {
			return item, err
		}
		path.Segments = append(path.Segments, Segment{Pos: p.RawPos(at), Name: segCount})
		item.Expr, p.I = path, to
	} else if item.Expr, err = p.expr(); err != nil {
		return item, err
	}
	if item.With, item.WithPos, err = p.method(); err != nil {
		return item, err
	}
	for p.keyword("from") {
		from := FromItem{Pos: p.RawPos(p.I)}
		err = p.List(func() error {
			path, err := p.groupPath()
			from.Paths = append(from.Paths, path)
			return err
		})
		if err == nil {
			from.With, from.WithPos, err = p.method()
		}
		if err != nil {
			return item, err
		}
		item.From = append(item.From, from)
	}
	return item, nil
}

// method consumes "with" and the name of an aggregation method, if they are next.
func (p *parser) method() (name string, pos int, err error) {
	if !p.keyword("with") {
		return "", 0, nil
	}
	at := p.I
	name, qualified, err := p.Name("an aggregation method behind with")
	switch {
	case err != nil:
		return "", 0, err
	case qualified:
		return "", 0, p.Fail(at, lex.CodeNotImplemented, "the aggregation method %s is not implemented", name)
	}
	if p.AnyCase {
		name = strings.ToLower(name)
	}
	return name, p.RawPos(at), nil
}

func (p *parser) aggregateAs(item *AggregateItem) (err error) {
	if !p.keyword("as") {
		return nil
	}
	item.AsPos = p.RawPos(p.I)
	item.As, err = p.Ident("a name behind as")
	return err
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
func (p *parser) these(at int) (Expr, error) {
	if err := p.Node(at); err != nil {
		return nil, err
	}
	x := &These{At: p.RawPos(at)}
	if p.AcceptWord("/" + segCount) {
		return x, nil
	}
	if !p.AcceptWord("/aggregate(") {
		return nil, p.Malformed(p.I, "expected /aggregate(…) or /$count behind $these")
	}
	if err := p.Enter(); err != nil {
		return nil, err
	}
	defer p.Leave()
	p.Space()
	item, err := p.aggregateExpr()
	if err != nil {
		return nil, err
	}
	x.Item = &item
	p.Space()
	return x, p.Expect(')', "to close aggregate")
}

// isDefined consumes the argument of isdefined, a path to a property.
func (p *parser) isDefined(at int) (Expr, error) {
	if err := p.Node(at); err != nil {
		return nil, err
	}
	p.I++
	p.Space()
	path, err := p.groupPath()
	if err != nil {
		return nil, err
	}
	p.Space()
	return &IsDefined{At: p.RawPos(at), Path: path}, p.Expect(')', "to close isdefined")
}
