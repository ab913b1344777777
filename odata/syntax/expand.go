package syntax

import "strings"

// expansion reads the value of $expand (ABNF expand).
func (p *parser) expansion(q *Query) {
	q.Expand = make([]ExpandItem, 0, 2)
	p.List(func() {
		q.Expand = append(q.Expand, ExpandItem{Pos: p.RawPos(p.I)})
		p.expandItem(&q.Expand[len(q.Expand)-1])
	})
}

func (p *parser) expandItem(item *ExpandItem) {
	if p.Peek() == '$' {
		if to := p.ScanIdent(p.I + 1); p.Text[p.I:to] == segValue {
			p.I = to
			item.Value = true
			return
		}
	}
	for {
		switch p.Peek() {
		case '*':
			p.I++
			item.Star = true
			if p.AcceptWord("/" + segRef) {
				item.Ref = true
			} else { // $levels
				p.expandOptions(item, optLevels)
			}
			return
		case '$':
			p.expandSystem(item)
			return
		}
		item.Path = append(item.Path, p.pathIdent())
		if !p.Accept('/') {
			p.expandOptions(item, onExpansion)
			return
		}
	}
}

// pathIdent reads one name of a path in $expand or $select.
func (p *parser) pathIdent() (id Ident) {
	id.Pos = p.RawPos(p.I)
	if p.Peek() == '@' {
		id.Name, _ = p.Annotation()
	} else {
		id.Name, _ = p.Name("a name")
	}
	return id
}

// expandSystem reads $ref or $count at the end of an item.
func (p *parser) expandSystem(item *ExpandItem) {
	at := p.I
	to := p.ScanIdent(at + 1)
	name := p.Text[at:to]
	if len(item.Path) == 0 || name != segRef && name != segCount {
		panic(p.Malformed(at, "%s cannot be expanded", name))
	}
	p.I = to
	if name == segRef {
		item.Ref = true
		p.expandOptions(item, onRefs)
		return
	}
	item.Count = true
	p.expandOptions(item, optFilter|optSearch)
}

func (p *parser) expandOptions(item *ExpandItem, allowed option) {
	if p.Peek() == '(' {
		item.Options = p.nestedOptions(allowed)
	}
}

// selection reads the value of $select (ABNF select).
func (p *parser) selection(q *Query) {
	q.Select = make([]SelectItem, 0, 1+strings.Count(p.Rest(), ","))
	p.List(func() {
		q.Select = append(q.Select, SelectItem{Pos: p.RawPos(p.I)})
		p.selectItem(&q.Select[len(q.Select)-1])
	})
}

func (p *parser) selectItem(item *SelectItem) {
	if p.Accept('*') {
		item.Star = true
		return
	}
	item.Path = item.one[:0]
	for {
		item.Path = append(item.Path, p.pathIdent())
		if len(item.Path) == 1 && p.AcceptWord(".*") {
			item.Star = true
			return
		}
		if !p.Accept('/') {
			break
		}
	}
	if p.Peek() != '(' {
		return
	}
	if p.hasParameterNames() {
		item.Params = p.parameterNames()
	} else {
		item.Options = p.nestedOptions(onSelection)
	}
}

// hasParameterNames tells the names of Model.Function(a,b) from nested options,
// which have an "=".
func (p *parser) hasParameterNames() bool {
	to := p.ScanIdent(p.I + 1)
	return to > p.I+1 && p.PeekAt(to) != '='
}

// parameterNames reads the names that tell overloads apart (ABNF parameterNames).
func (p *parser) parameterNames() (names []string) {
	p.I++
	p.List(func() { names = append(names, p.Ident("a parameter name")) })
	p.Expect(')', "to close the parameter names")
	return names
}
