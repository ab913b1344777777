package memory

import (
	"fmt"
	"maps"
	"reflect"
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
	// via holds, by the key of a row of from, the keys of its targets; nil when there is no table in between.
	via map[string][]string
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
		l := &link{from: s, to: target, foreign: n.Foreign && !n.Many && n.Via == nil}
		if n.Foreign && !l.foreign {
			b.fault(place, "Foreign goes with On, and without Many")
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
	var constraints []edm.Constraint
	var pairs []edm.Pair
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
		pairs = append(pairs, edm.Pair{Own: l.from.pathAt(i), Other: l.to.pathAt(j)})
		if p != nil && q != nil {
			constraints = append(constraints, edm.Constraint{Property: p, Referenced: q})
		}
	}
	if n.Many {
		nav.Compared = pairs
		return
	}
	missing := func(k *edm.Property) bool { return !slices.Contains(l.other, l.to.byName[k.Name]) }
	if slices.ContainsFunc(l.to.edm.Type.Key, missing) && !slices.ContainsFunc(l.to.unique, func(at int) bool { return slices.Contains(l.other, at) }) {
		b.fault(place, "%v does not identify one row of %q: set Many, or compare with its key, or a unique property", n.On, n.To)
		return
	}
	if len(constraints) == len(own) {
		nav.Constraints = constraints
	} else {
		nav.Compared = pairs
	}
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

// through reads the rows between two sets.
func (b *builder) through(place string, l *link, n Navigation) {
	if !n.Many || len(l.from.edm.Type.Key) != 1 || len(l.to.edm.Type.Key) != 1 {
		b.fault(place, "Via needs Many, and keys of one property at both ends")
		return
	}
	l.own = []int{l.from.byName[l.from.edm.Type.Key[0].Name]}
	l.other = []int{l.to.byName[l.to.edm.Type.Key[0].Name]}
	goes, err := rowType(n.Via)
	if err != nil {
		b.fault(place, "Via: %w", err)
		return
	}
	fields, err := fieldsOf(goes)
	if err != nil {
		b.fault(place, "Via: %w", err)
		return
	}
	between := &set{goes: goes, columns: map[*edm.Property]*column{}, byName: map[string]int{}}
	for _, f := range fields {
		if f.name == n.FromKey || f.name == n.ToKey {
			b.property(place+", Via", between, &edm.EntityType{}, f)
		}
	}
	i, ok := between.byName[n.FromKey]
	j, okTo := between.byName[n.ToKey]
	if !ok || !okTo {
		b.fault(place, "Via: %v needs the properties FromKey %q and ToKey %q", goes, n.FromKey, n.ToKey)
		return
	}
	rows, err := between.rows(reflect.ValueOf(n.Via))
	if err != nil {
		b.fault(place, "Via: %w", err)
		return
	}
	l.via = map[string][]string{}
	for _, row := range rows {
		from, okFrom := keyText(row, []int{i}, between.cells)
		to, okTo := keyText(row, []int{j}, between.cells)
		if okFrom && okTo && !slices.Contains(l.via[from], to) { // a pair that stands there twice is one link
			l.via[from] = append(l.via[from], to)
		}
	}
}
