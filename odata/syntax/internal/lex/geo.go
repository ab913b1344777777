package lex

import "strings"

// badGeo returns the position of the first fault in the well-known text of a
// geography or geometry literal, or -1 (ABNF fullPointLiteral and its siblings).
func badGeo(s string) int {
	g := &geo{s: s}
	if !g.word("SRID=") {
		return g.i
	}
	n := Digits(g.s[g.i:])
	if n == 0 || n > 5 {
		return g.i
	}
	g.i += n
	if !g.word(";") || !g.shape(0) || g.i != len(s) {
		return g.i
	}
	return -1
}

// maxGeoDepth limits collections in collections.
const maxGeoDepth = 20

type geo struct {
	s string
	i int
}

func (g *geo) word(w string) bool {
	if len(g.s)-g.i < len(w) || !strings.EqualFold(g.s[g.i:g.i+len(w)], w) {
		return false
	}
	g.i += len(w)
	return true
}

// list consumes "(" item *("," item) ")".
func (g *geo) list(least int, item func() bool) bool {
	if !g.word("(") {
		return false
	}
	if least == 0 && g.word(")") {
		return true
	}
	for n := 1; ; n++ {
		if !item() {
			return false
		}
		if !g.word(",") {
			return n >= least && g.word(")")
		}
	}
}

func (g *geo) shape(depth int) bool {
	switch {
	case g.word("GeometryCollection"), g.word("Collection"):
		return depth < maxGeoDepth && g.list(1, func() bool { return g.shape(depth + 1) })
	case g.word("LineString"):
		return g.line()
	case g.word("MultiPoint"):
		return g.list(0, g.point)
	case g.word("MultiLineString"):
		return g.list(0, g.line)
	case g.word("MultiPolygon"):
		return g.list(0, g.polygon)
	case g.word("Point"):
		return g.point()
	case g.word("Polygon"):
		return g.polygon()
	}
	return false
}

func (g *geo) point() bool { return g.word("(") && g.position() && g.word(")") }

func (g *geo) line() bool { return g.list(2, g.position) }

func (g *geo) polygon() bool { return g.list(1, g.ring) }

// ring is a list of positions that ends where it began.
func (g *geo) ring() bool {
	first, last := "", ""
	ok := g.list(1, func() bool {
		from := g.i
		if !g.position() {
			return false
		}
		last = g.s[from:g.i]
		if first == "" {
			first = last
		}
		return true
	})
	return ok && first == last
}

// position is two to four numbers separated by one space.
func (g *geo) position() bool {
	for n := range 4 {
		if n > 0 && !g.word(" ") {
			return n >= 2
		}
		if !g.number() {
			return false
		}
	}
	return true
}

func (g *geo) number() bool {
	if g.word("NaN") || g.word("INF") || g.word("-INF") {
		return true
	}
	_ = g.word("-") || g.word("+")
	n := Digits(g.s[g.i:])
	g.i += n
	if n > 0 && g.word(".") {
		n = Digits(g.s[g.i:])
		g.i += n
	}
	if n > 0 && g.word("e") {
		_ = g.word("-") || g.word("+")
		n = Digits(g.s[g.i:])
		g.i += n
	}
	return n > 0
}
