package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// queryOptions reads the options from the raw position of offsets to the end. They
// are split at "&" and the first "=", then decoded, then parsed (OData-URL 2.2).
func (p *parser) queryOptions(offsets *lex.OffsetMap, q *Query, allowed option) {
	query := p.Raw[offsets.Raw():]
	q.Options = make([]Option, 0, 1+strings.Count(query, "&"))
	var seen option
	for raw := offsets.Raw(); raw <= len(p.Raw); {
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
		from := offsets.At(raw)
		var to int
		hasValue := false
		if n := strings.IndexByte(pair, '='); n >= 0 {
			to, hasValue = offsets.At(raw+n), true
			o.ValuePos = raw + n + 1
		} else {
			to = offsets.At(raw + len(pair))
		}
		o.Name = p.Text[from:to]
		value := offsets.At(o.ValuePos)
		p.Window(value, offsets.At(raw+len(pair)))
		o.Value = p.Rest()
		p.queryOption(q, &o, from, hasValue, allowed, &seen)
		q.Options = append(q.Options, o)
		raw = next
	}
}

// queryOption reads one option whose value is the window.
func (p *parser) queryOption(q *Query, o *Option, at int, hasValue bool, allowed option, seen *option) {
	name := o.Name
	kind := p.acceptOption(o, at, allowed, seen)
	switch {
	case kind == optCustom:
		if name == "" {
			panic(p.Malformed(at, "an option needs a name"))
		}
		return
	case !hasValue:
		panic(p.Malformed(p.End, "%s needs a value", o.Name))
	}
	p.value(q, kind, o.Name, at)
	p.atEnd()
}

// acceptOption finds out which option o is, gives it its canonical name, and checks that
// it may stand here, once.
func (p *parser) acceptOption(o *Option, at int, allowed option, seen *option) option {
	name := o.Name
	canonical, kind := p.classify(name)
	switch {
	case kind == optApply && allowed&optApply == 0 || kind == optDeltaToken:
		panic(p.Fail(at, lex.CodeNotImplemented, "%s is not implemented", canonical))
	case kind == 0 || kind == optCustom && allowed&optCustom == 0:
		panic(p.unknownOption(at, name))
	case kind&allowed == 0:
		panic(p.Fail(at, lex.CodeUnknownOption, "the option %s cannot stand here", name))
	case kind&*seen&^(optAlias|optCustom) != 0:
		panic(p.Fail(at, lex.CodeDuplicateOption, "the option %s is given twice", canonical))
	}
	*seen |= kind
	o.Name = canonical
	return kind
}

// value reads the value of a system query option or alias, up to where it ends.
func (p *parser) value(q *Query, kind option, name string, at int) {
	switch kind {
	case optApply:
		q.Apply = p.sequence()
	case optFilter:
		q.Filter = p.expr()
	case optOrderBy:
		q.OrderBy = p.orderBy()
	case optTop:
		q.Top = p.count(name)
	case optSkip:
		q.Skip = p.count(name)
	case optCount:
		q.Count = p.boolean()
	case optSelect:
		p.selection(q)
	case optExpand:
		p.expansion(q)
	case optSearch:
		q.Search = p.search()
	case optCompute:
		q.Compute = p.compute()
	case optLevels:
		q.Levels = p.levels()
	case optAlias:
		p.alias(q, name, at)
	case optIndex:
		q.Index = p.index()
	case optFormat:
		q.Format = p.format()
	case optID:
		q.ID = p.opaque(name)
	case optSkipToken:
		q.SkipToken = p.opaque(name)
	case optSchemaVersion:
		q.SchemaVersion = p.schemaVersion()
	}
}

// nestedOptions reads the parentheses behind an item of $expand, $select or behind
// $count: options separated by ";". There are no custom ones.
func (p *parser) nestedOptions(allowed option) *Query {
	p.Enter()
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
		kind := p.acceptOption(&o, at, allowed, &seen)
		p.Expect('=', "behind "+o.Name)
		o.ValuePos = p.RawPos(p.I)
		from := p.I
		p.value(q, kind, o.Name, at)
		o.Value, o.Raw = p.Text[from:p.I], p.Raw[o.Pos:p.RawPos(p.I)]
		q.Options = append(q.Options, o)
		after := p.I
		p.Space()
		switch {
		case p.Accept(')'):
			return q
		case p.I == p.End:
			panic(p.Malformed(p.I, "expected \")\" to close the options"))
		case !p.Accept(';'):
			p.I = after
			panic(p.unexpected())
		}
	}
}

// orderBy reads the value of $orderby (ABNF orderby).
func (p *parser) orderBy() []OrderItem {
	list := make([]OrderItem, 0, 2)
	p.List(func() {
		item := OrderItem{Expr: p.expr()}
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
		list = append(list, item)
	})
	return list
}

// compute reads the value of $compute (ABNF compute).
func (p *parser) compute() (list []ComputeItem) {
	p.List(func() {
		e := p.expr()
		if !p.keyword("as") {
			p.Space()
			panic(p.Malformed(p.I, "expected \" as \" and a name"))
		}
		list = append(list, ComputeItem{Expr: e, AsPos: p.RawPos(p.I), As: p.Ident("a name behind as")})
	})
	return list
}

// alias reads the value of a parameter alias (ABNF aliasAndValue).
func (p *parser) alias(q *Query, name string, at int) {
	if to := p.ScanIdent(at + 1); to == at+1 || to != at+len(name) {
		panic(p.Malformed(at, "a parameter alias is @ and a name"))
	}
	for _, a := range q.Aliases {
		if a.Name == name {
			panic(p.Fail(at, lex.CodeDuplicateOption, "the alias %s is given twice", name))
		}
	}
	q.Aliases = append(q.Aliases, Alias{Pos: p.RawPos(at), Name: name, Value: p.expr()})
}
