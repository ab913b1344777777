package syntax

import "strings"

// method describes a canonical function: its spelling and how many arguments it
// takes at least and at most (OData-URL 5.1.1.5 to 5.1.1.11).
func method(name string) (canonical string, least, most int) {
	switch name {
	case "now", "mindatetime", "maxdatetime":
		return name, 0, 0
	case "length", "tolower", "toupper", "trim",
		"year", "month", "day", "hour", "minute", "second", "fractionalseconds",
		"totalseconds", "date", "time", "totaloffsetminutes",
		"round", "floor", "ceiling", "geo.length":
		return name, 1, 1
	case "concat", "contains", "endswith", "indexof", "startswith",
		"hassubset", "hassubsequence", "geo.distance", "geo.intersects":
		return name, 2, 2
	case "matchesPattern", "matchespattern":
		return "matchesPattern", 2, 2
	case "substring":
		return name, 2, 3
	}
	return "", 0, 0
}

// nameOrCall consumes what starts with a name: a canonical function, cast, isof,
// case, or a path.
func (p *parser) nameOrCall() (Expr, error) {
	at := p.i
	name, _, err := p.name("an expression")
	if err != nil {
		return nil, err
	}
	if p.peek() == '(' {
		call, err := p.call(at, name)
		if call != nil || err != nil {
			return call, err
		}
	}
	p.i = at
	return p.memberPath(at)
}

// call consumes the arguments of a canonical function. It returns nil when the
// name is not that of one.
func (p *parser) call(at int, name string) (Expr, error) {
	key := name
	if p.v401 {
		key = strings.ToLower(name)
	}
	switch key {
	case "cast", "isof":
		return p.typeTest(at, key)
	case "case":
		return p.caseExpr(at)
	}
	canonical, least, most := method(key)
	if canonical == "" || !p.v401 && key == "matchespattern" {
		return nil, nil
	}
	if err := p.node(at); err != nil {
		return nil, err
	}
	c := &Call{At: p.rawPos(at), Func: canonical}
	p.i++
	p.ws()
	if p.accept(')') {
		return c, p.checkArity(c, at, least, most)
	}
	if most > 0 {
		c.Args = make([]Expr, 0, most)
	}
	err := p.list(func() error {
		arg, err := p.expr()
		c.Args = append(c.Args, arg)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.ws()
	if err := p.expect(')', "or \",\" behind an argument of "+canonical); err != nil {
		return nil, err
	}
	return c, p.checkArity(c, at, least, most)
}

func (p *parser) checkArity(c *Call, at, least, most int) error {
	if n := len(c.Args); n < least || n > most {
		return p.malformed(at, "%s takes %s", c.Func, arity(least, most))
	}
	return nil
}

func arity(least, most int) string {
	switch {
	case most == 0:
		return "no arguments"
	case least != most:
		return "two or three arguments"
	case most == 1:
		return "one argument"
	}
	return "two arguments"
}

// typeTest consumes the arguments of cast and isof: the last is a type (ABNF
// castExpr, isofExpr).
func (p *parser) typeTest(at int, op string) (Expr, error) {
	if err := p.node(at); err != nil {
		return nil, err
	}
	p.i++
	p.ws()
	var x Expr
	typeName, alone := p.onlyType()
	if !alone {
		var err error
		if x, err = p.expr(); err != nil {
			return nil, err
		}
		p.ws()
		if err := p.expect(',', "and a type in "+op); err != nil {
			return nil, err
		}
		p.ws()
		if typeName, err = p.typeName(); err != nil {
			return nil, err
		}
	}
	p.ws()
	if err := p.expect(')', "behind the type in "+op); err != nil {
		return nil, err
	}
	if op == "cast" {
		return &Cast{At: p.rawPos(at), X: x, Type: typeName}, nil
	}
	return &IsOf{At: p.rawPos(at), X: x, Type: typeName}, nil
}

// onlyType consumes a type that is the only argument, else nothing.
func (p *parser) onlyType() (string, bool) {
	from := p.i
	if name, err := p.typeName(); err == nil {
		to := p.i
		p.ws()
		if p.peek() == ')' {
			p.i = to
			return name, true
		}
	}
	p.i = from
	return "", false
}

// typeName consumes a type name (ABNF optionallyQualifiedTypeName).
func (p *parser) typeName() (string, error) {
	from := p.i
	collection := p.acceptWord("Collection(")
	name, _, err := p.name("a type name")
	if err != nil || !collection {
		return name, err
	}
	err = p.expect(')', "behind the item type of Collection")
	return p.text[from:p.i], err
}

// caseExpr consumes case(condition:value,...) (ABNF caseMethodCallExpr).
func (p *parser) caseExpr(at int) (Expr, error) {
	if err := p.node(at); err != nil {
		return nil, err
	}
	c := &Case{At: p.rawPos(at)}
	p.i++
	p.ws()
	err := p.list(func() error {
		cond, err := p.expr()
		if err != nil {
			return err
		}
		p.ws()
		if err := p.expect(':', "between condition and value of case"); err != nil {
			return err
		}
		p.ws()
		value, err := p.expr()
		c.When = append(c.When, When{Cond: cond, Value: value})
		return err
	})
	if err != nil {
		return nil, err
	}
	p.ws()
	return c, p.expect(')', "to close case")
}
