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
func (p *parser) expr() (Expr, error) {
	if err := p.Enter(); err != nil {
		return nil, err
	}
	defer p.Leave()
	return p.binary(precOr)
}

// binary consumes operands joined by operators of precedence least or higher.
func (p *parser) binary(least int) (Expr, error) {
	x, err := p.unary()
	for err == nil {
		op, prec, at, after := p.nextOperator()
		if prec < least {
			return x, nil
		}
		p.I = after
		var y Expr
		if y, err = p.binary(prec + 1); err == nil {
			x, err = p.join(at, op, x, y)
		}
	}
	return nil, err
}

func (p *parser) join(at int, op string, x, y Expr) (Expr, error) {
	if err := p.Node(at); err != nil {
		return nil, err
	}
	return &Binary{At: p.RawPos(at), Op: op, X: x, Y: y}, nil
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
func (p *parser) unary() (Expr, error) {
	at := p.I
	var op string
	switch c := p.Peek(); {
	case c == '-':
		l, err := p.tryLiteral() // a negative number
		if err != nil {
			return nil, err
		}
		if l != nil {
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
		x, err := p.primary()
		if err != nil {
			return nil, err
		}
		return p.postfix(x)
	}
	if err := p.Enter(); err != nil {
		return nil, err
	}
	defer p.Leave()
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	if err := p.Node(at); err != nil {
		return nil, err
	}
	return &Unary{At: p.RawPos(at), Op: op, X: x}, nil
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
func (p *parser) postfix(x Expr) (Expr, error) {
	for {
		op, prec, at, after := p.nextOperator()
		if prec != precPrimary {
			return x, nil
		}
		p.I = after
		var y Expr
		var err error
		if op == "has" {
			y, err = p.hasOperand()
		} else {
			y, err = p.inOperand()
		}
		if err == nil {
			x, err = p.join(at, op, x, y)
		}
		if err != nil {
			return nil, err
		}
	}
}

// hasOperand consumes an enumeration literal (ABNF hasExpr), for which an alias
// may stand (OData-URL 5.3).
func (p *parser) hasOperand() (Expr, error) {
	at := p.I
	y, err := p.primary()
	if err != nil {
		return nil, err
	}
	switch y := y.(type) {
	case *Literal:
		if y.Kind == Enum || y.Kind == String {
			return y, nil
		}
	case *Path:
		if strings.HasPrefix(y.Root, "@") && len(y.Segments) == 0 {
			return y, nil
		}
	}
	return nil, p.Malformed(at, "expected an enumeration value behind has")
}

// inOperand consumes a list in parentheses (ABNF listExpr) or an expression that
// gives a collection, which may be in parentheses too.
func (p *parser) inOperand() (Expr, error) {
	at := p.I
	if !p.Accept('(') {
		return p.primary()
	}
	list := &List{At: p.RawPos(at)}
	p.Space()
	if p.Accept(')') {
		return list, p.Node(at)
	}
	for {
		item := p.I
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		p.Space()
		_, isLiteral := x.(*Literal)
		last := p.Accept(')')
		switch {
		case last && !isLiteral && len(list.Items) == 0:
			return x, nil
		case !isLiteral:
			return nil, p.Malformed(item, "a list in parentheses holds literals only; for others write [a,b]")
		}
		list.Items = append(list.Items, x)
		if last {
			return list, p.Node(at)
		}
		if err := p.Expect(',', "or \")\" in the list"); err != nil {
			return nil, err
		}
		p.Space()
	}
}

// primary consumes an operand.
func (p *parser) primary() (Expr, error) {
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
	l, err := p.tryLiteral()
	switch {
	case err != nil:
		return nil, err
	case l != nil:
		return l, nil
	}
	return p.nameOrCall()
}

// parenthesis consumes "(" expr ")" (ABNF parenExpr); the tree has no node for it.
func (p *parser) parenthesis() (Expr, error) {
	p.I++
	p.Space()
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	p.Space()
	return x, p.Expect(')', "to close the parenthesis")
}

// atEnd fails unless the window is used up.
func (p *parser) atEnd() error {
	if p.I == p.End {
		return nil
	}
	return p.unexpected()
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
