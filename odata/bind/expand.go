package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// expand binds $expand of one level. OData-URL 5.1.3
func (b *binding) expand(n *plan.Node, q *syntax.Query, depth int) error {
	if len(q.Expand) == 0 {
		return nil
	}
	if depth >= b.Limits.ExpandDepth {
		return b.tooDeep(q.Expand[0].Pos, depth+1)
	}
	named := map[*edm.Navigation]bool{}
	for i := range q.Expand {
		item := &q.Expand[i]
		if item.Star {
			continue
		}
		nav, err := b.expandPath(item, n.Set.Type)
		if err != nil {
			return err
		}
		if named[nav] {
			return plan.Errorf(plan.Malformed, item.Pos, "%q is expanded twice", nav.Name)
		}
		named[nav] = true
		if err := b.expandItem(n, nav, item, depth); err != nil {
			return err
		}
	}
	for i := range q.Expand {
		item := &q.Expand[i]
		if !item.Star {
			continue
		}
		if len(item.Path) > 0 && (len(item.Path) > 1 || !b.isType(item.Path[0].Name, n.Set.Type)) {
			return plan.Errorf(plan.Malformed, item.Pos, "there is nothing to expand below %q", item.Path[0].Name)
		}
		for _, nav := range n.Set.Type.Navigation {
			if named[nav] {
				continue
			}
			named[nav] = true
			if err := b.expandItem(n, nav, item, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binding) expandPath(item *syntax.ExpandItem, t *edm.EntityType) (*edm.Navigation, error) {
	if item.Value {
		return nil, plan.Errorf(plan.NotImplemented, item.Pos, "there are no media streams to expand")
	}
	path := item.Path
	if len(path) > 1 && b.isType(path[0].Name, t) {
		path = path[1:]
	}
	nav := t.Nav(path[0].Name)
	if nav == nil {
		return nil, plan.Errorf(plan.Malformed, path[0].Pos, "there is no navigation property %q%s", path[0].Name, didYouMean(path[0].Name, navigationNames(t)))
	}
	for _, id := range path[1:] {
		if !b.isType(id.Name, nav.Target.Type) {
			return nil, plan.Errorf(plan.Malformed, id.Pos, "there is no type %q here", id.Name)
		}
	}
	return nav, nil
}

// maxExpands bounds the nodes of one plan, each of which is a statement: * with $levels multiplies.
const maxExpands = 64

func (b *binding) expandItem(n *plan.Node, nav *edm.Navigation, item *syntax.ExpandItem, depth int) error {
	if b.expands++; b.expands > maxExpands {
		return plan.Errorf(plan.TooLarge, item.Pos, "$expand names more than %d navigation properties, nested ones and those of * and $levels included; this limit is fixed", maxExpands)
	}
	r, err := b.enter(nav.Target)
	if err != nil {
		return err
	}
	r.Nav, r.Outer = nav, n.Query.Range
	if item.Count && !nav.Collection {
		return plan.Errorf(plan.Malformed, item.Pos, "%q is no collection to count", nav.Name)
	}
	child := &plan.Node{
		Nav: nav, Set: nav.Target, Many: nav.Collection, Query: b.query(r),
		Ref: item.Ref, CountOnly: item.Count, Count: item.Count,
	}
	q := &syntax.Query{}
	if item.Options != nil {
		q = item.Options
	}
	if !nav.Collection {
		for _, o := range q.Options {
			switch o.Name {
			case "$filter", "$search", "$orderby", "$top", "$skip", "$count":
				return plan.Errorf(plan.Malformed, o.Pos, "%s does not apply to %q, which is no collection", o.Name, nav.Name)
			}
		}
	}
	around := b.options
	b.aliases, b.options = append(b.aliases, q.Aliases), slices.Concat(q.Options, around)
	defer func() { b.aliases, b.options = b.aliases[:len(b.aliases)-1], around }()
	inner, err := b.levels(n, nav, item, q, depth)
	if err != nil {
		return err
	}
	child.Again = b.again[q]
	child.Recursive = child.Again || len(inner.Expand) > len(q.Expand)
	if err := b.within(func() error { return b.node(child, inner, depth+1) }); err != nil {
		return err
	}
	if item.Count {
		child.Count = true
		child.Columns, child.Fields, child.Key, child.Query.Order = nil, nil, nil, nil
	}
	child.Options = b.linkOptions(inner)
	n.Expand = append(n.Expand, child)
	return nil
}

// maxLevels is how deep $levels=max goes where the depth has no limit.
const maxLevels = 16

func (b *binding) tooDeep(pos, asked int) error {
	return plan.Exceeded(pos, "expand_depth", int64(b.Limits.ExpandDepth), "$expand nests "+strconv.Itoa(asked)+" levels deep")
}

// levels turns $levels into one more level of the same item. OData-URL 5.1.3
func (b *binding) levels(n *plan.Node, nav *edm.Navigation, item *syntax.ExpandItem, q *syntax.Query, depth int) (*syntax.Query, error) {
	if q.Levels == 0 {
		return q, nil
	}
	if !item.Star && nav.Target.Type != n.Set.Type {
		return nil, plan.Errorf(plan.Malformed, item.Pos, "$levels needs a navigation property that leads to its own type")
	}
	left := q.Levels - 1
	if q.Levels == syntax.LevelsMax {
		left = int64(min(b.Limits.ExpandDepth, maxLevels) - depth - 1)
	} else if q.Levels > int64(b.Limits.ExpandDepth-depth) {
		return nil, b.tooDeep(item.Pos, depth+int(min(q.Levels, 1<<20)))
	}
	inner := *q
	inner.Levels = 0
	inner.Options = nil
	for _, o := range q.Options {
		if o.Name != "$levels" && o.Name != "$expand" {
			inner.Options = append(inner.Options, o)
		}
	}
	if left > 0 {
		again := *item
		options := *q
		options.Levels = left
		options.Options = append([]syntax.Option(nil), q.Options...)
		for i, o := range options.Options {
			if o.Name == "$levels" {
				options.Options[i].Raw = "$levels=" + strconv.FormatInt(left, 10)
			}
		}
		again.Options = &options
		b.again[again.Options] = true
		inner.Expand = append(append([]syntax.ExpandItem(nil), q.Expand...), again)
	}
	if raw := expandText(q, item, nav, left); raw != "" {
		inner.Options = append(inner.Options, syntax.Option{Name: "$expand", Raw: raw, Pos: item.Pos})
	}
	return &inner, nil
}

// expandText writes the $expand of a level whose $levels was taken apart.
func expandText(q *syntax.Query, item *syntax.ExpandItem, nav *edm.Navigation, left int64) string {
	var parts, options []string
	for _, o := range q.Options {
		switch o.Name {
		case "$expand":
			_, value, _ := strings.Cut(o.Raw, "=")
			parts = append(parts, value)
			options = append(options, o.Raw)
		case "$levels":
			options = append(options, "$levels="+strconv.FormatInt(left, 10))
		default:
			options = append(options, o.Raw)
		}
	}
	if left > 0 {
		name := nav.Name
		if item.Star {
			name = "*"
		}
		parts = append(parts, name+"("+strings.Join(options, ";")+")")
	}
	if len(parts) == 0 {
		return ""
	}
	return "$expand=" + strings.Join(parts, ",")
}

// linkOptions are the options that the next link of an expanded collection repeats.
func (b *binding) linkOptions(q *syntax.Query) string {
	var parts []string
	for _, o := range b.withAliases(q.Options) {
		if o.Name != "$skip" {
			parts = append(parts, o.Raw)
		}
	}
	return strings.Join(parts, "&")
}

// withAliases adds to the options of an expanded property the aliases in force there, of which the innermost one of a name counts.
func (b *binding) withAliases(own []syntax.Option) []syntax.Option {
	out := slices.Clone(own)
	for _, o := range b.options {
		if strings.HasPrefix(o.Name, "@") && !slices.ContainsFunc(out, func(inner syntax.Option) bool { return inner.Name == o.Name }) {
			out = append(out, o)
		}
	}
	return out
}
