package syntax

import "strings"

// search reads the value of $search (ABNF search). Blanks around it do not belong
// to it (OData-URL 5.1.7.1).
func (p *parser) search() (*Search, error) {
	p.ws()
	at := p.i
	var s *Search
	var err error
	if p.peek() == '\'' {
		s, err = p.incompleteSearch()
	} else {
		s, err = p.searchOr()
	}
	if err != nil {
		return nil, err
	}
	p.ws()
	if c := p.peek(); c == 0 || (c == ';' || c == ')') && p.depth > 0 {
		return s, nil
	}
	return nil, p.searchFault(at)
}

func (p *parser) searchFault(at int) error {
	switch p.peek() {
	case '(', ')':
		return p.malformed(p.i, "unbalanced parenthesis; put text with parentheses in double quotes")
	case '"':
		return p.malformed(p.i, "no closing double quote")
	case ';':
		return p.malformed(p.i, "a semicolon in a search word is sent as %%3B")
	case '\'':
		return p.malformed(at, "a search word cannot start with a quote")
	}
	return p.malformed(p.i, "unexpected text in $search")
}

// searchOr, searchAnd and searchNot are the levels of precedence: OR is loosest.
func (p *parser) searchOr() (*Search, error) {
	return p.searchJoin("OR", p.searchAnd)
}

func (p *parser) searchAnd() (*Search, error) {
	return p.searchJoin("AND", p.searchNot)
}

// searchJoin reads operands of the next level. Without an operator between them
// they are joined by AND.
func (p *parser) searchJoin(op string, next func() (*Search, error)) (*Search, error) {
	at := p.i
	first, err := next()
	if err != nil {
		return nil, err
	}
	joined := &Search{Pos: p.rawPos(at), Op: op, Args: []*Search{first}}
	for p.searchOperator(op) {
		arg, err := next()
		if err != nil {
			return nil, err
		}
		joined.Args = append(joined.Args, arg)
	}
	if len(joined.Args) == 1 {
		return first, nil
	}
	return joined, nil
}

// searchOperator consumes an operator if one is next, and the blanks around it.
// AND and OR are operators only between two operands; elsewhere they are words.
func (p *parser) searchOperator(op string) bool {
	from := p.i
	if !p.ws() || !p.startsOperand() {
		p.i = from
		return false
	}
	for _, word := range [...]string{"AND", "OR"} {
		if p.searchKeyword(word) {
			if word == op {
				return true
			}
			p.i = from
			return false
		}
	}
	if op == "AND" {
		return true
	}
	p.i = from
	return false
}

// searchKeyword consumes a keyword and the blanks behind it if an operand follows.
// Keywords are case-sensitive.
func (p *parser) searchKeyword(word string) bool {
	from := p.i
	if p.acceptWord(word) && p.ws() && p.startsOperand() {
		return true
	}
	p.i = from
	return false
}

func (p *parser) startsOperand() bool {
	c := p.peek()
	return c == '(' || c == '"' || c != '\'' && p.isSearchChar(p.i)
}

// searchNot reads a word, a phrase, a group, or NOT with one of these.
func (p *parser) searchNot() (*Search, error) {
	at := p.i
	s := &Search{Pos: p.rawPos(at)}
	if err := p.node(at); err != nil {
		return nil, err
	}
	switch {
	case p.searchKeyword("NOT"):
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		arg, err := p.searchNot()
		s.Op, s.Args = "NOT", []*Search{arg}
		return s, err
	case p.peek() == '(':
		return p.searchGroup()
	case p.peek() == '"':
		n := strings.IndexByte(p.text[at+1:p.end], '"')
		if n < 1 {
			return nil, p.malformed(at, "a phrase needs text and a closing double quote")
		}
		p.i = at + 1 + n + 1
		s.Text, s.Phrase = p.text[at+1:at+1+n], true
		return s, nil
	case !p.startsOperand():
		if p.i == p.end {
			return nil, p.malformed(at, "expected a word to search for")
		}
		return nil, p.searchFault(at)
	}
	for p.i < p.end && p.isSearchChar(p.i) {
		p.i++
	}
	s.Text = p.text[at:p.i]
	return s, nil
}

// isSearchChar tells what can be part of a word: everything but blanks,
// parentheses and double quotes, and ";" only if it was sent as %3B.
func (p *parser) isSearchChar(i int) bool {
	switch c := p.peekAt(i); c {
	case 0, ' ', '\t', '\r', '\n', '(', ')', '"':
		return false
	case ';':
		return p.sentAs(i) == '%'
	}
	return true
}

func (p *parser) searchGroup() (*Search, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.i++
	p.ws()
	s, err := p.searchOr()
	if err != nil {
		return nil, err
	}
	p.ws()
	if p.accept(')') {
		return s, nil
	}
	return nil, p.malformed(p.i, "expected \")\" to close the group")
}

// incompleteSearch reads what a client sends while its user is still typing, in
// single quotes (ABNF searchExpr-incomplete): words and phrases, all of which must
// match, whatever else is in it.
func (p *parser) incompleteSearch() (*Search, error) {
	at := p.i
	text, err := p.quoted()
	if err != nil {
		return nil, err
	}
	all := &Search{Pos: p.rawPos(at), Op: "AND"}
	for i, part := range strings.Split(text, `"`) {
		words := []string{strings.TrimSpace(part)}
		if i%2 == 0 {
			words = strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" \t()", r) })
		}
		for _, w := range words {
			if w == "" {
				continue
			}
			if err := p.node(at); err != nil {
				return nil, err
			}
			all.Args = append(all.Args, &Search{Pos: all.Pos, Text: w, Phrase: i%2 == 1})
		}
	}
	return all, nil
}
