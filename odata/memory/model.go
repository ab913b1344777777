package memory

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// builder makes a model of a Config, and the tables that go with it.
type builder struct {
	cfg       Config
	model     *edm.Model
	complexes map[string]reflect.Type
	sets      []*set
	links     map[*edm.Navigation]*link
	between   []*between
	faults    []error
}

// set is where the rows of an entity set are read from and kept.
type set struct {
	cfg  Set
	edm  *edm.EntitySet
	goes reflect.Type
	// cells are the single values of a row, in the order of its fields.
	cells []cell
	// columns finds the place of a property's value, byName that of a property by its name.
	columns map[*edm.Property]*column
	byName  map[string]int
	// search are the places of what $search looks at.
	search []int
	at     int
	// auto is the place of the number that new rows get, -1 for none; unique are the places whose values differ, besides the
	// key.
	auto   int
	unique []int
}

// cell is one value of a row.
type cell struct {
	// outer leads to the complex property that has the field; nil when there is none.
	outer, index []int
	name         string
	typ          edm.Type
	nullable     bool
	read         reader
	// standard is the value of a new row; null without a default.
	standard plan.Value
}

// column is the place of a value, or those of a complex property's members.
type column struct {
	at      int
	members map[*edm.Property]*column
}

func (b *builder) fault(place, format string, args ...any) {
	b.faults = append(b.faults, fmt.Errorf("%s: %w", place, fmt.Errorf(format, args...))) //nolint:err113 // they are for people
}

// build makes model, sets and links; later steps need the sets of the earlier ones.
func build(cfg Config) (*builder, error) {
	cfg.Namespace = cmp.Or(cfg.Namespace, "Vestibule")
	b := &builder{
		cfg: cfg, complexes: map[string]reflect.Type{}, links: map[*edm.Navigation]*link{},
		model: &edm.Model{Namespace: cfg.Namespace, Container: "Container", Guard: cfg.Guard},
	}
	for _, e := range cfg.Enums {
		b.model.Enums = append(b.model.Enums, edm.NewEnum(e.Name, e.Flags, e.Members, nil))
	}
	for _, s := range cfg.Sets {
		b.addSet(s, false)
	}
	for _, s := range cfg.Singletons {
		b.addSet(s, true)
	}
	for _, s := range b.sets {
		b.navigations(s)
	}
	if len(b.faults) == 0 {
		if err := b.model.Check(); err != nil {
			return nil, fmt.Errorf("check model: %w", err)
		}
		if _, err := bind.New(b.model); err != nil {
			return nil, fmt.Errorf("check row policies: %w", err)
		}
	}
	return b, errors.Join(b.faults...)
}

func (b *builder) addSet(cfg Set, isSingle bool) {
	place := fmt.Sprintf("set %q", cfg.Name)
	goes, err := rowType(cfg.Rows)
	if err != nil {
		b.fault(place, "%w", err)
		return
	}
	fields, err := fieldsOf(goes)
	if err != nil {
		b.fault(place, "%w", err)
		return
	}
	guard := b.cfg.Guard
	if cfg.Guard != "" {
		var ok bool
		if guard, ok = edm.ParseGuard(cfg.Guard); !ok {
			b.fault(place, "there is no guard %q; there are session, settled, none", cfg.Guard)
		}
	}
	t := &edm.EntityType{Name: cmp.Or(cfg.Type, cfg.Name), Description: cfg.Description}
	s := &set{cfg: cfg, goes: goes, auto: -1, columns: map[*edm.Property]*column{}, byName: map[string]int{}, at: len(b.sets)}
	es := edm.EntitySet{Name: cfg.Name, Type: t, Guard: guard, Policy: cfg.Filter, NoApply: cfg.NoApply, Description: cfg.Description}
	for _, f := range fields {
		b.property(place, s, t, f)
	}
	b.measures(place, t, fields)
	b.keys(place, t, fields, isSingle)
	es.Searchable = len(s.search) > 0 && !isSingle
	b.model.Types = append(b.model.Types, t)
	if cfg.Write != nil {
		es.Write = b.write(place, t, cfg.Write)
	}
	s.edm = b.model.Add(es, isSingle)
	b.sets = append(b.sets, s)
}

// property makes a property of a field.
func (b *builder) property(place string, s *set, t *edm.EntityType, f field) {
	p := &edm.Property{Name: f.name}
	switch {
	case f.members != nil:
		ct := b.complexType(place, f)
		p.Type = edm.Type{Kind: edm.Complex, Complex: ct}
		s.columns[p] = &column{members: map[*edm.Property]*column{}}
		for i, m := range f.members {
			at, _ := b.cell(place, s, m, f.index)
			s.columns[p].members[ct.Properties[i]] = &column{at: at}
		}
	default:
		at, ok := b.cell(place, s, f, nil)
		if !ok {
			return
		}
		p.Type, p.Nullable = s.cells[at].typ, s.cells[at].nullable
		s.columns[p], s.byName[f.name] = &column{at: at}, at
		if p.Aggregate = f.tag.aggregate; p.Aggregate != "" && !edm.CanAggregate(p.Aggregate, p.Type.Kind) {
			b.fault(place, "property %q: the aggregate %q does not work on Edm.%s", f.name, p.Aggregate, p.Type.Kind)
		}
		if f.tag.search {
			if p.Type.Kind != edm.String {
				b.fault(place, "property %q: only text can be searched", f.name)
			}
			s.search = append(s.search, at)
		}
		b.writes(place, s, t, p, f.tag, at)
	}
	if f.tag.hide {
		t.Hidden = append(t.Hidden, p)
	} else {
		t.Properties = append(t.Properties, p)
	}
}

// measures notes which properties hold the currency or the unit of others.
func (b *builder) measures(place string, t *edm.EntityType, fields []field) {
	for _, f := range fields {
		p := t.Property(f.name)
		if p == nil {
			continue
		}
		p.Look.Currency.Path, p.Look.Unit.Path = f.tag.currency, f.tag.unit
		for _, name := range []string{f.tag.currency, f.tag.unit} {
			if of := t.Property(name); name != "" && (!p.Type.Kind.Numeric() || of == nil || of.Type.Kind != edm.String) {
				b.fault(place, "property %q: only a number has a currency or a unit, and %q must be a property with a text", f.name, name)
			}
		}
	}
}

// cell adds a single value to the rows of a set.
func (b *builder) cell(place string, s *set, f field, outer []int) (int, bool) {
	t, nullable, read, err := typeOf(f, b.model)
	if err != nil {
		b.fault(place, "property %q: %w", f.name, err)
		return 0, false
	}
	nullable = nullable || t.Kind == edm.Binary
	c := cell{outer: outer, index: f.index, name: f.name, typ: t, nullable: nullable, read: read, standard: plan.Value{Null: true}}
	if f.tag.hasStandard {
		var ok bool
		if c.standard, ok = standardValue(f.tag.standard, t); !ok {
			b.fault(place, "property %q: the default %q is no %s", f.name, f.tag.standard, t)
		}
	}
	s.cells = append(s.cells, c)
	return len(s.cells) - 1, true
}

// complexType finds or makes the complex type of a field. Its members may be null where the structure may be missing.
func (b *builder) complexType(place string, f field) *edm.ComplexType {
	goes, pointer := f.typ, f.typ.Kind() == reflect.Pointer
	if pointer {
		goes = goes.Elem()
	}
	name := f.tag.typ
	if name == "" {
		name = goes.Name()
	}
	if name == "" {
		name = f.name
	}
	if known := b.model.Complex(name); known != nil {
		if b.complexes[name] != goes {
			b.fault(place, "property %q: the type name %q is taken: name another with type=NAME in its odata tag", f.name, name)
			known = &edm.ComplexType{Name: name}
			for _, m := range f.members {
				known.Properties = append(known.Properties, &edm.Property{Name: m.name})
			}
		}
		for _, p := range known.Properties {
			p.Nullable = p.Nullable || pointer
		}
		return known
	}
	ct := &edm.ComplexType{Name: name}
	for _, m := range f.members {
		t, nullable, _, err := typeOf(m, b.model)
		if err != nil {
			t = edm.Of(edm.String) // the fault is reported where the cell is made
		}
		ct.Properties = append(ct.Properties, &edm.Property{Name: m.name, Type: t, Nullable: nullable || pointer, Defaulted: m.tag.hasStandard})
	}
	b.complexes[name] = goes
	b.model.Complexes = append(b.model.Complexes, ct)
	return ct
}

// keys finds the key: the properties that are tagged so, or else the one called id.
func (b *builder) keys(place string, t *edm.EntityType, fields []field, isSingle bool) {
	for _, f := range fields {
		if p := t.Property(f.name); f.tag.key && p != nil {
			t.Key = append(t.Key, p)
		}
	}
	for _, p := range t.Properties {
		if len(t.Key) == 0 && strings.EqualFold(p.Name, "id") && p.Type.Kind != edm.Complex {
			t.Key = []*edm.Property{p}
		}
	}
	if len(t.Key) == 0 && !isSingle {
		b.fault(place, "it has no key: tag a field with `odata:\",key\"`")
	}
	for _, p := range t.Key {
		if p.Type.Kind == edm.Binary {
			p.Nullable = false // a slice can be nil; rows whose key is are refused
		}
		if p.Nullable {
			b.fault(place, "property %q: a key cannot be null, so its field can be no pointer", p.Name)
		}
	}
}
