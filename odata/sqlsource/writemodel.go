package sqlsource

import (
	"maps"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// write makes what may be written of a set, and finds what cannot be.
func (b *builder) write(s *set) {
	w := s.cfg.Write
	if w == nil {
		return
	}
	switch at := s.at("write"); {
	case s.edm.Single():
		b.report(at, "a singleton cannot be written", "make an entity_set of the table")
		return
	case s.table.View:
		b.report(at, quoted(s.table.Name)+" is a view, and views cannot be written", "name the table itself, with a filter and hidden columns where the view has them, or take write out")
		return
	case len(s.edm.Type.Key) > 0 && !s.stored.Unique:
		b.report(at, "the database does not keep the key of "+quoted(s.table.Name)+" unique, so a change could hit several rows",
			"make a primary key or a unique index of columns that cannot be null, or take write out")
		return
	}
	s.generates()
	out := &edm.Write{Create: w.Create, Update: w.Update, Delete: w.Delete, Filter: w.Filter, Validator: w.Validator, Final: !s.table.Rules.Triggers}
	out.Set, out.Touch = b.given(s, w.Set, "set"), b.given(s, w.Touch, "touch")
	for _, name := range b.columns(s, w.Fixed, "write", "fixed") {
		out.Fixed = append(out.Fixed, s.pathOf(name))
	}
	b.version(s, out)
	s.edm.Write = out
	if w.Create {
		b.creatable(s, out)
	}
}

// pathOf returns the path of the property that a column became, through a complex property where the column belongs to one.
func (s *set) pathOf(column string) []*edm.Property {
	for p, c := range s.stored.Columns {
		if c == s.column[column] {
			return []*edm.Property{p}
		}
		for member, sub := range c.Sub {
			if sub == s.column[column] {
				return []*edm.Property{p, member}
			}
		}
	}
	return nil
}

// generates notes which properties the database computes, and which have a default. A number that SQLite would give a row is
// none where the column refers to another row.
func (s *set) generates() {
	for i := range s.table.Columns {
		c := &s.table.Columns[i]
		path := s.pathOf(c.Name)
		if len(path) == 0 {
			continue
		}
		p := path[len(path)-1]
		refers := slices.ContainsFunc(s.table.Foreign, func(f introspect.ForeignKey) bool { return slices.Contains(f.Columns, c.Name) })
		p.Computed = c.Generated || c.Counted && !refers
		p.Defaulted = c.Default && !p.Computed
	}
}

// given makes the values that the service writes, in the order of their columns.
func (b *builder) given(s *set, values map[string]string, where string) []edm.Given {
	var out []edm.Given
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, column := range b.columns(s, []string{name}, "write", where, name) {
			path := s.pathOf(column)
			switch {
			case s.table.Column(column).Generated:
				b.report(s.at("write", where, name), "the database computes the column "+quoted(column)+" itself", "take it out")
				continue
			case where == "touch" && len(path) == 1 && s.edm.Type.IsKey(path[0]):
				b.report(s.at("write", where, name), "the column "+quoted(column)+" belongs to the key, which never changes", "move it to set, which writes it once")
				continue
			}
			out = append(out, edm.Given{Path: path, Value: values[name]})
		}
	}
	return out
}

// version finds the column that counts the changes of a row.
func (b *builder) version(s *set, out *edm.Write) {
	if s.cfg.Write.Version == "" {
		return
	}
	at := []string{"write", "version"}
	for _, column := range b.columns(s, []string{s.cfg.Write.Version}, at...) {
		path := s.pathOf(column)
		p := path[len(path)-1]
		given := func(list []edm.Given) bool {
			return slices.ContainsFunc(list, func(g edm.Given) bool { return slices.Equal(g.Path, path) })
		}
		switch {
		case !p.Type.Kind.Integer() || !edmType(b.dialect, s.table.Column(column)).Kind.Integer():
			b.report(s.at(at...), "the column "+quoted(column)+" is no integer, so it cannot count changes", "name an integer column, or take version out: the entity tag is then one of all visible columns")
		case len(path) > 1:
			b.report(s.at(at...), "the column "+quoted(column)+" belongs to a complex property", "name another column, or take it out of the complex property")
		case p.Computed, s.edm.Type.IsKey(p), given(out.Set), given(out.Touch):
			b.report(s.at(at...), "the column "+quoted(column)+" has another value already: it belongs to the key, to set or touch, or the database computes it", "name a column of its own")
		default:
			out.Version = p
		}
	}
}

// creatable finds the columns that need a value and never get one.
func (b *builder) creatable(s *set, out *edm.Write) {
	gets := func(column string) bool {
		path := s.pathOf(column)
		if len(path) == 1 && path[0] == out.Version {
			return true
		}
		return slices.ContainsFunc(slices.Concat(out.Set, out.Touch), func(g edm.Given) bool { return slices.Equal(g.Path, path) })
	}
	columns := slices.DeleteFunc(slices.Clone(s.table.Columns), func(c introspect.Column) bool { return !s.hidden[c.Name] || c.Counted || gets(c.Name) })
	for _, c := range slices.Concat(columns, s.table.Opaque) {
		if !c.Nullable && !c.Default && !c.Generated {
			b.report(s.at("write", "create"), "the column "+quoted(c.Name)+" needs a value, and a client cannot give it one",
				"name it in set or touch, give it a default in the database, or set create = false")
		}
	}
}

// Cascade is the effect of a write of a set on the rows of another table, by a foreign key of that table.
type Cascade struct {
	// Set is the one that is written, Table the other table.
	Set, Table string
	// Effect is "deletes", "clears" or "changes".
	Effect string
}

// Cascades lists what deletions and changes of sets that may be written do to other tables.
func (s *Source) Cascades() []Cascade { return s.cascades }

// cascades finds the foreign keys that act on a write of a set. Keys never change, other columns that a foreign key names may.
func (b *builder) cascades() []Cascade {
	effects := map[string]string{"CASCADE": "deletes", "SET NULL": "clears", "SET DEFAULT": "changes"}
	var out []Cascade
	for _, s := range b.sets {
		if s.edm.Write == nil {
			continue
		}
		for _, t := range b.tables {
			for _, f := range t.Foreign {
				if f.Table != s.table.Name || f.Schema != s.table.Schema {
					continue
				}
				name := strings.Join(tableName(t), ".")
				if effect := effects[strings.ToUpper(f.OnDelete)]; effect != "" && s.edm.Write.Delete {
					out = append(out, Cascade{s.edm.Name, name, effect})
				}
				if effect := effects[strings.ToUpper(f.OnUpdate)]; effect != "" && s.edm.Write.Update && s.changes(f.Referenced) {
					out = append(out, Cascade{s.edm.Name, name, strings.Replace(effect, "deletes", "changes", 1)})
				}
			}
		}
	}
	return out
}

// changes reports whether an update may change one of some columns.
func (s *set) changes(columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool {
		path := s.pathOf(name)
		return len(path) > 0 && !s.hidden[name] && s.edm.Access(path...) == edm.Free
	})
}
