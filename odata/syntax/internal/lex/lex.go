package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIdentifier is the longest name in characters (ABNF odataIdentifier).
const maxIdentifier = 128

// Cursor walks over a window of the decoded text. All parts of one request share
// the counters of nodes and depth. A method panics with a *SyntaxError where the input is at fault; package syntax
// makes an error of that.
type Cursor struct {
	*Source
	I, End  int  // the window of Source.Text that is left
	AnyCase bool // keywords in any case, as in 4.01

	MaxDepth, MaxNodes int
	depth, nodes       int
}

// Window sets the part of text to parse.
func (p *Cursor) Window(from, to int) { p.I, p.End = from, to }

// Peek returns the next byte, 0 at the end; NUL never occurs in text.
func (p *Cursor) Peek() byte { return p.PeekAt(p.I) }

// PeekAt returns the byte at a position, 0 at the end.
func (p *Cursor) PeekAt(i int) byte {
	if i < p.End {
		return p.Text[i]
	}
	return 0
}

// Rest is what is left of the window.
func (p *Cursor) Rest() string { return p.Text[p.I:p.End] }

// Accept consumes c if it is next.
func (p *Cursor) Accept(c byte) bool {
	if p.Peek() != c {
		return false
	}
	p.I++
	return true
}

// Expect consumes c or fails.
func (p *Cursor) Expect(c byte, where string) {
	if !p.Accept(c) {
		panic(p.Malformed(p.I, "expected %q %s", c, where))
	}
}

// AcceptWord consumes a literal text if it is next.
func (p *Cursor) AcceptWord(s string) bool {
	if !strings.HasPrefix(p.Rest(), s) {
		return false
	}
	p.I += len(s)
	return true
}

// Space skips optional white space (ABNF BWS) and tells whether there was any.
func (p *Cursor) Space() bool {
	from := p.I
	for p.I < p.End && IsSpace(p.Text[p.I]) {
		p.I++
	}
	return p.I > from
}

// IsSpace tells what can separate words (ABNF RWS).
func IsSpace(c byte) bool { return c == ' ' || c == '\t' }

// Malformed makes an error of that code at a position of Text.
func (p *Cursor) Malformed(pos int, format string, args ...any) error {
	return p.Fail(pos, CodeMalformed, format, args...)
}

// Enter counts one level of nesting, until Leave.
func (p *Cursor) Enter() {
	if p.depth >= p.MaxDepth {
		panic(p.Fail(p.I, CodeLimit, "nested more than %d levels deep", p.MaxDepth))
	}
	p.depth++
}

// Leave ends what Enter began.
func (p *Cursor) Leave() { p.depth-- }

// Nested tells whether something was entered.
func (p *Cursor) Nested() bool { return p.depth > 0 }

// Node counts one expression node.
func (p *Cursor) Node(at int) {
	if p.nodes >= p.MaxNodes {
		panic(p.Fail(at, CodeLimit, "more than %d literals, path segments, operators and calls in one request", p.MaxNodes))
	}
	p.nodes++
}

// ScanIdent returns the end of the identifier that starts at from, or from if
// there is none (ABNF odataIdentifier).
func (p *Cursor) ScanIdent(from int) int {
	i := from
	for i < p.End {
		c := p.Text[i]
		if c < utf8.RuneSelf {
			if c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || i > from && IsDigit(c) {
				i++
				continue
			}
			break
		}
		r, n := utf8.DecodeRuneInString(p.Text[i:p.End])
		if !unicode.In(r, unicode.L, unicode.Nl) &&
			(i == from || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Cf)) {
			break
		}
		i += n
	}
	return i
}

// Ident consumes a simple name.
func (p *Cursor) Ident(what string) string {
	from := p.I
	to := p.ScanIdent(from)
	if to == from {
		panic(p.Malformed(from, "expected %s", what))
	}
	p.checkLength(from, to)
	p.I = to
	return p.Text[from:to]
}

// Name consumes a simple or qualified name and tells whether it was qualified.
func (p *Cursor) Name(what string) (name string, qualified bool) {
	from := p.I
	p.Ident(what)
	for p.Peek() == '.' {
		part := p.I + 1
		to := p.ScanIdent(part)
		if to == part { // as in "Model.*" of $select
			break
		}
		p.checkLength(part, to)
		p.I, qualified = to, true
	}
	return p.Text[from:p.I], qualified
}

func (p *Cursor) checkLength(from, to int) {
	if to-from > maxIdentifier && utf8.RuneCountInString(p.Text[from:to]) > maxIdentifier {
		panic(p.Malformed(from, "a name has at most %d characters", maxIdentifier))
	}
}

// Annotation consumes "@" [namespace "."] term ["#" qualifier] (ABNF
// annotationInQuery) and tells whether it can be nothing but an annotation; a
// simple name is more often a parameter alias.
func (p *Cursor) Annotation() (name string, certain bool) {
	from := p.I
	p.I++
	_, certain = p.Name("a name after @")
	if p.Accept('#') {
		certain = true
		p.Ident("a qualifier after #")
	}
	return p.Text[from:p.I], certain
}

// WordIs compares a keyword: exactly in 4.0, in any case in 4.01 (OData-URL 5.1).
func (p *Cursor) WordIs(word, keyword string) bool {
	return word == keyword || p.AnyCase && strings.EqualFold(word, keyword)
}

// List consumes items separated by commas. The standard's own examples have a
// blank behind the comma, so white space is allowed around it.
func (p *Cursor) List(item func()) {
	for {
		item()
		from := p.I
		p.Space()
		if !p.Accept(',') {
			p.I = from
			return
		}
		p.Space()
	}
}

// SyntaxError is syntax.Error before it leaves package syntax, which describes its
// fields.
type SyntaxError struct {
	Pos  int
	Code string
	Msg  string
	Near string
}

// Error returns the message without the place; package syntax adds that.
func (e *SyntaxError) Error() string { return e.Msg }

// The codes of errors.
const (
	CodeMalformed       = "malformed"
	CodeEncoding        = "encoding"
	CodeUnknownOption   = "unknown_option"
	CodeDuplicateOption = "duplicate_option"
	CodeUnknownFunction = "unknown_function"
	CodeLimit           = "limit"
	CodeNotImplemented  = "not_implemented"
)

// maxNear is how many bytes of the input are quoted at most behind a message, and maxQuoted those of a word inside
// it; no hint of the parser is that long.
const (
	maxNear   = 24
	maxQuoted = 100
)
