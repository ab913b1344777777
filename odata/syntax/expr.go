package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// Precedence of operators, loosest first (OData-URL 5.1.1.17). "has" and "in" are
// primary: they bind tighter than "not" and "-".
const (
	precOr = iota + 1
	precAnd
	precEquality
	precRelational
	precAdditive
	precMultiplicative
	precUnary
	precPrimary
)

// operator returns the canonical spelling and the precedence of a binary
// operator, or 0.
func operator(word string) (string, int) {
	switch word {
	case "or":
		return "or", precOr
	case "and":
		return "and", precAnd
	case "eq", "ne":
		return word, precEquality
	case "gt", "ge", "lt", "le":
		return word, precRelational
	case "add", "sub":
		return word, precAdditive
	case "mul", "div", "divby", "mod":
		return word, precMultiplicative
	case "has", "in":
		return word, precPrimary
	}
	return "", 0
}

// expr consumes an expression (ABNF commonExpr).
func (p *parser) expr() Expr {
	p.Enter()
	defer p.Leave()
	return p.binary(precOr)
}

// binary consumes operands joined by operators of precedence least or higher.
func (p *parser) binary(least int) Expr {
	x := p.unary()
	for {
		op, prec, at, after := p.nextOperator()
		if prec < least {
			return x
		}
		p.I = after
		x = p.join(at, op, x, p.binary(prec+1))
	}
}

func (p *parser) join(at int, op string, x, y Expr) Expr {
	p.Node(at)
	return &Binary{At: At(p.RawPos(at)), Op: op, X: x, Y: y}
}

// nextOperator looks for RWS operator RWS without consuming it. The precedence is
// 0 if there is none.
func (p *parser) nextOperator() (op string, prec, at, after int) {
	at = p.I
	for at < p.End && lex.IsSpace(p.Text[at]) {
		at++
	}
	after = at
	for after < p.End && p.Text[after]|0x20 >= 'a' && p.Text[after]|0x20 <= 'z' {
		after++
	}
	if at == p.I || after == at || !lex.IsSpace(p.PeekAt(after)) {
		return "", 0, at, after
	}
	word := p.Text[at:after]
	if p.AnyCase {
		word = strings.ToLower(word)
	}
	op, prec = operator(word)
	for after < p.End && lex.IsSpace(p.Text[after]) {
		after++
	}
	return op, prec, at, after
}

// unary consumes "not" and "-" with what they apply to.
func (p *parser) unary() Expr {
	at := p.I
	var op string
	switch c := p.Peek(); {
	case c == '-':
		if l := p.tryLiteral(); l != nil { // a negative number
			return p.postfix(l)
		}
		op = "-"
		p.I++
		p.Space()
	case c|0x20 == 'n' && p.isNot():
		op = "not"
		p.I += len(op)
		p.Space()
	default:
		return p.postfix(p.primary())
	}
	p.Enter()
	defer p.Leave()
	x := p.unary()
	p.Node(at)
	return &Unary{At: At(p.RawPos(at)), Op: op, X: x}
}

// isNot tells the operator from a property of that name. The grammar wants a blank
// behind it; a parenthesis is as clear.
func (p *parser) isNot() bool {
	to := p.ScanIdent(p.I)
	if !p.WordIs(p.Text[p.I:to], "not") {
		return false
	}
	c := p.PeekAt(to)
	return lex.IsSpace(c) || c == '('
}

// postfix consumes "has" and "in" behind their left operand.
func (p *parser) postfix(x Expr) Expr {
	for {
		op, prec, at, after := p.nextOperator()
		if prec != precPrimary {
			return x
		}
		p.I = after
		var y Expr
		if op == "has" {
			y = p.hasOperand()
		} else {
			y = p.inOperand()
		}
		x = p.join(at, op, x, y)
	}
}

// hasOperand consumes an enumeration literal (ABNF hasExpr), for which an alias
// may stand (OData-URL 5.3).
func (p *parser) hasOperand() Expr {
	at := p.I
	y := p.primary()
	switch y := y.(type) {
	case *Literal:
		if y.Kind == Enum || y.Kind == String {
			return y
		}
	case *Path:
		if strings.HasPrefix(y.Root, "@") && len(y.Segments) == 0 {
			return y
		}
	}
	panic(p.Malformed(at, "expected an enumeration value behind has"))
}

// inOperand consumes a list in parentheses (ABNF listExpr) or an expression that
// gives a collection, which may be in parentheses too.
func (p *parser) inOperand() Expr {
	at := p.I
	if !p.Accept('(') {
		return p.primary()
	}
	list := &List{At: At(p.RawPos(at))}
	p.Space()
	if p.Accept(')') {
		p.Node(at)
		return list
	}
	for {
		item := p.I
		x := p.expr()
		p.Space()
		_, isLiteral := x.(*Literal)
		last := p.Accept(')')
		switch {
		case last && !isLiteral && len(list.Items) == 0:
			return x
		case !isLiteral:
			panic(p.Malformed(item, "a list in parentheses holds literals only; for others write [a,b]"))
		}
		list.Items = append(list.Items, x)
		if last {
			p.Node(at)
			return list
		}
		p.Expect(',', "or \")\" in the list")
		p.Space()
	}
}

// primary consumes an operand.
func (p *parser) primary() Expr {
	switch p.Peek() {
	case '(':
		return p.parenthesis()
	case '[':
		return p.array()
	case '{':
		return p.object()
	case '$':
		return p.variable()
	case '@':
		return p.aliasPath()
	}
	if l := p.tryLiteral(); l != nil {
		return l
	}
	return p.nameOrCall()
}

// parenthesis consumes "(" expr ")" (ABNF parenExpr); the tree has no node for it.
func (p *parser) parenthesis() Expr {
	p.I++
	p.Space()
	x := p.expr()
	p.Space()
	p.Expect(')', "to close the parenthesis")
	return x
}

// atEnd fails unless the window is used up.
func (p *parser) atEnd() {
	if p.I != p.End {
		panic(p.unexpected())
	}
}

// unexpected is the error for text behind a complete expression.
func (p *parser) unexpected() error {
	at := p.I
	spaced := p.Space()
	from := p.I
	word := p.Text[from:p.ScanIdent(from)]
	lower := strings.ToLower(word)
	_, known := operator(lower)
	switch {
	case p.I == p.End:
		return p.Malformed(at, "blanks at the end are not allowed")
	case spaced && known > 0 && word != lower && !p.AnyCase:
		return p.Malformed(from, "operators are lower case in OData 4.0: write %s", lower)
	case spaced && known > 0 && from+len(word) < p.End:
		return p.Malformed(from, "a blank is needed behind %s", word)
	case spaced && known > 0:
		return p.Malformed(from, "expected an operand behind %s", word)
	case spaced && word != "":
		return p.Malformed(from, "unknown operator %q", word)
	case known > 0:
		return p.Malformed(from, "a blank is needed before %s", word)
	}
	return p.Malformed(at, "unexpected text")
}
