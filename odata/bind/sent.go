package bind

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// withSent returns the options of a request that creates an entity, with the navigation properties expanded that the body has
// entities for (OData-Protocol 11.4.2.2).
func withSent(q *syntax.Query, e *Entity) *syntax.Query {
	sent := &sentNav{}
	sent.add(e)
	if len(sent.below) == 0 {
		return q
	}
	out := *q
	out.Expand, out.Options = sent.expand(q)
	return &out
}

// sentNav is a navigation property with those that entities of the body have below it.
type sentNav struct {
	nav   *edm.Navigation
	below []*sentNav
}

func (s *sentNav) add(e *Entity) {
	for i := range e.Related {
		rel := &e.Related[i]
		if !rel.Inline {
			continue
		}
		at := slices.IndexFunc(s.below, func(b *sentNav) bool { return b.nav == rel.Nav })
		if at < 0 {
			at, s.below = len(s.below), append(s.below, &sentNav{nav: rel.Nav})
		}
		for _, entity := range rel.Entities {
			s.below[at].add(entity)
		}
	}
}

// expand adds the properties to those that the client expands, and to the text of the options that next links repeat.
func (s *sentNav) expand(q *syntax.Query) ([]syntax.ExpandItem, []syntax.Option) {
	items := slices.Clone(q.Expand)
	for _, b := range s.below {
		at := slices.IndexFunc(items, func(i syntax.ExpandItem) bool {
			return !i.Star && slices.ContainsFunc(i.Path, func(id syntax.Ident) bool { return id.Name == b.nav.Name })
		})
		if at < 0 {
			at, items = len(items), append(items, syntax.ExpandItem{Path: []syntax.Ident{{Name: b.nav.Name}}})
		}
		if len(b.below) == 0 || items[at].Ref || items[at].Count {
			continue
		}
		options := syntax.Query{}
		if items[at].Options != nil {
			options = *items[at].Options
		}
		options.Expand, options.Options = b.expand(&options)
		items[at].Options = &options
	}
	options := slices.DeleteFunc(slices.Clone(q.Options), func(o syntax.Option) bool { return o.Name == "$expand" })
	return items, append(options, syntax.Option{Name: "$expand", Raw: "$expand=" + itemsText(q, items)})
}

// itemsText writes items of $expand. Those of the client are written as they were sent.
func itemsText(q *syntax.Query, items []syntax.ExpandItem) string {
	var parts []string
	for _, o := range q.Options {
		if o.Name == "$expand" {
			_, value, _ := strings.Cut(o.Raw, "=")
			parts = append(parts, value)
		}
	}
	for _, item := range items[len(q.Expand):] {
		text := item.Path[0].Name
		if item.Options != nil && len(item.Options.Options) > 0 {
			raw := make([]string, len(item.Options.Options))
			for i, o := range item.Options.Options {
				raw[i] = o.Raw
			}
			text += "(" + strings.Join(raw, ";") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}
