package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIdentifier is the longest name in characters (ABNF odataIdentifier).
const maxIdentifier = 128

// parser walks over a window of the decoded text. All parts of one request share
// the counters of nodes and depth.
type parser struct {
	*source
	i, end int // the window of source.text that is left
	v401   bool
	inPath bool // arguments in the resource path are literals or aliases only

	depth, maxDepth int
	nodes, maxNodes int
	vars            []string // range variables in scope, innermost last
}

func newParser(s *source, o Options) *parser {
	return &parser{source: s, end: len(s.text), v401: o.V401, maxDepth: o.maxDepth(), maxNodes: o.maxNodes()}
}

// window sets the part of text to parse.
func (p *parser) window(from, to int) { p.i, p.end = from, to }

// peek returns the next byte, 0 at the end; NUL never occurs in text.
func (p *parser) peek() byte { return p.peekAt(p.i) }

func (p *parser) peekAt(i int) byte {
	if i < p.end {
		return p.text[i]
	}
	return 0
}

// rest is what is left of the window.
func (p *parser) rest() string { return p.text[p.i:p.end] }

// accept consumes c if it is next.
func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

// expect consumes c or fails.
func (p *parser) expect(c byte, where string) error {
	if p.accept(c) {
		return nil
	}
	return p.malformed(p.i, "expected %q %s", c, where)
}

// acceptWord consumes a literal text if it is next.
func (p *parser) acceptWord(s string) bool {
	if !strings.HasPrefix(p.rest(), s) {
		return false
	}
	p.i += len(s)
	return true
}

// ws skips optional white space (ABNF BWS) and tells whether there was any.
func (p *parser) ws() bool {
	from := p.i
	for p.i < p.end && isSpace(p.text[p.i]) {
		p.i++
	}
	return p.i > from
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func (p *parser) malformed(pos int, format string, args ...any) error {
	return p.fail(pos, codeMalformed, format, args...)
}

// enter counts one level of nesting; every nil answer needs a leave.
func (p *parser) enter() error {
	if p.depth >= p.maxDepth {
		return p.fail(p.i, codeLimit, "nested more than %d levels deep", p.maxDepth)
	}
	p.depth++
	return nil
}

func (p *parser) leave() { p.depth-- }

// node counts one expression node.
func (p *parser) node(at int) error {
	if p.nodes >= p.maxNodes {
		return p.fail(at, codeLimit, "more than %d literals, paths, operators and calls in one request", p.maxNodes)
	}
	p.nodes++
	return nil
}

// scanIdent returns the end of the identifier that starts at from, or from if
// there is none (ABNF odataIdentifier).
func (p *parser) scanIdent(from int) int {
	i := from
	for i < p.end {
		c := p.text[i]
		if c < utf8.RuneSelf {
			if c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || i > from && isDigit(c) {
				i++
				continue
			}
			break
		}
		r, n := utf8.DecodeRuneInString(p.text[i:p.end])
		if !unicode.In(r, unicode.L, unicode.Nl) &&
			(i == from || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Cf)) {
			break
		}
		i += n
	}
	return i
}

// ident consumes a simple name.
func (p *parser) ident(what string) (string, error) {
	from := p.i
	to := p.scanIdent(from)
	if to == from {
		return "", p.malformed(from, "expected %s", what)
	}
	if err := p.checkLength(from, to); err != nil {
		return "", err
	}
	p.i = to
	return p.text[from:to], nil
}

// name consumes a simple or qualified name and tells whether it was qualified.
func (p *parser) name(what string) (name string, qualified bool, err error) {
	from := p.i
	if _, err := p.ident(what); err != nil {
		return "", false, err
	}
	for p.peek() == '.' {
		part := p.i + 1
		to := p.scanIdent(part)
		if to == part { // as in "Model.*" of $select
			break
		}
		if err := p.checkLength(part, to); err != nil {
			return "", false, err
		}
		p.i, qualified = to, true
	}
	return p.text[from:p.i], qualified, nil
}

func (p *parser) checkLength(from, to int) error {
	if to-from > maxIdentifier && utf8.RuneCountInString(p.text[from:to]) > maxIdentifier {
		return p.malformed(from, "a name has at most %d characters", maxIdentifier)
	}
	return nil
}

// annotation consumes "@" [namespace "."] term ["#" qualifier] (ABNF
// annotationInQuery) and tells whether it can be nothing but an annotation; a
// simple name is more often a parameter alias.
func (p *parser) annotation() (name string, certain bool, err error) {
	from := p.i
	p.i++
	_, certain, err = p.name("a name after @")
	if err != nil {
		return "", false, err
	}
	if p.accept('#') {
		certain = true
		if _, err := p.ident("a qualifier after #"); err != nil {
			return "", false, err
		}
	}
	return p.text[from:p.i], certain, nil
}

// wordIs compares a keyword: exactly in 4.0, in any case in 4.01 (OData-URL 5.1).
func (p *parser) wordIs(word, keyword string) bool {
	return word == keyword || p.v401 && strings.EqualFold(word, keyword)
}

// list consumes items separated by commas. The standard's own examples have a
// blank behind the comma, so white space is allowed around it.
func (p *parser) list(item func() error) error {
	for {
		if err := item(); err != nil {
			return err
		}
		from := p.i
		p.ws()
		if !p.accept(',') {
			p.i = from
			return nil
		}
		p.ws()
	}
}
