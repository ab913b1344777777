package syntax

// array consumes a JSON array whose items may be any expression (ABNF array).
func (p *parser) array() Expr {
	p.Enter()
	defer p.Leave()
	at := p.I
	p.Node(at)
	l := &List{At: At(p.RawPos(at)), Array: true}
	p.I++
	p.Space()
	if p.Accept(']') {
		return l
	}
	p.List(func() { l.Items = append(l.Items, p.jsonValue()) })
	p.Space()
	p.Expect(']', "or \",\" in the array")
	return l
}

// object consumes a JSON object (ABNF object).
func (p *parser) object() Expr {
	p.Enter()
	defer p.Leave()
	at := p.I
	p.Node(at)
	o := &Object{At: At(p.RawPos(at))}
	p.I++
	p.Space()
	if p.Accept('}') {
		return o
	}
	p.List(func() {
		m := Member{Pos: p.RawPos(p.I)}
		m.Name = p.JSONString()
		p.Space()
		p.Expect(':', "behind the member name")
		p.Space()
		m.Value = p.jsonValue()
		o.Members = append(o.Members, m)
	})
	p.Space()
	p.Expect('}', "or \",\" in the object")
	return o
}

// jsonValue consumes a string in double quotes or an expression (ABNF valueInUrl).
func (p *parser) jsonValue() Expr {
	if p.Peek() != '"' {
		return p.expr()
	}
	at := p.I
	text := p.JSONString()
	p.Node(at)
	return &Literal{At: At(p.RawPos(at)), Kind: String, Text: text}
}
