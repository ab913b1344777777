package sqlsource

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// properties makes the properties of a set from the columns of its table.
func (b *builder) properties(s *set) {
	s.column, s.prop, s.hidden = map[string]*sqltext.Column{}, map[string]*edm.Property{}, map[string]bool{}
	shown := slices.DeleteFunc(slices.Clone(s.cfg.Hide), func(name string) bool { return s.opaque(name) != nil })
	for _, name := range b.columns(s, shown, "hide") {
		s.hidden[name] = true
	}
	renamed := map[string]Property{}
	for _, p := range s.cfg.Properties {
		for _, name := range b.columns(s, []string{p.Column}, "property", p.Column) {
			renamed[name] = p
		}
	}
	inside := b.complexes(s)
	names, taken := s.names(renamed, inside)
	for i := range s.table.Columns {
		c := &s.table.Columns[i]
		p := b.property(s, c, renamed[c.Name])
		if p.Name = names[c.Name]; renamed[c.Name].Name != "" && p.Name != renamed[c.Name].Name {
			b.report(s.at("property", c.Name, "name"), "the name "+quoted(renamed[c.Name].Name)+" is taken", "choose another name")
		}
		s.column[c.Name] = stored(c)
		s.column[c.Name].Text = reads(edmType(b.dialect, c).Kind, p.Type.Kind)
		s.column[c.Name].Rounds = rounds(b.dialect, c, p.Type.Kind)
		s.column[c.Name].Loose = looseness(b.dialect, c, edmType(b.dialect, c).Kind, p.Type.Kind)
		complexProp := inside[c.Name]
		switch {
		case s.hidden[c.Name]:
			s.edm.Type.Hidden = append(s.edm.Type.Hidden, p)
			s.stored.Columns[p] = s.column[c.Name]
		case complexProp != nil:
			b.member(s, complexProp, c, p)
		default:
			s.prop[c.Name] = p
			s.edm.Type.Properties = append(s.edm.Type.Properties, p)
			s.stored.Columns[p] = s.column[c.Name]
		}
	}
	for _, c := range s.cfg.Complexes {
		b.finishComplex(s, c, taken)
	}
	b.keys(s)
	b.search(s)
}

// names gives each column the name of its property, and returns the names that the properties of the set have. A name of the
// Config, or a column's own name that is an identifier, comes before those that only become one.
func (s *set) names(renamed map[string]Property, inside map[string]*edm.Property) (names map[string]string, taken map[string]bool) {
	names, taken = map[string]string{}, map[string]bool{}
	members := map[*edm.Property]map[string]bool{nil: taken}
	for _, legal := range []bool{true, false} {
		for i := range s.table.Columns {
			column := s.table.Columns[i].Name
			in := inside[column]
			if members[in] == nil {
				members[in] = map[string]bool{}
			}
			name := cmp.Or(renamed[column].Name, s.memberName(in, column))
			if (renamed[column].Name != "" || edm.Identifier(name)) != legal {
				continue
			}
			if !legal {
				name = makeIdentifier(name)
			}
			names[column] = unique(members[in], name)
			members[in][names[column]] = true
		}
	}
	return names, taken
}

// memberName is the name of a column in a complex property, which is without the prefix; in is nil for one outside.
func (s *set) memberName(in *edm.Property, column string) string {
	for _, c := range s.cfg.Complexes {
		if rest, ok := strings.CutPrefix(column, c.Prefix); in != nil && ok && cmp.Or(c.Name, c.Type) == in.Name {
			return rest
		}
	}
	return column
}

func unique(taken map[string]bool, name string) string {
	free := name
	for taken[free] {
		free += "_"
	}
	return free
}

func stored(c *introspect.Column) *sqltext.Column {
	return &sqltext.Column{
		Name: c.Name, Type: c.Type, Layout: c.Stored, Collation: c.Collation, Nullable: c.Nullable, Prefix: c.Prefix, Trigram: c.Trigram,
		Length: c.Length, Precision: c.Precision, Scale: c.Scale, Cast: c.Cast, Declared: c.Declared, Members: c.Members,
		Standard: c.Standard, Given: c.Generated || c.Counted || c.Default && c.Standard == "",
	}
}

// rounds reports whether a column holds numbers with more digits than an Edm.Single: only PostgreSQL and MariaDB store singles.
func rounds(dialect string, c *introspect.Column, declared edm.Kind) bool {
	return declared == edm.Single && !edmType(dialect, c).Same(edm.Of(edm.Single)) && edmType(dialect, c).Kind.Numeric()
}

// looseness returns how values of other types than that of its property may be stored in a column; empty if none may.
func looseness(dialect string, c *introspect.Column, found, declared edm.Kind) string {
	switch dialect {
	case "sqlite":
		if c.Certain && (declared == found || found == edm.Int64 && (declared == edm.Enum || declared == edm.Decimal)) {
			return ""
		}
		return c.Loose
	case "postgres":
		if c.Type == "numeric" && c.Precision > 0 {
			return sqltext.LooseNaN
		}
		if c.Type == "numeric" || found == edm.Date || found == edm.DateTimeOffset || found == edm.TimeOfDay {
			return sqltext.LooseInfinite
		}
	case "mysql":
		if c.Type == "bit" && c.Precision > 63 {
			return sqltext.LooseBits
		}
		if c.Type == "date" || c.Type == "datetime" || c.Type == "time" {
			return sqltext.LooseZero
		}
	}
	return ""
}

// property makes a property of a column, as found and as configured.
func (b *builder) property(s *set, c *introspect.Column, p Property) *edm.Property {
	out := &edm.Property{
		Name: makeIdentifier(c.Name), Type: edmType(b.dialect, c), Nullable: c.Nullable,
		Description: cmp.Or(p.Description, c.Comment), Computed: c.Generated,
	}
	if c.Type == "bigint unsigned" && counts(s, c.Name) && !b.beyond(s.table, c.Name, maxReferences) {
		out.Type = edm.Of(edm.Int64)
	}
	if p.Name != "" {
		if out.Name = p.Name; !edm.Identifier(p.Name) {
			b.report(s.at("property", c.Name, "name"), "the name is no identifier", "use letters, digits and underscores, not starting with a digit")
		}
	}
	if p.Type != "" {
		out.Type = b.declared(s, c, p, out.Type)
	}
	if out.Aggregate = p.Aggregate; p.Aggregate != "" && !edm.CanAggregate(p.Aggregate, out.Type.Kind) {
		b.report(s.at("property", c.Name, "aggregate"), quoted(p.Aggregate)+" does not work on Edm."+out.Type.Kind.String(),
			"use one of "+strings.Join(edm.Aggregates(), ", ")+": sum and average are for numbers, min, max and unit for what has an order")
	}
	if p.Precision != nil {
		out.Type.Precision = *p.Precision
	}
	if p.Scale != nil {
		out.Type.Scale = *p.Scale
	}
	return out
}

// declared is the type that the configuration gives a column, instead of the one that was found.
func (b *builder) declared(s *set, c *introspect.Column, p Property, found edm.Type) edm.Type {
	out, at := found, s.at("property", c.Name, "type")
	if e := b.model.Enum(p.Type); e != nil {
		out = edm.Type{Kind: edm.Enum, Enum: e}
	} else if k := edm.PrimitiveKind(strings.TrimPrefix(p.Type, "Edm.")); k != edm.Invalid && k != edm.Stream {
		if out = edm.Of(k); k == edm.DateTimeOffset || k == edm.TimeOfDay || k == edm.Duration {
			out.Precision = fraction
		}
	} else {
		b.report(at, "there is no type "+quoted(p.Type), finding.DidYouMean(p.Type, b.typeNames()))
		return found
	}
	if !retypes(b.dialect, c, found, out.Kind) {
		b.report(at, "the column is "+c.Type+", found as Edm."+found.Kind.String()+", whose values the database does not take for those of "+p.Type,
			"leave the type out, or expose a view that converts the column")
	}
	return out
}

// counts reports whether a column belongs to a key or refers to one. Such columns count, and few counts reach what
// Edm.Int64 cannot hold, see beyond; other unsigned columns may.
func counts(s *set, column string) bool {
	if slices.Contains(s.table.Key, column) || slices.Contains(s.cfg.Key, column) {
		return true
	}
	if len(s.table.Key) == 0 && len(s.table.Unique) > 0 && slices.Contains(s.table.Unique[0], column) {
		return true // the key, where there is no primary one
	}
	return slices.ContainsFunc(s.table.Foreign, func(f introspect.ForeignKey) bool { return slices.Contains(f.Columns, column) })
}

// maxReferences bounds how far a foreign key is followed: they may lead in circles.
const maxReferences = 8

// beyond reports whether a column, or one that it refers to, has a value that Edm.Int64 cannot hold. A key and what refers
// to it are of one type. far bounds the references to follow.
func (b *builder) beyond(t *introspect.Table, column string, far int) bool {
	if c := t.Column(column); c == nil || c.Beyond {
		return c != nil
	}
	for _, f := range t.Foreign {
		i := slices.Index(f.Columns, column)
		if i < 0 || i >= len(f.Referenced) || far == 0 {
			continue
		}
		for _, to := range b.tables {
			if to.Name == f.Table && to.Schema == f.Schema && b.beyond(to, f.Referenced[i], far-1) {
				return true
			}
		}
	}
	return false
}

func (b *builder) typeNames() []string {
	var names []string
	for _, e := range b.model.Enums {
		names = append(names, e.Name)
	}
	for k := edm.Boolean; k < edm.Stream; k++ {
		names = append(names, "Edm."+k.String())
	}
	return names
}

// complexes makes the complex properties and tells which columns they take.
func (b *builder) complexes(s *set) map[string]*edm.Property {
	inside := map[string]*edm.Property{}
	for _, c := range s.cfg.Complexes {
		at := []string{"complex", c.Type}
		name := cmp.Or(c.Name, c.Type)
		if !edm.Identifier(c.Type) || !edm.Identifier(name) || c.Prefix == "" {
			b.report(s.at(at...), "a name is no identifier, or the prefix is empty", "use letters, digits and underscores for the names of type and property")
			continue
		}
		p := &edm.Property{Name: name, Type: edm.Type{Kind: edm.Complex, Complex: &edm.ComplexType{Name: c.Type}}}
		n := 0
		for _, column := range s.table.Columns {
			if strings.HasPrefix(column.Name, c.Prefix) && column.Name != c.Prefix && !s.hidden[column.Name] {
				inside[column.Name] = p
				n++
			}
		}
		if n == 0 {
			b.report(s.at(append(at, "prefix")...), "no column begins with "+quoted(c.Prefix), "name what the columns begin with")
			continue
		}
		s.stored.Columns[p] = &sqltext.Column{Sub: map[*edm.Property]*sqltext.Column{}}
	}
	return inside
}

// member puts a column into a complex property.
func (b *builder) member(s *set, in *edm.Property, c *introspect.Column, p *edm.Property) {
	in.Type.Complex.Properties = append(in.Type.Complex.Properties, p)
	s.stored.Columns[in].Sub[p] = s.column[c.Name]
}

// finishComplex adds the property, and shares the type with an equal one of the same name.
func (b *builder) finishComplex(s *set, c Complex, taken map[string]bool) {
	var p *edm.Property
	for candidate, col := range s.stored.Columns {
		if col.Sub != nil && candidate.Name == cmp.Or(c.Name, c.Type) {
			p = candidate
		}
	}
	if p == nil {
		return
	}
	if taken[p.Name] {
		b.report(s.at("complex", c.Type, "name"), "the name "+quoted(p.Name)+" is taken", "choose another name")
	}
	taken[p.Name] = true
	s.edm.Type.Properties = append(s.edm.Type.Properties, p)
	old := b.model.Complex(c.Type)
	if old == nil {
		b.model.Complexes = append(b.model.Complexes, p.Type.Complex)
		return
	}
	if !sameMembers(old, p.Type.Complex) {
		b.report(s.at("complex", c.Type), "another complex type of this name has other members", "give it another label")
		return
	}
	sub := map[*edm.Property]*sqltext.Column{}
	for i, m := range p.Type.Complex.Properties {
		sub[old.Properties[i]] = s.stored.Columns[p].Sub[m]
		old.Properties[i].Nullable = old.Properties[i].Nullable || m.Nullable
	}
	s.stored.Columns[p].Sub = sub
	p.Type.Complex = old
}

func sameMembers(a, b *edm.ComplexType) bool {
	return slices.EqualFunc(a.Properties, b.Properties, func(p, q *edm.Property) bool { return p.Name == q.Name && p.Type == q.Type })
}

// keys sets the key: as configured, or the primary key, or the first set of columns that identifies a row.
func (b *builder) keys(s *set) {
	key := s.table.Key
	if len(s.cfg.Key) > 0 {
		key = b.columns(s, s.cfg.Key, "key")
		if len(key) < len(s.cfg.Key) {
			return
		}
	} else if len(key) == 0 && len(s.table.Unique) > 0 {
		key = s.table.Unique[0]
	}
	if len(key) == 0 && !s.edm.Single() {
		b.report(s.at("key"), quoted(s.table.Name)+" has no primary key", "name the columns that identify a row")
		return
	}
	for _, name := range key {
		p := s.prop[name]
		switch {
		case s.hidden[name]:
			b.report(s.at("hide"), "the column "+quoted(name)+" belongs to the key and cannot be hidden", "take it out of hide")
			return
		case p == nil:
			b.report(s.at("key"), "the column "+quoted(name)+" is part of a complex property and cannot be a key", "name another key, or take it out of the complex property")
			return
		}
		p.Nullable = false
		s.column[name].Unproven = b.dialect == "postgres" && s.table.View
		s.edm.Type.Key = append(s.edm.Type.Key, p)
	}
	s.stored.Unique = totalOrder(s.table, s.edm, s.stored)
	for _, columns := range s.table.Unique {
		b.alternate(s, columns, key)
	}
}

func (b *builder) alternate(s *set, columns, key []string) {
	var alt []*edm.Property
	for _, name := range columns {
		if s.prop[name] == nil {
			return
		}
		alt = append(alt, s.prop[name])
	}
	if strings.Join(columns, "\x00") != strings.Join(key, "\x00") {
		s.edm.Type.AlternateKeys = append(s.edm.Type.AlternateKeys, alt)
	}
}

// search sets what $search looks at. An index is used only when it tells of the named columns alone: one that knows
// more could tell of hidden ones.
func (b *builder) search(s *set) {
	var names []string
	for _, name := range b.columns(s, s.cfg.Search, "search") {
		if s.hidden[name] {
			b.report(s.at("search"), "the column "+quoted(name)+" is hidden and cannot be searched", "take it out of hide or of search")
			continue
		}
		names = append(names, name)
		if s.column[name].Type == "tsvector" {
			s.stored.FullText = &sqltext.FullText{Columns: []string{name}}
			continue
		}
		s.stored.Search = append(s.stored.Search, s.column[name])
	}
	s.edm.Searchable = len(names) > 0
	if ft := s.table.Search; ft != nil && s.edm.Searchable {
		all := holdsAll(ft.Columns, names)
		switch {
		case all && ft.Table != "": // FTS5 can be asked for some columns
			s.stored.FullText = &sqltext.FullText{Table: ft.Table, Columns: names}
		case all && len(names) == len(ft.Columns):
			s.stored.FullText = &sqltext.FullText{Columns: ft.Columns}
		}
	}
}

// totalOrder reports whether the database itself sees to it that no two rows of a set have one key.
func totalOrder(t *introspect.Table, set *edm.EntitySet, stored *sqltext.Table) bool {
	if t == nil || t.View || len(set.Type.Key) == 0 {
		return false
	}
	var key []string
	for _, p := range set.Type.Key {
		key = append(key, stored.Columns[p].Name)
	}
	slices.Sort(key)
	for _, u := range append([][]string{t.Key}, t.Unique...) {
		u = slices.Clone(u)
		slices.Sort(u)
		if len(u) > 0 && slices.Equal(u, key) {
			return true
		}
	}
	return false
}
