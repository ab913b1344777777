package memory

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// link holds the values that a navigation property compares.
type link struct {
	from, to *set
	// own are places in the rows of from, other those of to that equal them.
	own, other []int
	// foreign reports that own is a foreign key.
	foreign bool
	// via is the place of the table in between in a state, -1 for none. back reports that from is its second end.
	via  int
	back bool
}

// navigations makes the navigation properties of a set.
func (b *builder) navigations(s *set) {
	for _, n := range s.cfg.Navigations {
		place := fmt.Sprintf("set %q, navigation %q", s.cfg.Name, n.Name)
		t := s.edm.Type
		target := b.target(n.To)
		if target == nil {
			b.fault(place, "there is no set %q", n.To)
			continue
		}
		l := &link{from: s, to: target, foreign: n.Foreign && (n.Via != nil || !n.Many), via: -1}
		if n.Foreign && !l.foreign {
			b.fault(place, "Foreign goes with On, and without Many, or with Via")
		}
		nav := &edm.Navigation{Name: n.Name, Target: target.edm, Collection: n.Many, Partner: n.Partner}
		if n.Via != nil {
			nav.Through, nav.Linkable = true, true
			b.through(place, l, n)
		} else {
			b.joinOn(place, l, n, nav)
		}
		b.links[nav] = l
		t.Navigation = append(t.Navigation, nav)
	}
}

func (b *builder) target(name string) *set {
	for _, s := range b.sets {
		if s.edm.Name == name && !s.edm.Single() {
			return s
		}
	}
	return nil
}

// joinOn fills l with the pairs of properties that n.On compares, and sets nav's nullability and constraints. A pair must
// exist and have comparable types. A navigation to one row must compare the whole key of the
// target, or a unique property.
func (b *builder) joinOn(place string, l *link, n Navigation, nav *edm.Navigation) {
	if len(n.On) == 0 {
		b.fault(place, "it needs On, the properties that are equal, or Via")
		return
	}
	own := slices.Sorted(maps.Keys(n.On))
	visible := 0
	for _, name := range own {
		i, ok := l.from.byName[name]
		j, okTo := l.to.byName[n.On[name]]
		if !ok || !okTo {
			missing, of := name, l.from
			if ok {
				missing, of = n.On[name], l.to
			}
			b.fault(place, "set %q has no property %q", of.cfg.Name, missing)
			return
		}
		l.own, l.other = append(l.own, i), append(l.other, j)
		if !linkable(l.from.cells[i].typ, l.to.cells[j].typ) {
			b.fault(place, "%q is %s and %q is %s: they are never equal", name, l.from.cells[i].typ.Kind, n.On[name], l.to.cells[j].typ.Kind)
		}
		nav.Nullable = nav.Nullable || !n.Many && (l.from.cells[i].nullable || l.to.edm.Policy != "")
		p, q := l.from.edm.Type.Property(name), l.to.edm.Type.Property(n.On[name])
		nav.Pairs = append(nav.Pairs, edm.Pair{Own: l.from.pathAt(i), Other: l.to.pathAt(j)})
		if p != nil && q != nil {
			visible++
		}
	}
	if n.Many {
		return
	}
	missing := func(k *edm.Property) bool { return !slices.Contains(l.other, l.to.byName[k.Name]) }
	if slices.ContainsFunc(l.to.edm.Type.Key, missing) && !slices.ContainsFunc(l.to.unique, func(at int) bool { return slices.Contains(l.other, at) }) {
		b.fault(place, "%v does not identify one row of %q: set Many, or compare with its key, or a unique property", n.On, n.To)
		return
	}
	nav.Inverse = b.inverse(l, n)
	nav.Nullable = nav.Nullable || nav.Inverse
	nav.Constrained = !nav.Inverse && visible == len(own)
}

// inverse reports whether the row of the target holds the foreign key of a navigation to one: if the target has a foreign key over the
// same properties, or if neither has one and they are the own key and not that of the target.
func (b *builder) inverse(l *link, n Navigation) bool {
	whole := func(s *set, places []int) bool {
		key := s.edm.Type.Key
		return len(key) == len(places) && !slices.ContainsFunc(key, func(p *edm.Property) bool { return !slices.Contains(places, s.byName[p.Name]) })
	}
	back := func(other Navigation) bool {
		on := map[string]string{}
		for own, target := range other.On {
			on[target] = own
		}
		return other.Foreign && other.To == l.from.cfg.Name && maps.Equal(on, n.On)
	}
	return !n.Foreign && (slices.ContainsFunc(l.to.cfg.Navigations, back) || whole(l.from, l.own) && !whole(l.to, l.other))
}

// pathAt is the path of the property, hidden ones included, that a place in a row has; nil for none.
func (s *set) pathAt(at int) []*edm.Property {
	for _, p := range slices.Concat(s.edm.Type.Properties, s.edm.Type.Hidden) {
		if p.Type.Kind != edm.Complex && s.columns[p].at == at {
			return []*edm.Property{p}
		}
	}
	return nil
}

// linkable tells whether values of two types can be equal as keys.
func linkable(a, b edm.Type) bool {
	exact := func(k edm.Kind) bool { return k.Integer() || k == edm.Decimal || k == edm.Enum }
	return a.Kind == b.Kind || exact(a.Kind) && exact(b.Kind)
}
