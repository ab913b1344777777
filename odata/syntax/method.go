package syntax

import "strings"

// nameOrCall consumes what starts with a name: a canonical function, cast, isof,
// case, or a path.
func (p *parser) nameOrCall() Expr {
	at := p.I
	if p.Peek() == '"' {
		panic(p.Malformed(at, "text is put in single quotes, and dates and numbers in none"))
	}
	name, _ := p.Name("an expression")
	if p.Peek() == '(' {
		if call := p.call(at, name); call != nil {
			return call
		}
	}
	p.I = at
	return p.memberPath(at)
}

// call consumes the arguments of a canonical function. It returns nil when the
// name is not that of one.
func (p *parser) call(at int, name string) Expr {
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
		return nil
	}
	p.Node(at)
	c := &Call{At: At(p.RawPos(at)), Func: canonical}
	p.I++
	p.Space()
	if p.Accept(')') {
		p.checkArity(c, at, least, most)
		return c
	}
	if most > 0 {
		c.Args = make([]Expr, 0, most)
	}
	p.List(func() { c.Args = append(c.Args, p.expr()) })
	p.Space()
	p.Expect(')', "or \",\" behind an argument of "+canonical)
	p.checkArity(c, at, least, most)
	return c
}

func (p *parser) checkArity(c *Call, at, least, most int) {
	if n := len(c.Args); n < least || n > most {
		panic(p.Malformed(at, "%s takes %s", c.Func, arity(least, most)))
	}
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
func (p *parser) typeTest(at int, op string) Expr {
	p.Node(at)
	p.I++
	p.Space()
	var x Expr
	typeName, alone := p.onlyType()
	if !alone {
		x = p.expr()
		p.Space()
		p.Expect(',', "and a type in "+op)
		p.Space()
		typeName = p.typeName()
	}
	p.Space()
	p.Expect(')', "behind the type in "+op)
	if op == "cast" {
		return &Cast{At: At(p.RawPos(at)), X: x, Type: typeName}
	}
	return &IsOf{At: At(p.RawPos(at)), X: x, Type: typeName}
}

// onlyType consumes a type that is the only argument, else nothing.
func (p *parser) onlyType() (string, bool) {
	from := p.I
	var name string
	if err := try(func() { name = p.typeName() }); err == nil {
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
func (p *parser) typeName() string {
	from := p.I
	collection := p.AcceptWord("Collection(")
	name, _ := p.Name("a type name")
	if !collection {
		return name
	}
	p.Expect(')', "behind the item type of Collection")
	return p.Text[from:p.I]
}

// caseExpr consumes case(condition:value,...) (ABNF caseMethodCallExpr).
func (p *parser) caseExpr(at int) Expr {
	p.Node(at)
	c := &Case{At: At(p.RawPos(at))}
	p.I++
	p.Space()
	p.List(func() {
		cond := p.expr()
		p.Space()
		p.Expect(':', "between condition and value of case")
		p.Space()
		c.When = append(c.When, When{Cond: cond, Value: p.expr()})
	})
	p.Space()
	p.Expect(')', "to close case")
	return c
}
