package syntax

import "strings"

// System segments (ABNF resourcePath and what it refers to). They are
// case-sensitive, and "%24" does not make one: it starts a key.
const (
	segMetadata  = "$metadata"
	segBatch     = "$batch"
	segEntity    = "$entity"
	segAll       = "$all"
	segCrossjoin = "$crossjoin"
	segCount     = "$count"
	segRef       = "$ref"
	segValue     = "$value"
	segQuery     = "$query"
	segEach      = "$each"
	segFilter    = "$filter"
)

// resourcePath reads the first n raw bytes. They are split at "/" first, so that
// "%2F" is data (OData-URL 2.2).
func (p *parser) resourcePath(split *splitter, n int) ([]Segment, error) {
	if n == 0 {
		return nil, nil
	}
	path := p.raw[:n]
	segments := make([]Segment, 0, 1+strings.Count(path, "/"))
	p.inPath = true
	for raw := 0; raw <= n; {
		length := strings.IndexByte(path[raw:], '/')
		if length < 0 {
			length = n - raw
		}
		from := split.at(raw)
		p.window(from, split.at(raw+length))
		var before *Segment
		if len(segments) > 0 {
			before = &segments[len(segments)-1]
		}
		seg, err := p.resourceSegment(before)
		if err != nil {
			return nil, err
		}
		seg.Pos, seg.Text = raw, p.text[from:p.end]
		segments = append(segments, seg)
		raw += length + 1
	}
	p.inPath = false
	return segments, nil
}

// resourceSegment reads one segment, which is the whole window.
func (p *parser) resourceSegment(before *Segment) (Segment, error) {
	at := p.i
	if p.peek() == '$' && p.sentAs(at) == '$' {
		return p.systemSegment(before)
	}
	if err := p.mayFollow(before); err != nil {
		return Segment{}, err
	}
	seg, err := p.namedSegment(before == nil)
	if err == nil {
		return seg, nil
	}
	// What is no name can still be a key of its own (OData-URL 4.3.6) or an
	// ordinal (4.10), unless there was a key before it. Only the model knows.
	if before == nil || hasKey(before) {
		return Segment{}, err
	}
	return Segment{Err: err}, nil
}

func hasKey(s *Segment) bool {
	return s.Key != nil || s.Args != nil && len(s.Args.Args) == 1 && s.Args.Args[0].Name == ""
}

// namedSegment reads name[(arguments)][(key)].
func (p *parser) namedSegment(first bool) (seg Segment, err error) {
	if p.i == p.end {
		return seg, p.malformed(p.i, "a path segment is empty; is there a / too many?")
	}
	if first {
		seg.Name, err = p.ident("the name of an entity set, singleton or function")
	} else {
		seg.Name, _, err = p.name("the name of a property, type or operation")
	}
	if err != nil {
		return seg, err
	}
	if p.peek() == '(' {
		if err := p.groups(&seg); err != nil {
			return seg, err
		}
	}
	if p.i < p.end {
		return seg, p.malformed(p.i, "unexpected text in a path segment")
	}
	return seg, nil
}

// mayFollow tells whether a name or key can come behind a segment.
func (p *parser) mayFollow(before *Segment) error {
	if before == nil {
		return nil
	}
	switch before.Name {
	case segMetadata, segBatch, segCrossjoin, segCount, segRef, segValue, segQuery:
		return p.malformed(p.i, "nothing can follow %s", before.Name)
	}
	return nil
}

// systemSegment reads a segment that starts with "$".
func (p *parser) systemSegment(before *Segment) (seg Segment, err error) {
	at := p.i
	p.i = p.scanIdent(at + 1)
	seg.Name = p.text[at:p.i]
	if err := p.checkPlace(at, seg.Name, before); err != nil {
		return seg, err
	}
	switch seg.Name {
	case segCrossjoin:
		seg.Args, err = p.crossjoin()
	case segFilter:
		p.inPath = false
		seg.Lambda, err = p.filterSegment()
		p.inPath = true
	}
	if err == nil && p.i < p.end {
		err = p.malformed(p.i, "unexpected text behind %s", seg.Name)
	}
	return seg, err
}

// checkPlace tells whether a system segment may stand behind another.
func (p *parser) checkPlace(at int, name string, before *Segment) error {
	first := before == nil
	switch name {
	case segMetadata, segBatch, segEntity, segAll, segCrossjoin:
		if !first {
			return p.malformed(at, "%s must be the first segment", name)
		}
		return nil
	case segCount, segRef, segValue, segQuery, segEach, segFilter:
		if first {
			return p.malformed(at, "%s needs a resource before it", name)
		}
	default:
		return p.malformed(at, "there is no segment %s; a key that starts with $ is sent as %%24", name)
	}
	if name == segQuery && before.Name == segCrossjoin {
		return nil
	}
	if before.Name == segEntity || before.Name == segAll || before.Name == segEach {
		return p.malformed(at, "%s cannot follow %s", name, before.Name)
	}
	return p.mayFollow(before)
}

// crossjoin reads the entity sets of $crossjoin (ABNF crossjoin).
func (p *parser) crossjoin() (*ArgList, error) {
	sets := &ArgList{Pos: p.rawPos(p.i)}
	if err := p.expect('(', "and entity sets behind $crossjoin"); err != nil {
		return nil, err
	}
	err := p.list(func() error {
		at := p.i
		name, err := p.ident("an entity set")
		sets.Args = append(sets.Args, Arg{Pos: p.rawPos(at), Name: name})
		return err
	})
	if err != nil {
		return nil, err
	}
	return sets, p.expect(')', "to close $crossjoin")
}
