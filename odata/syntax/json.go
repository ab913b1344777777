package syntax

// array consumes a JSON array whose items may be any expression (ABNF array).
func (p *parser) array() (Expr, error) {
	if err := p.Enter(); err != nil {
		return nil, err
	}
	defer p.Leave()
	at := p.I
	if err := p.Node(at); err != nil {
		return nil, err
	}
	l := &List{At: p.RawPos(at), Array: true}
	p.I++
	p.Space()
	if p.Accept(']') {
		return l, nil
	}
	err := p.List(func() error {
		item, err := p.jsonValue()
		l.Items = append(l.Items, item)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Space()
	return l, p.Expect(']', "or \",\" in the array")
}

// object consumes a JSON object (ABNF object).
func (p *parser) object() (Expr, error) {
	if err := p.Enter(); err != nil {
		return nil, err
	}
	defer p.Leave()
	at := p.I
	if err := p.Node(at); err != nil {
		return nil, err
	}
	o := &Object{At: p.RawPos(at)}
	p.I++
	p.Space()
	if p.Accept('}') {
		return o, nil
	}
	err := p.List(func() error {
		m := Member{Pos: p.RawPos(p.I)}
		var err error
		if m.Name, err = p.JSONString(); err != nil {
			return err
		}
		p.Space()
		if err = p.Expect(':', "behind the member name"); err != nil {
			return err
		}
		p.Space()
		m.Value, err = p.jsonValue()
		o.Members = append(o.Members, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Space()
	return o, p.Expect('}', "or \",\" in the object")
}

// jsonValue consumes a string in double quotes or an expression (ABNF valueInUrl).
func (p *parser) jsonValue() (Expr, error) {
	if p.Peek() != '"' {
		return p.expr()
	}
	at := p.I
	text, err := p.JSONString()
	if err != nil {
		return nil, err
	}
	if err := p.Node(at); err != nil {
		return nil, err
	}
	return &Literal{At: p.RawPos(at), Kind: String, Text: text}, nil
}
