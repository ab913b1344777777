package syntax

import (
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
	p, err := newParser(target, len(path), o)
	if err == nil {
		err = p.request(r, found)
	}
	if err != nil {
		return nil, asError(err)
	}
	return r, nil
}

// ParseQuery reads query options as they stand behind "?", for the body of a
// request to /$query (OData-URL 4.17).
func ParseQuery(query string, o Options) (*Query, error) {
	q := &Query{}
	p, err := newParser(query, 0, o)
	if err == nil {
		err = p.queryOptions(lex.NewSplitter(p.Source), q, topLevel)
	}
	if err != nil {
		return nil, asError(err)
	}
	return q, nil
}

// ParseFilter reads an expression in $filter syntax that is not percent-encoded,
// such as a row policy in a configuration file.
func ParseFilter(expr string, o Options) (Expr, error) {
	var e Expr
	p, err := newParser(expr, notEncoded, o)
	if err == nil {
		e, err = p.expr()
	}
	if err == nil {
		err = p.atEnd()
	}
	if err != nil {
		return nil, asError(err)
	}
	return e, nil
}

// ParseLiteral reads a literal that is not percent-encoded, such as a key in a
// path segment of its own.
func ParseLiteral(text string) (*Literal, error) {
	var l *Literal
	p, err := newParser(text, notEncoded, Options{})
	if err == nil {
		l, err = p.literal()
	}
	if err == nil {
		err = p.atEnd()
	}
	if err != nil {
		return nil, asError(err)
	}
	return l, nil
}

// parser is a cursor with what the grammar needs besides.
type parser struct {
	lex.Cursor
	inPath bool     // arguments in the resource path are literals or aliases only
	vars   []string // range variables in scope, innermost last
	// function is Options.Functions.
	function func(name string) (canonical string, least, most int)
}

// notEncoded in place of the start of the query: there is no percent-encoding.
const notEncoded = -1

// newParser prepares raw, whose query starts at offset query.
func newParser(raw string, query int, o Options) (*parser, error) {
	p := &parser{Cursor: lex.Cursor{
		AnyCase:  o.V401,
		MaxDepth: orDefault(o.MaxDepth, 50),
		MaxNodes: orDefault(o.MaxNodes, 1000),
	}, function: o.Functions}
	if p.function == nil {
		p.function = func(string) (string, int, int) { return "", 0, 0 }
	}
	var err error
	if limit := orDefault(o.MaxLength, 65536); len(raw) > limit {
		p.Source = &lex.Source{Raw: raw}
		return nil, p.FailRaw(limit, lex.CodeLimit, "longer than %d bytes", limit)
	}
	if query == notEncoded {
		p.Source, err = lex.Plain(raw)
	} else {
		p.Source, err = lex.Decode(raw, query)
	}
	if err != nil {
		return nil, err
	}
	p.End = len(p.Text)
	return p, nil
}

// request reads a whole target.
func (p *parser) request(r *Request, hasQuery bool) (err error) {
	if i := strings.IndexByte(p.Raw, '#'); i >= 0 {
		return p.FailRaw(i, lex.CodeMalformed, "a fragment is never sent; a # that is data is %%23")
	}
	split := lex.NewSplitter(p.Source)
	if r.Segments, err = p.resourcePath(split, len(r.RawPath)); err != nil {
		return err
	}
	if hasQuery {
		split.At(len(r.RawPath) + 1)
		if err := p.queryOptions(split, &r.Query, permitted(r.Segments)); err != nil {
			return err
		}
	}
	if len(r.Segments) > 0 && r.Segments[0].Name == segEntity && r.ID == "" {
		return p.Malformed(len(p.Text), "$entity needs the option $id")
	}
	return nil
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// literal consumes a literal or fails.
func (p *parser) literal() (*Literal, error) {
	from := p.I
	l, err := p.tryLiteral()
	if err == nil && l == nil {
		err = p.Malformed(from, "expected a literal; text must be in single quotes")
	}
	return l, err
}

// tryLiteral consumes a literal if one is next, else it returns nil without having
// moved.
func (p *parser) tryLiteral() (*Literal, error) {
	at := p.I
	t, ok, err := p.Literal()
	if err != nil || !ok {
		return nil, err
	}
	if err := p.Node(at); err != nil {
		return nil, err
	}
	return &Literal{At: p.RawPos(at), Kind: LiteralKind(t.Kind), Text: t.Text, Type: t.Type}, nil
}
