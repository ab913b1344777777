package odata

import (
	"slices"
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
	c.keepLike(key, p)
}

func (c *cache) keepLike(key planKey, p *planned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.likenesses == nil || len(c.likenesses) >= maxPlans {
		c.likenesses = map[planKey]*planned{}
	}
	c.likenesses[key] = p.again()
}

// A numbering is a target without the numbers that its filter compares with: clients ask for one product after another,
// and for all above one price and then another. Such targets have one plan but for these numbers.
type numbering struct {
	target  string
	numbers []int64
	// at are their places in the target that they were taken out of, from 1.
	at []int
}

// maxNumbers bounds the numbers of one target.
const maxNumbers = 16

// numberingOf takes the numbers out of a target, in which # stands for what was taken out already. It is false where there
// are none, or more than maxNumbers. Package plan knows whether a plan has the same ones.
func numberingOf(target string) (n numbering, ok bool) {
	path, query, _ := strings.Cut(target, "?")
	if len(target) > maxTarget {
		return n, false
	}
	var b strings.Builder
	b.Grow(len(target))
	b.WriteString(path + "?")
	for rest, pair := query, ""; rest != ""; {
		start := len(target) - len(rest)
		pair, rest, _ = strings.Cut(rest, "&")
		if filter, ok := strings.CutPrefix(pair, "$filter="); ok {
			b.WriteString("$filter=")
			n.takeOut(&b, filter, start+len(pair))
		} else {
			b.WriteString(pair)
		}
		b.WriteByte('&')
	}
	n.target = b.String()
	return n, 0 < len(n.numbers) && len(n.numbers) <= maxNumbers
}

// takeOut writes a filter with #n in the place of the numbers behind operators, up to the next "and", "or" or parenthesis,
// outside of quotes. The filter ends behind so many bytes of the target.
func (n *numbering) takeOut(b *strings.Builder, filter string, end int) {
	for quoted := false; filter != ""; {
		if strings.HasPrefix(filter, "'") || strings.HasPrefix(filter, "%27") {
			quoted = !quoted
		}
		count := comparedWith(filter)
		if count == 0 || quoted {
			b.WriteByte(filter[0])
			filter = filter[1:]
			continue
		}
		const operator = len("%20eq%20")
		b.WriteString(filter[:operator] + "#n")
		number, _ := strconv.ParseInt(filter[operator:operator+count], 10, 64) // so few digits are a number
		n.numbers, n.at = append(n.numbers, number), append(n.at, end-len(filter)+operator+1)
		filter = filter[operator+count:]
	}
}

// comparedWith tells how many digits the number has that stands behind the operator at the beginning of s; 0 for none that
// is all of an operand.
func comparedWith(s string) (digits int) {
	s, ok := strings.CutPrefix(s, "%20")
	if !ok || len(s) < len("eq%20") || !strings.HasPrefix(s[2:], "%20") {
		return 0
	}
	switch s[:2] {
	case "eq", "ne", "gt", "ge", "lt", "le":
	default:
		return 0
	}
	s = s[len("eq%20"):]
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	rest := s[digits:]
	ends := rest == "" || rest[0] == ')' || strings.HasPrefix(rest, "%20and%20") || strings.HasPrefix(rest, "%20or%20")
	if digits > 9 || !ends || digits > 0 && s[0] == '0' { // as plan.With takes them
		return 0
	}
	return digits
}

// numbered gives a plan for a target, made from that of one with other numbers; nil where there is none.
func (c *cache) numbered(key planKey, n numbering) *planned {
	key.target = n.target
	c.mu.Lock()
	from := c.likenesses[key]
	c.mu.Unlock()
	if from == nil {
		return nil
	}
	return &planned{plan: from.plan.With(n.numbers), format: from.format, layout: from.layout}
}

// addNumbered keeps a plan for targets with other numbers, if those of its own target are where they can be others.
func (c *cache) addNumbered(key planKey, template string, p *planned) {
	n, _ := numberingOf(key.target)
	if !slices.Equal(p.plan.Numbers(), n.at) {
		return
	}
	key.target = template
	c.keepLike(key, p)
}
