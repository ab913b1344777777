package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

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
// "%2F" is data (OData-URL 2.2). One slash at the end is forgiven: Syncfusion's data
// manager sends it.
func (p *parser) resourcePath(split *lex.Splitter, n int) ([]Segment, error) {
	if n == 0 {
		return nil, nil
	}
	if n > 1 && p.Raw[n-1] == '/' {
		n--
	}
	path := p.Raw[:n]
	segments := make([]Segment, 0, 1+strings.Count(path, "/"))
	p.inPath = true
	for raw := 0; raw <= n; {
		length := strings.IndexByte(path[raw:], '/')
		if length < 0 {
			length = n - raw
		}
		from := split.At(raw)
		p.Window(from, split.At(raw+length))
		var before *Segment
		if len(segments) > 0 {
			before = &segments[len(segments)-1]
		}
		seg, err := p.resourceSegment(before)
		if err == nil {
			err = p.Node(from)
		}
		if err != nil {
			return nil, err
		}
		seg.Pos, seg.Text = raw, p.Text[from:p.End]
		segments = append(segments, seg)
		raw += length + 1
	}
	p.inPath = false
	return segments, nil
}

// resourceSegment reads one segment, which is the whole window.
func (p *parser) resourceSegment(before *Segment) (Segment, error) {
	at := p.I
	if p.Peek() == '$' && p.SentAs(at) == '$' {
		return p.systemSegment(before)
	}
	if err := p.mayFollow(at, before); err != nil {
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
	return Segment{Err: asError(err)}, nil
}

func hasKey(s *Segment) bool {
	return s.Key != nil || s.Args != nil && len(s.Args.Args) == 1 && s.Args.Args[0].Name == ""
}

// namedSegment reads name[(arguments)][(key)].
func (p *parser) namedSegment(first bool) (seg Segment, err error) {
	if p.I == p.End {
		return seg, p.Malformed(p.I, "a path segment is empty; is there a / too many?")
	}
	if first {
		seg.Name, err = p.Ident("the name of an entity set, singleton or function")
	} else {
		seg.Name, _, err = p.Name("the name of a property, type or operation")
	}
	if err != nil {
		return seg, err
	}
	if p.Peek() == '(' {
		if err := p.groups(&seg); err != nil {
			return seg, err
		}
	}
	if p.I < p.End {
		return seg, p.Malformed(p.I, "unexpected text in a path segment")
	}
	return seg, nil
}

// mayFollow tells whether a name or key can come behind a segment.
func (p *parser) mayFollow(at int, before *Segment) error {
	if before == nil {
		return nil
	}
	switch before.Name {
	case segMetadata, segBatch, segCrossjoin, segCount, segRef, segValue, segQuery:
		return p.Malformed(at, "nothing can follow %s", before.Name)
	}
	return nil
}

// systemSegment reads a segment that starts with "$".
func (p *parser) systemSegment(before *Segment) (seg Segment, err error) {
	at := p.I
	p.I = p.ScanIdent(at + 1)
	seg.Name = p.Text[at:p.I]
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
		if err == nil && p.Peek() == '(' {
			seg.Key, err = p.arguments("")
		}
	}
	if err == nil && p.I < p.End {
		err = p.Malformed(p.I, "unexpected text behind %s", seg.Name)
	}
	return seg, err
}

// checkPlace tells whether a system segment may stand behind another.
func (p *parser) checkPlace(at int, name string, before *Segment) error {
	first := before == nil
	switch name {
	case segMetadata, segBatch, segEntity, segAll, segCrossjoin:
		if !first {
			return p.Malformed(at, "%s must be the first segment", name)
		}
		return nil
	case segCount, segRef, segValue, segQuery, segEach, segFilter:
		if first {
			return p.Malformed(at, "%s needs a resource before it", name)
		}
	default:
		return p.Malformed(at, "there is no segment %s; a key that starts with $ is sent as %%24", name)
	}
	if name == segQuery && before.Name == segCrossjoin {
		return nil
	}
	if before.Name == segEntity || before.Name == segAll || before.Name == segEach {
		return p.Malformed(at, "%s cannot follow %s", name, before.Name)
	}
	return p.mayFollow(at, before)
}

// crossjoin reads the entity sets of $crossjoin (ABNF crossjoin).
func (p *parser) crossjoin() (*ArgList, error) {
	sets := &ArgList{Pos: p.RawPos(p.I)}
	if err := p.Expect('(', "and entity sets behind $crossjoin"); err != nil {
		return nil, err
	}
	err := p.List(func() error {
		at := p.I
		name, err := p.Ident("an entity set")
		sets.Args = append(sets.Args, Arg{Pos: p.RawPos(at), Name: name})
		return err
	})
	if err != nil {
		return nil, err
	}
	return sets, p.Expect(')', "to close $crossjoin")
}
