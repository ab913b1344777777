package syntax

import "strings"

// Parse reads a request target below the service root, still percent-encoded:
// "Products(1)/Category?$select=Name". The empty target is the service document.
// A leading "/" is not part of it. The error is an *Error whose Pos counts from
// the start of target.
func Parse(target string, o Options) (*Request, error) {
	path, query, found := strings.Cut(target, "?")
	src, err := newSource(target, len(path), o)
	if err != nil {
		return nil, err
	}
	if i := strings.IndexByte(target, '#'); i >= 0 {
		return nil, src.failRaw(i, codeMalformed, "a fragment is never sent; a # that is data is %%23")
	}
	p := newParser(src, o)
	split := &splitter{src: src}
	r := &Request{RawPath: path, RawQuery: query}
	if r.Segments, err = p.resourcePath(split, len(path)); err != nil {
		return nil, err
	}
	if found {
		split.at(len(path) + 1)
		if err := p.queryOptions(split, &r.Query, permitted(r.Segments)); err != nil {
			return nil, err
		}
	}
	if len(r.Segments) > 0 && r.Segments[0].Name == segEntity && r.ID == "" {
		return nil, p.malformed(p.end, "$entity needs the option $id")
	}
	return r, nil
}

// ParseQuery reads query options as they stand behind "?", for the body of a
// request to /$query (OData-URL 4.17).
func ParseQuery(query string, o Options) (*Query, error) {
	src, err := newSource(query, 0, o)
	if err != nil {
		return nil, err
	}
	q := &Query{}
	if err := newParser(src, o).queryOptions(&splitter{src: src}, q, topLevel); err != nil {
		return nil, err
	}
	return q, nil
}

// ParseFilter reads an expression in $filter syntax that is not percent-encoded,
// such as a row policy in a configuration file.
func ParseFilter(expr string, o Options) (Expr, error) {
	src, err := plainSource(expr, o)
	if err != nil {
		return nil, err
	}
	p := newParser(src, o)
	e, err := p.expr()
	if err != nil {
		return nil, err
	}
	if err := p.atEnd(); err != nil {
		return nil, err
	}
	return e, nil
}

// ParseLiteral reads a literal that is not percent-encoded, such as a key in a
// path segment of its own.
func ParseLiteral(text string) (*Literal, error) {
	src, err := plainSource(text, Options{})
	if err != nil {
		return nil, err
	}
	p := newParser(src, Options{})
	l, err := p.literal()
	if err != nil {
		return nil, err
	}
	if err := p.atEnd(); err != nil {
		return nil, err
	}
	return l, nil
}

func (o Options) maxLength() int { return orDefault(o.MaxLength, 65536) }
func (o Options) maxDepth() int  { return orDefault(o.MaxDepth, 50) }
func (o Options) maxNodes() int  { return orDefault(o.MaxNodes, 1000) }

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}
