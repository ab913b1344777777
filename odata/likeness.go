package odata

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A likeness is what the plans of many targets have in common: the target without the number of its $skip, and without the
// options that have no meaning here. Pages of a collection differ in nothing else, and so do requests with an option that
// is to keep caches from answering.
type likeness struct {
	// target stands for all of them.
	target string
	// skip is the number that was taken out; -1 for none.
	skip int64
}

// likenessOf is false where nothing can be taken out of a target: a request of OData 4.01, whose options have many
// spellings, one with a $skip or a custom option of unusual characters, and one with neither.
func likenessOf(key planKey) (l likeness, ok bool) {
	path, query, _ := strings.Cut(key.target, "?")
	if key.v401 || query == "" || len(key.target) > maxTarget || strings.Contains(query, "#") {
		return l, false
	}
	var b strings.Builder
	b.Grow(len(key.target) + len("#custom"))
	b.WriteString(path + "?")
	l.skip = -1
	custom := false
	for rest, pair := query, ""; rest != ""; {
		pair, rest, _ = strings.Cut(rest, "&")
		switch number, isSkip := strings.CutPrefix(pair, "$skip="); {
		case isSkip:
			n, ok := digits(number)
			if !ok || l.skip >= 0 {
				return l, false
			}
			l.skip = n
			b.WriteString("#skip&") // no target that has a plan has this character
		case isPlainOption(pair):
			custom = true
		default:
			b.WriteString(pair)
			b.WriteByte('&')
		}
	}
	if custom {
		b.WriteString("#custom") // a resource that takes one takes all of them
	}
	l.target = b.String()
	return l, custom || l.skip >= 0
}

// digits reads a number that can be nothing else.
func digits(s string) (int64, bool) {
	if s == "" || len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// isPlainOption tells whether a pair is a custom option without anything that could be malformed.
func isPlainOption(pair string) bool {
	for i := range len(pair) {
		switch c := pair[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '.' || c == '~' || c == '='):
		default:
			return false
		}
	}
	return pair != ""
}

// like gives a plan for the target of a key, made from one of its likeness; nil where there is none.
func (c *cache) like(key planKey, l likeness) *planned {
	key.target = l.target
	c.mu.Lock()
	from := c.likenesses[key]
	c.mu.Unlock()
	if from == nil || l.skip < 0 {
		return from.again()
	}
	return &planned{plan: from.plan.From(l.skip), format: from.format, layout: from.layout}
}

// again is the same plan for another target, whose answers are its own.
func (p *planned) again() *planned {
	if p == nil {
		return nil
	}
	return &planned{plan: p.plan, format: p.format, layout: p.layout}
}

// addLike keeps a plan for the targets of its likeness.
func (c *cache) addLike(key planKey, l likeness, p *planned) {
	if l.skip >= 0 && p.plan.Kind != plan.Collection {
		return // $skip has no meaning there, or another one
	}
	key.target = l.target
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.likenesses == nil || len(c.likenesses) >= maxPlans {
		c.likenesses = map[planKey]*planned{}
	}
	c.likenesses[key] = p.again()
}
