package syntax

import "strings"

// expansion reads the value of $expand (ABNF expand).
func (p *parser) expansion(q *Query) error {
	q.Expand = make([]ExpandItem, 0, 2)
	return p.List(func() error {
		q.Expand = append(q.Expand, ExpandItem{Pos: p.RawPos(p.I)})
		return p.expandItem(&q.Expand[len(q.Expand)-1])
	})
}

func (p *parser) expandItem(item *ExpandItem) error {
	if p.Peek() == '$' {
		if to := p.ScanIdent(p.I + 1); p.Text[p.I:to] == segValue {
			p.I = to
			item.Value = true
			return nil
		}
	}
	for {
		switch p.Peek() {
		case '*':
			p.I++
			item.Star = true
			return p.afterStar(item)
		case '$':
			return p.expandSystem(item)
		}
		part, err := p.pathIdent()
		if err != nil {
			return err
		}
		item.Path = append(item.Path, part)
		if !p.Accept('/') {
			return p.expandOptions(item, onExpansion)
		}
	}
}

// pathIdent reads one name of a path in $expand or $select.
func (p *parser) pathIdent() (id Ident, err error) {
	id.Pos = p.RawPos(p.I)
	if p.Peek() == '@' {
		id.Name, _, err = p.Annotation()
	} else {
		id.Name, _, err = p.Name("a name")
	}
	return id, err
}

// expandSystem reads $ref or $count at the end of an item.
func (p *parser) expandSystem(item *ExpandItem) error {
	at := p.I
	to := p.ScanIdent(at + 1)
	name := p.Text[at:to]
	if len(item.Path) == 0 || name != segRef && name != segCount {
		return p.Malformed(at, "%s cannot be expanded", name)
	}
	p.I = to
	if name == segRef {
		item.Ref = true
		return p.expandOptions(item, onRefs)
	}
	item.Count = true
	return p.expandOptions(item, optFilter|optSearch)
}

// afterStar reads what can follow "*": "/$ref" or $levels.
func (p *parser) afterStar(item *ExpandItem) error {
	if p.AcceptWord("/" + segRef) {
		item.Ref = true
		return nil
	}
	return p.expandOptions(item, optLevels)
}

func (p *parser) expandOptions(item *ExpandItem, allowed option) (err error) {
	if p.Peek() == '(' {
		item.Options, err = p.nestedOptions(allowed)
	}
	return err
}

// selection reads the value of $select (ABNF select).
func (p *parser) selection(q *Query) error {
	q.Select = make([]SelectItem, 0, 1+strings.Count(p.Rest(), ","))
	return p.List(func() error {
		q.Select = append(q.Select, SelectItem{Pos: p.RawPos(p.I)})
		return p.selectItem(&q.Select[len(q.Select)-1])
	})
}

func (p *parser) selectItem(item *SelectItem) error {
	if p.Accept('*') {
		item.Star = true
		return nil
	}
	item.Path = item.one[:0]
	for {
		part, err := p.pathIdent()
		if err != nil {
			return err
		}
		item.Path = append(item.Path, part)
		if len(item.Path) == 1 && p.AcceptWord(".*") {
			item.Star = true
			return nil
		}
		if !p.Accept('/') {
			break
		}
	}
	if p.Peek() != '(' {
		return nil
	}
	var err error
	if p.hasParameterNames() {
		item.Params, err = p.parameterNames()
	} else {
		item.Options, err = p.nestedOptions(onSelection)
	}
	return err
}

// hasParameterNames tells the names of Model.Function(a,b) from nested options,
// which have an "=".
func (p *parser) hasParameterNames() bool {
	to := p.ScanIdent(p.I + 1)
	return to > p.I+1 && p.PeekAt(to) != '='
}

// parameterNames reads the names that tell overloads apart (ABNF parameterNames).
func (p *parser) parameterNames() (names []string, err error) {
	p.I++
	err = p.List(func() error {
		name, err := p.Ident("a parameter name")
		names = append(names, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, p.Expect(')', "to close the parameter names")
}
