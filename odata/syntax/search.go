package syntax

import "strings"

// search reads the value of $search (ABNF search). Blanks around it do not belong
// to it (OData-URL 5.1.8.1).
func (p *parser) search() *Search {
	p.Space()
	var s *Search
	if p.Peek() == '\'' {
		s = p.incompleteSearch()
	} else {
		s = p.searchOr()
	}
	p.Space()
	if c := p.Peek(); c == 0 || (c == ';' || c == ')') && p.Nested() {
		return s
	}
	panic(p.searchFault())
}

func (p *parser) searchFault() error {
	switch p.Peek() {
	case '(', ')':
		return p.Malformed(p.I, "unbalanced parenthesis; put text with parentheses in double quotes")
	case '"':
		return p.Malformed(p.I, "no closing double quote")
	case ';':
		return p.Malformed(p.I, "a semicolon in a search word is sent as %%3B")
	case '\'':
		return p.Malformed(p.I, "a search word cannot start with a quote")
	}
	return p.Malformed(p.I, "unexpected text in $search")
}

// searchOr, searchAnd and searchNot are the levels of precedence: OR is loosest.
func (p *parser) searchOr() *Search { return p.searchJoin("OR", p.searchAnd) }

func (p *parser) searchAnd() *Search { return p.searchJoin("AND", p.searchNot) }

// searchJoin reads operands of the next level. Without an operator between them
// they are joined by AND.
func (p *parser) searchJoin(op string, next func() *Search) *Search {
	at := p.I
	first := next()
	joined := &Search{Pos: p.RawPos(at), Op: op, Args: []*Search{first}}
	for p.searchOperator(op) {
		joined.Args = append(joined.Args, next())
	}
	if len(joined.Args) == 1 {
		return first
	}
	return joined
}

// searchOperator consumes an operator if one is next, and the blanks around it.
// AND and OR are operators only between two operands; elsewhere they are words.
func (p *parser) searchOperator(op string) bool {
	from := p.I
	if !p.Space() || !p.startsOperand() {
		p.I = from
		return false
	}
	for _, word := range [...]string{"AND", "OR"} {
		if p.searchKeyword(word) {
			if word == op {
				return true
			}
			p.I = from
			return false
		}
	}
	if op == "AND" {
		return true
	}
	p.I = from
	return false
}

// searchKeyword consumes a keyword and the blanks behind it if an operand follows.
// Keywords are case-sensitive.
func (p *parser) searchKeyword(word string) bool {
	from := p.I
	if p.AcceptWord(word) && p.Space() && p.startsOperand() {
		return true
	}
	p.I = from
	return false
}

func (p *parser) startsOperand() bool {
	c := p.Peek()
	return c == '(' || c == '"' || c != '\'' && p.isSearchChar(p.I)
}

// searchNot reads a word, a phrase, a group, or NOT with one of these.
func (p *parser) searchNot() *Search {
	at := p.I
	s := &Search{Pos: p.RawPos(at)}
	p.Node(at)
	switch {
	case p.searchKeyword("NOT"):
		p.Enter()
		defer p.Leave()
		s.Op, s.Args = "NOT", []*Search{p.searchNot()}
		return s
	case p.Peek() == '(':
		return p.searchGroup()
	case p.Peek() == '"':
		n := strings.IndexByte(p.Text[at+1:p.End], '"')
		if n < 1 {
			panic(p.Malformed(at, "a phrase needs text and a closing double quote"))
		}
		p.I = at + 1 + n + 1
		s.Text, s.Phrase = p.Text[at+1:at+1+n], true
		return s
	case !p.startsOperand():
		if p.I == p.End {
			panic(p.Malformed(at, "expected a word to search for"))
		}
		panic(p.searchFault())
	}
	for p.I < p.End && p.isSearchChar(p.I) {
		p.I++
	}
	s.Text = p.Text[at:p.I]
	return s
}

// isSearchChar tells what can be part of a word: everything but blanks,
// parentheses and double quotes, and ";" only if it was sent as %3B.
func (p *parser) isSearchChar(i int) bool {
	switch c := p.PeekAt(i); c {
	case 0, ' ', '\t', '\r', '\n', '(', ')', '"':
		return false
	case ';':
		return p.SentAs(i) == '%'
	}
	return true
}

func (p *parser) searchGroup() *Search {
	p.Enter()
	defer p.Leave()
	p.I++
	p.Space()
	s := p.searchOr()
	p.Space()
	if !p.Accept(')') {
		panic(p.Malformed(p.I, "expected \")\" to close the group"))
	}
	return s
}

// incompleteSearch reads what a client sends while its user is still typing, in
// single quotes (ABNF searchExpr-incomplete): words and phrases, all of which must
// match, whatever else is in it.
func (p *parser) incompleteSearch() *Search {
	at := p.I
	text := p.Quoted()
	all := &Search{Pos: p.RawPos(at), Op: "AND"}
	for i, part := range strings.Split(text, `"`) {
		words := []string{strings.TrimSpace(part)}
		if i%2 == 0 {
			words = strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" \t()", r) })
		}
		for _, w := range words {
			if w == "" {
				continue
			}
			p.Node(at)
			all.Args = append(all.Args, &Search{Pos: all.Pos, Text: w, Phrase: i%2 == 1})
		}
	}
	return all
}
