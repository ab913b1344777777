package syntax

import (
	"cmp"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// Parse reads a request target below the service root, still percent-encoded:
// "Products(1)/Category?$select=Name". The empty target is the service document.
// A leading "/" is not part of it. The error is an *Error whose Pos counts from
// the start of target.
func Parse(target string, o Options) (*Request, error) {
	path, query, found := strings.Cut(target, "?")
	r := &Request{RawPath: path, RawQuery: query}
	if err := try(func() { newParser(target, len(path), o).request(r, found) }); err != nil {
		return nil, err
	}
	return r, nil
}

// ParseFilter reads an expression in $filter syntax that is not percent-encoded,
// such as a row policy in a configuration file.
func ParseFilter(expr string, o Options) (e Expr, err error) {
	err = try(func() {
		p := newParser(expr, notEncoded, o)
		x := p.expr()
		p.atEnd()
		e = x
	})
	return e, err
}

// ParseLiteral reads a literal that is not percent-encoded, such as a key in a
// path segment of its own.
func ParseLiteral(text string) (l *Literal, err error) {
	err = try(func() {
		p := newParser(text, notEncoded, Options{})
		x := p.literal()
		p.atEnd()
		l = x
	})
	return l, err
}

// try runs a part of the parser, which panics with a fault of the input, and returns that fault as an *Error.
func try(parse func()) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *lex.SyntaxError:
			err = (*Error)(fault)
		default:
			panic(fault)
		}
	}()
	parse()
	return nil
}

// parser is a cursor with what the grammar needs besides.
type parser struct {
	lex.Cursor
	inPath bool     // arguments in the resource path are literals or aliases only
	vars   []string // range variables in scope, innermost last
	// function is Options.Functions.
	function func(name string) (canonical string, least, most int)
	// nearest is Options.NearestFunction.
	nearest func(name string) string
}

// notEncoded in place of the start of the query: there is no percent-encoding.
const notEncoded = -1

// newParser prepares raw, whose query starts at offset query.
func newParser(raw string, query int, o Options) *parser {
	p := &parser{Cursor: lex.Cursor{
		AnyCase:  o.V401,
		MaxDepth: cmp.Or(o.MaxDepth, 50),
		MaxNodes: cmp.Or(o.MaxNodes, 1000),
	}, function: o.Functions, nearest: o.NearestFunction}
	if p.function == nil {
		p.function = func(string) (string, int, int) { return "", 0, 0 }
	}
	if p.nearest == nil {
		p.nearest = func(string) string { return "" }
	}
	if limit := cmp.Or(o.MaxLength, 65536); len(raw) > limit {
		p.Source = &lex.Source{Raw: raw}
		panic(p.FailRaw(limit, lex.CodeLimit, "longer than %d bytes", limit))
	}
	var err error
	if query == notEncoded {
		p.Source, err = lex.Plain(raw)
	} else {
		p.Source, err = lex.Decode(raw, query)
	}
	if err != nil {
		panic(err)
	}
	p.End = len(p.Text)
	return p
}

// request reads a whole target.
func (p *parser) request(r *Request, hasQuery bool) {
	if i := strings.IndexByte(p.Raw, '#'); i >= 0 {
		panic(p.FailRaw(i, lex.CodeMalformed, "a fragment is never sent; a # that is data is %%23"))
	}
	offsets := lex.NewOffsetMap(p.Source)
	r.Segments = p.resourcePath(offsets, len(r.RawPath))
	if hasQuery {
		offsets.At(len(r.RawPath) + 1)
		p.queryOptions(offsets, &r.Query, permitted(r.Segments))
	}
	if len(r.Segments) > 0 && r.Segments[0].Name == segEntity && r.ID == "" {
		panic(p.Malformed(len(p.Text), "$entity needs the option $id"))
	}
}

// literal consumes a literal or fails.
func (p *parser) literal() *Literal {
	from := p.I
	l := p.tryLiteral()
	if l == nil {
		panic(p.Malformed(from, "expected a literal; text must be in single quotes"))
	}
	return l
}

// tryLiteral consumes a literal if one is next, else it returns nil without having
// moved.
func (p *parser) tryLiteral() *Literal {
	at := p.I
	t, ok := p.Literal()
	if !ok {
		return nil
	}
	p.Node(at)
	return &Literal{At: At(p.RawPos(at)), Kind: LiteralKind(t.Kind), Text: t.Text, Type: t.Type}
}
