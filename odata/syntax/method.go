package syntax

import "strings"

// nameOrCall consumes what starts with a name: a canonical function, cast, isof,
// case, or a path.
func (p *parser) nameOrCall() (Expr, error) {
	at := p.I
	name, _, err := p.Name("an expression")
	if err != nil {
		return nil, err
	}
	if p.Peek() == '(' {
		call, err := p.call(at, name)
		if call != nil || err != nil {
			return call, err
		}
	}
	p.I = at
	return p.memberPath(at)
}

// call consumes the arguments of a canonical function. It returns nil when the
// name is not that of one.
func (p *parser) call(at int, name string) (Expr, error) {
	key := name
	if p.AnyCase {
		key = strings.ToLower(name)
	}
	switch key {
	case "cast", "isof":
		return p.typeTest(at, key)
	case "case":
		return p.caseExpr(at)
	case "isdefined":
		return p.isDefined(at)
	}
	canonical, least, most := p.function(strings.ToLower(name))
	if canonical == "" || canonical != name && !p.AnyCase {
		return nil, nil
	}
	if err := p.Node(at); err != nil {
		return nil, err
	}
	c := &Call{At: p.RawPos(at), Func: canonical}
	p.I++
	p.Space()
	if p.Accept(')') {
		return c, p.checkArity(c, at, least, most)
	}
	if most > 0 {
		c.Args = make([]Expr, 0, most)
	}
	err := p.List(func() error {
		arg, err := p.expr()
		c.Args = append(c.Args, arg)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Space()
	if err := p.Expect(')', "or \",\" behind an argument of "+canonical); err != nil {
		return nil, err
	}
	return c, p.checkArity(c, at, least, most)
}

func (p *parser) checkArity(c *Call, at, least, most int) error {
	if n := len(c.Args); n < least || n > most {
		return p.Malformed(at, "%s takes %s", c.Func, arity(least, most))
	}
	return nil
}

// arity is the part of a message that tells how many arguments a function takes: none to two, or, for the one
// function with an optional argument, substring, two or three.
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
	if err := p.Node(at); err != nil {
		return nil, err
	}
	p.I++
	p.Space()
	var x Expr
	typeName, alone := p.onlyType()
	if !alone {
		var err error
		if x, err = p.expr(); err != nil {
			return nil, err
		}
		p.Space()
		if err := p.Expect(',', "and a type in "+op); err != nil {
			return nil, err
		}
		p.Space()
		if typeName, err = p.typeName(); err != nil {
			return nil, err
		}
	}
	p.Space()
	if err := p.Expect(')', "behind the type in "+op); err != nil {
		return nil, err
	}
	if op == "cast" {
		return &Cast{At: p.RawPos(at), X: x, Type: typeName}, nil
	}
	return &IsOf{At: p.RawPos(at), X: x, Type: typeName}, nil
}

// onlyType consumes a type that is the only argument, else nothing.
func (p *parser) onlyType() (string, bool) {
	from := p.I
	if name, err := p.typeName(); err == nil {
		to := p.I
		p.Space()
		if p.Peek() == ')' {
			p.I = to
			return name, true
		}
	}
	p.I = from
	return "", false
}

// typeName consumes a type name (ABNF optionallyQualifiedTypeName).
func (p *parser) typeName() (string, error) {
	from := p.I
	collection := p.AcceptWord("Collection(")
	name, _, err := p.Name("a type name")
	if err != nil || !collection {
		return name, err
	}
	err = p.Expect(')', "behind the item type of Collection")
	return p.Text[from:p.I], err
}

// caseExpr consumes case(condition:value,...) (ABNF caseMethodCallExpr).
func (p *parser) caseExpr(at int) (Expr, error) {
	if err := p.Node(at); err != nil {
		return nil, err
	}
	c := &Case{At: p.RawPos(at)}
	p.I++
	p.Space()
	err := p.List(func() error {
		cond, err := p.expr()
		if err != nil {
			return err
		}
		p.Space()
		if err := p.Expect(':', "between condition and value of case"); err != nil {
			return err
		}
		p.Space()
		value, err := p.expr()
		c.When = append(c.When, When{Cond: cond, Value: value})
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Space()
	return c, p.Expect(')', "to close case")
}
