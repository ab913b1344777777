package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// queryOptions reads the options from the raw position of split to the end. They
// are split at "&" and the first "=", then decoded, then parsed (OData-URL 2.2).
func (p *parser) queryOptions(split *lex.Splitter, q *Query, allowed option) error {
	query := p.Raw[split.Raw():]
	q.Options = make([]Option, 0, 1+strings.Count(query, "&"))
	var seen option
	for raw := split.Raw(); raw <= len(p.Raw); {
		pair := p.Raw[raw:]
		if n := strings.IndexByte(pair, '&'); n >= 0 {
			pair = pair[:n]
		}
		next := raw + len(pair) + 1
		if pair == "" { // as in "?a=1&": harmless
			raw = next
			continue
		}
		o := Option{Raw: pair, Pos: raw, ValuePos: raw + len(pair)}
		from := split.At(raw)
		var to int
		hasValue := false
		if n := strings.IndexByte(pair, '='); n >= 0 {
			to, hasValue = split.At(raw+n), true
			o.ValuePos = raw + n + 1
		} else {
			to = split.At(raw + len(pair))
		}
		o.Name = p.Text[from:to]
		value := split.At(o.ValuePos)
		p.Window(value, split.At(raw+len(pair)))
		o.Value = p.Rest()
		if err := p.queryOption(q, &o, from, hasValue, allowed, &seen); err != nil {
			return err
		}
		q.Options = append(q.Options, o)
		raw = next
	}
	return nil
}

// queryOption reads one option whose value is the window.
func (p *parser) queryOption(q *Query, o *Option, at int, hasValue bool, allowed option, seen *option) error {
	name := o.Name
	kind, err := p.acceptOption(o, at, allowed, seen)
	switch {
	case err != nil:
		return err
	case kind == optCustom:
		if name == "" {
			return p.Malformed(at, "an option needs a name")
		}
		return nil
	case !hasValue:
		return p.Malformed(p.End, "%s needs a value", o.Name)
	}
	if err := p.value(q, kind, o.Name, at); err != nil {
		return err
	}
	return p.atEnd()
}

// acceptOption finds out which option o is, gives it its canonical name, and checks that
// it may stand here, once.
func (p *parser) acceptOption(o *Option, at int, allowed option, seen *option) (option, error) {
	name := o.Name
	canonical, kind := p.classify(name)
	switch {
	case kind == optApply && allowed&optApply == 0 || kind == optDeltaToken:
		return 0, p.Fail(at, lex.CodeNotImplemented, "%s is not implemented", canonical)
	case kind == 0 || kind == optCustom && allowed&optCustom == 0:
		return 0, p.unknownOption(at, name)
	case kind&allowed == 0:
		return 0, p.Fail(at, lex.CodeUnknownOption, "the option %s cannot stand here", name)
	case kind&*seen&^(optAlias|optCustom) != 0:
		return 0, p.Fail(at, lex.CodeDuplicateOption, "the option %s is given twice", canonical)
	}
	*seen |= kind
	o.Name = canonical
	return kind, nil
}

// value reads the value of a system query option or alias, up to where it ends.
func (p *parser) value(q *Query, kind option, name string, at int) (err error) {
	switch kind {
	case optApply:
		q.Apply, err = p.sequence()
	case optFilter:
		q.Filter, err = p.expr()
	case optOrderBy:
		err = p.orderBy(q)
	case optTop:
		q.Top, err = p.count(name)
	case optSkip:
		q.Skip, err = p.count(name)
	case optCount:
		q.Count, err = p.boolean()
	case optSelect:
		err = p.selection(q)
	case optExpand:
		err = p.expansion(q)
	case optSearch:
		q.Search, err = p.search()
	case optCompute:
		err = p.compute(q)
	case optLevels:
		q.Levels, err = p.levels()
	case optAlias:
		err = p.alias(q, name, at)
	case optIndex:
		q.Index, err = p.index()
	case optFormat:
		q.Format, err = p.format()
	case optID:
		q.ID, err = p.opaque(name)
	case optSkipToken:
		q.SkipToken, err = p.opaque(name)
	case optSchemaVersion:
		q.SchemaVersion, err = p.schemaVersion()
	}
	return err
}

// nestedOptions reads the parentheses behind an item of $expand, $select or behind
// $count: options separated by ";". There are no custom ones.
func (p *parser) nestedOptions(allowed option) (*Query, error) {
	if err := p.Enter(); err != nil {
		return nil, err
	}
	defer p.Leave()
	p.I++
	q := &Query{}
	var seen option
	for {
		p.Space()
		at := p.I
		o := Option{Pos: p.RawPos(at)}
		for p.I < p.End && !strings.ContainsRune("=;)(", rune(p.Text[p.I])) {
			p.I++
		}
		o.Name = p.Text[at:p.I]
		if p.AnyCase && strings.EqualFold(o.Name, "levels") {
			o.Name = "$levels"
		}
		kind, err := p.acceptOption(&o, at, allowed, &seen)
		if err != nil {
			return nil, err
		}
		if err := p.Expect('=', "behind "+o.Name); err != nil {
			return nil, err
		}
		o.ValuePos = p.RawPos(p.I)
		from := p.I
		if err := p.value(q, kind, o.Name, at); err != nil {
			return nil, err
		}
		o.Value, o.Raw = p.Text[from:p.I], p.Raw[o.Pos:p.RawPos(p.I)]
		q.Options = append(q.Options, o)
		after := p.I
		p.Space()
		switch {
		case p.Accept(')'):
			return q, nil
		case p.I == p.End:
			return nil, p.Malformed(p.I, "expected \")\" to close the options")
		case !p.Accept(';'):
			p.I = after
			return nil, p.unexpected()
		}
	}
}

// orderBy reads the value of $orderby (ABNF orderby).
func (p *parser) orderBy(q *Query) error {
	q.OrderBy = make([]OrderItem, 0, 2)
	return p.List(func() error {
		e, err := p.expr()
		if err != nil {
			return err
		}
		item := OrderItem{Expr: e}
		from := p.I
		if p.Space() {
			to := p.ScanIdent(p.I)
			switch word := p.Text[p.I:to]; {
			case p.WordIs(word, "desc"):
				item.Desc = true
				p.I = to
			case p.WordIs(word, "asc"):
				p.I = to
			default:
				p.I = from
			}
		}
		q.OrderBy = append(q.OrderBy, item)
		return nil
	})
}

// compute reads the value of $compute (ABNF compute).
func (p *parser) compute(q *Query) error {
	return p.List(func() error {
		e, err := p.expr()
		if err != nil {
			return err
		}
		spaced := p.Space()
		to := p.ScanIdent(p.I)
		if !spaced || !p.WordIs(p.Text[p.I:to], "as") || !lex.IsSpace(p.PeekAt(to)) {
			return p.Malformed(p.I, "expected \" as \" and a name")
		}
		p.I = to
		p.Space()
		item := ComputeItem{Expr: e, AsPos: p.RawPos(p.I)}
		item.As, err = p.Ident("a name behind as")
		q.Compute = append(q.Compute, item)
		return err
	})
}

// alias reads the value of a parameter alias (ABNF aliasAndValue).
func (p *parser) alias(q *Query, name string, at int) error {
	if to := p.ScanIdent(at + 1); to == at+1 || to != at+len(name) {
		return p.Malformed(at, "a parameter alias is @ and a name")
	}
	for _, a := range q.Aliases {
		if a.Name == name {
			return p.Fail(at, lex.CodeDuplicateOption, "the alias %s is given twice", name)
		}
	}
	e, err := p.expr()
	q.Aliases = append(q.Aliases, Alias{Pos: p.RawPos(at), Name: name, Value: e})
	return err
}
