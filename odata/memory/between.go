package memory

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// between is a table in between: the links of two sets, by the keys at their ends. It does not change; with and without make
// another.
type between struct {
	// ends holds, by the key at one end, the keys at the other: from the first end, and from the second.
	ends [2]map[string][]string
}

func newBetween() *between { return &between{[2]map[string][]string{{}, {}}} }

// end is the index in between.ends of the set that a link starts at.
func (l *link) end() int {
	if l.back {
		return 1
	}
	return 0
}

// linked reports whether there is a link from one key to another.
func (l *link) linked(in *state, from, to string) bool {
	return slices.Contains(in.between[l.via].ends[l.end()][from], to)
}

// add adds a link to a table in the making.
func (b *between) add(first, second string) {
	if !slices.Contains(b.ends[0][first], second) { // a pair that is there twice is one link
		b.ends[0][first] = append(slices.Clip(b.ends[0][first]), second)
		b.ends[1][second] = append(slices.Clip(b.ends[1][second]), first)
	}
}

// changed returns the table with a link, or without it.
func (b *between) changed(kind write.ChangeKind, first, second string) *between {
	next := &between{[2]map[string][]string{maps.Clone(b.ends[0]), maps.Clone(b.ends[1])}}
	if kind == write.Link {
		next.add(first, second)
		return next
	}
	for i, pair := range [2][2]string{{first, second}, {second, first}} {
		next.ends[i][pair[0]] = slices.DeleteFunc(slices.Clone(next.ends[i][pair[0]]), func(key string) bool { return key == pair[1] })
	}
	return next
}

// equal reports whether two tables hold the same links.
func (b *between) equal(other *between) bool {
	return maps.EqualFunc(b.ends[0], other.ends[0], func(x, y []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
	})
}

// through reads the table in between of a link, or finds that of the partner.
func (b *builder) through(place string, l *link, n Navigation) {
	if !n.Many || len(l.from.edm.Type.Key) != 1 || len(l.to.edm.Type.Key) != 1 {
		b.fault(place, "Via needs Many, and keys of one property at both ends")
		return
	}
	l.own = []int{l.from.byName[l.from.edm.Type.Key[0].Name]}
	l.other = []int{l.to.byName[l.to.edm.Type.Key[0].Name]}
	first, second := n.FromKey, n.ToKey
	partner := b.partner(l, n)
	if partner != nil {
		first, second = second, first
	}
	read := b.readBetween(place, n, first, second)
	switch {
	case read == nil:
	case partner == nil:
		l.via = len(b.between)
		b.between = append(b.between, read)
	case !b.between[partner.via].equal(read):
		b.fault(place, "Via of the partner %q has other links", n.Partner)
	default:
		l.via, l.back = partner.via, !partner.back
	}
}

// partner returns the link of the way back if it was made before and names this one as its partner, too; nil otherwise.
func (b *builder) partner(l *link, n Navigation) *link {
	nav := l.to.edm.Type.Nav(n.Partner)
	if back := b.links[nav]; nav != nil && back != nil && back.via >= 0 && back.to == l.from && nav.Partner == n.Name {
		return back
	}
	return nil
}

// readBetween makes a table in between of a slice of structs; nil for a fault.
func (b *builder) readBetween(place string, n Navigation, first, second string) *between {
	goes, err := rowType(n.Via)
	if err != nil {
		b.fault(place, "Via: %w", err)
		return nil
	}
	fields, err := fieldsOf(goes)
	if err != nil {
		b.fault(place, "Via: %w", err)
		return nil
	}
	rows := &set{goes: goes, auto: -1, columns: map[*edm.Property]*column{}, byName: map[string]int{}}
	for _, f := range fields {
		if f.name == first || f.name == second {
			b.property(place+", Via", rows, &edm.EntityType{}, f)
		}
	}
	i, ok := rows.byName[first]
	j, okTo := rows.byName[second]
	if !ok || !okTo {
		b.fault(place, "Via: %v needs the properties FromKey %q and ToKey %q", goes, n.FromKey, n.ToKey)
		return nil
	}
	list, err := rows.rows(reflect.ValueOf(n.Via))
	if err != nil {
		b.fault(place, "Via: %w", err)
		return nil
	}
	out := newBetween()
	for _, row := range list {
		x, okX := keyText(row, []int{i}, rows.cells)
		y, okY := keyText(row, []int{j}, rows.cells)
		if okX && okY {
			out.add(x, y)
		}
	}
	return out
}

// link adds a link to a table in between, or removes it.
func (t *transaction) link(c *write.Change) error {
	l := t.source.links[c.Nav]
	if l.via < 0 {
		return fmt.Errorf("the navigation property %q goes through no table in between", c.Nav.Name) //nolint:err113 // package bind makes no such change
	}
	own, err := t.read(c.Before.Plan.At(c.Key))
	if err != nil {
		return err
	}
	other, err := t.read(c.After.Plan.At(c.Other))
	if err != nil {
		return err
	}
	from, to := l.from.keyOf(c.Key), l.to.keyOf(c.Other)
	linked := l.linked(t.state, from, to)
	if refusal := c.JudgeLink(own, other, linked); refusal != nil {
		return refusal
	}
	if linked == (c.Kind == write.Link) {
		return nil
	}
	if l.back {
		from, to = to, from
	}
	t.fork()
	t.state.between[l.via] = t.state.between[l.via].changed(c.Kind, from, to)
	return nil
}

// holds reports whether a row of a set is at an end of a link that keeps it from being deleted.
func (l *link) holds(in *state, s *set, r row) bool {
	key := s.keyOf(s.keyValues(r))
	ends := in.between[l.via].ends
	return l.from == s && len(ends[l.end()][key]) > 0 || l.to == s && len(ends[1-l.end()][key]) > 0
}
