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
func (p *parser) resourcePath(offsets *lex.OffsetMap, n int) []Segment {
	if n == 0 {
		return nil
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
		from := offsets.At(raw)
		p.Window(from, offsets.At(raw+length))
		var before *Segment
		if len(segments) > 0 {
			before = &segments[len(segments)-1]
		}
		seg := p.resourceSegment(before)
		p.Node(from)
		seg.Pos, seg.Text = raw, p.Text[from:p.End]
		segments = append(segments, seg)
		raw += length + 1
	}
	p.inPath = false
	return segments
}

// resourceSegment reads one segment, which is the whole window.
func (p *parser) resourceSegment(before *Segment) Segment {
	at := p.I
	if p.Peek() == '$' && p.SentAs(at) == '$' {
		return p.systemSegment(before)
	}
	p.mayFollow(at, before)
	if before == nil || hasKey(before) {
		return p.namedSegment(before == nil)
	}
	// What is no name can still be a key of its own (OData-URL 4.3.6) or an
	// ordinal (4.10), unless there was a key before it. Only the model knows.
	var seg Segment
	if err := try(func() { seg = p.namedSegment(false) }); err != nil {
		return Segment{Err: err}
	}
	return seg
}

func hasKey(s *Segment) bool {
	return s.Key != nil || s.Args != nil && len(s.Args.Args) == 1 && s.Args.Args[0].Name == ""
}

// namedSegment reads name[(arguments)][(key)].
func (p *parser) namedSegment(first bool) (seg Segment) {
	if p.I == p.End {
		panic(p.Malformed(p.I, "a path segment is empty; is there a / too many?"))
	}
	if first {
		seg.Name = p.Ident("the name of an entity set, singleton or function")
	} else {
		seg.Name, _ = p.Name("the name of a property, type or operation")
	}
	if p.Peek() == '(' {
		p.groups(&seg)
	}
	if p.I < p.End {
		panic(p.Malformed(p.I, "unexpected text in a path segment"))
	}
	return seg
}

// mayFollow refuses a name or key that cannot come behind a segment.
func (p *parser) mayFollow(at int, before *Segment) {
	if before == nil {
		return
	}
	switch before.Name {
	case segMetadata, segBatch, segCrossjoin, segCount, segRef, segValue, segQuery:
		panic(p.Malformed(at, "nothing can follow %s", before.Name))
	}
}

// systemSegment reads a segment that starts with "$".
func (p *parser) systemSegment(before *Segment) (seg Segment) {
	at := p.I
	p.I = p.ScanIdent(at + 1)
	seg.Name = p.Text[at:p.I]
	p.checkPlace(at, seg.Name, before)
	switch seg.Name {
	case segCrossjoin:
		seg.Args = p.crossjoin()
	case segFilter:
		p.inPath = false
		seg.Lambda = p.filterSegment()
		p.inPath = true
		if p.Peek() == '(' {
			seg.Key = p.arguments("")
		}
	}
	if p.I < p.End {
		panic(p.Malformed(p.I, "unexpected text behind %s", seg.Name))
	}
	return seg
}

// checkPlace refuses a system segment that cannot come behind another.
func (p *parser) checkPlace(at int, name string, before *Segment) {
	first := before == nil
	switch name {
	case segMetadata, segBatch, segEntity, segAll, segCrossjoin:
		if !first {
			panic(p.Malformed(at, "%s must be the first segment", name))
		}
		return
	case segCount, segRef, segValue, segQuery, segEach, segFilter:
		if first {
			panic(p.Malformed(at, "%s needs a resource before it", name))
		}
	default:
		panic(p.Malformed(at, "there is no segment %s; a key that starts with $ is sent as %%24", name))
	}
	if name == segQuery && before.Name == segCrossjoin {
		return
	}
	if before.Name == segEntity || before.Name == segAll || before.Name == segEach {
		panic(p.Malformed(at, "%s cannot follow %s", name, before.Name))
	}
	p.mayFollow(at, before)
}

// crossjoin reads the entity sets of $crossjoin (ABNF crossjoin).
func (p *parser) crossjoin() *ArgList {
	sets := &ArgList{Pos: p.RawPos(p.I)}
	p.Expect('(', "and entity sets behind $crossjoin")
	p.List(func() {
		at := p.I
		sets.Args = append(sets.Args, Arg{Pos: p.RawPos(at), Name: p.Ident("an entity set")})
	})
	p.Expect(')', "to close $crossjoin")
	return sets
}
