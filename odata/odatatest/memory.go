package odatatest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// Memory is the data of Tables with the model of Mapping, for package memory: struct types made of the columns.
func Memory() memory.Config { return MemoryOf(Mapping(), append(Tables(), cheap())) }

// cheap is the view of Fill.
func cheap() Table {
	all := things()
	view := Table{Name: "cheap", Columns: []string{"id big!", "name str!", "price dec"}, Key: []string{"id"}}
	for _, row := range all.Rows {
		if price, ok := row[3].(string); ok && (strings.HasPrefix(price, "0") || strings.HasPrefix(price, "-")) {
			view.Rows = append(view.Rows, []any{row[0], row[1], row[3]})
		}
	}
	return view
}

// MemoryOf makes of the mapping of tables what the mapping makes of a database with these tables, but for navigation that
// only foreign keys say: of it there is what Table.Foreign says of tables that the mapping discovers.
func MemoryOf(cfg sqlsource.Config, tables []Table) memory.Config {
	out := memory.Config{Namespace: cfg.Namespace, Guard: cfg.Guard}
	for _, e := range cfg.Enums {
		out.Enums = append(out.Enums, memory.Enum{Name: e.Name, Flags: e.Flags, Members: e.Members})
	}
	byName := map[string]Table{}
	for _, t := range tables {
		byName[t.Name] = t
	}
	sets := cfg.EntitySets
	for _, name := range cfg.Discover {
		if _, ok := byName[name]; ok && name != "users" {
			sets = append(sets, sqlsource.EntitySet{Name: strings.ReplaceAll(name, " ", "_"), Table: name})
		}
	}
	for _, s := range sets {
		out.Sets = append(out.Sets, memorySet(s, byName))
	}
	partners(&out, sets)
	for _, s := range cfg.Singletons {
		out.Singletons = append(out.Singletons, memorySet(s, byName))
	}
	for _, s := range sets[len(cfg.EntitySets):] {
		for _, f := range byName[s.Table].Foreign {
			column, target, _ := strings.Cut(f, " -> ")
			table, key, _ := strings.Cut(strings.TrimSuffix(target, ")"), "(")
			for i := range out.Sets {
				if strings.EqualFold(out.Sets[i].Name, table) {
					out.Sets[i].Navigations = append(out.Sets[i].Navigations, memory.Navigation{
						Name: s.Name, To: s.Name, Many: true, On: map[string]string{key: column},
					})
				}
			}
		}
	}
	return out
}

func memorySet(s sqlsource.EntitySet, tables map[string]Table) memory.Set {
	t := tables[s.Table]
	if len(s.Key) > 0 {
		t.Key = s.Key
	}
	out := memory.Set{Name: s.Name, Type: s.Type, Guard: s.Guard, Filter: s.Filter, NoApply: s.NoApply, Rows: records(t, s), Write: memoryWrite(s)}
	for _, n := range s.Navigations {
		nav := memory.Navigation{Name: n.Name, To: n.To, Many: n.Many, On: n.On, Foreign: !n.Many && foreign(t, n)}
		if n.Via != "" {
			nav.Via, nav.FromKey, nav.ToKey = records(tables[n.Via], sqlsource.EntitySet{}), n.FromKey, n.ToKey
			nav.Foreign = len(tables[n.Via].Foreign) > 0
		}
		out.Navigations = append(out.Navigations, nav)
	}
	return out
}

// partners names the way back of each navigation property through a table in between that has one.
func partners(out *memory.Config, sets []sqlsource.EntitySet) {
	for i, s := range sets {
		for j, n := range s.Navigations {
			for _, to := range sets {
				for _, back := range to.Navigations {
					if n.Via != "" && back.Via == n.Via && to.Name == n.To && back.To == s.Name && back.FromKey == n.ToKey && back.ToKey == n.FromKey {
						out.Sets[i].Navigations[j].Partner = back.Name
					}
				}
			}
		}
	}
}

// foreign reports whether a navigation property is that of a foreign key.
func foreign(t Table, n sqlsource.Navigation) bool {
	for own, other := range n.On {
		if slices.ContainsFunc(t.Foreign, func(f string) bool {
			return strings.HasPrefix(f, own+" -> ") && strings.HasSuffix(f, "("+other+")")
		}) {
			return true
		}
	}
	return false
}

// memoryWrite makes the paths of properties of the columns of a Write.
func memoryWrite(s sqlsource.EntitySet) *memory.Write {
	w := s.Write
	if w == nil {
		return nil
	}
	path := func(column string) string {
		for _, p := range s.Properties {
			if p.Column == column && p.Name != "" {
				return p.Name
			}
		}
		if len(s.Complexes) > 0 && strings.HasPrefix(column, s.Complexes[0].Prefix) {
			return s.Complexes[0].Name + "/" + strings.TrimPrefix(column, s.Complexes[0].Prefix)
		}
		return column
	}
	out := &memory.Write{Create: w.Create, Update: w.Update, Delete: w.Delete, Filter: w.Filter, Set: map[string]string{}, Touch: map[string]string{}}
	for column, value := range w.Set {
		out.Set[path(column)] = value
	}
	for column, value := range w.Touch {
		out.Touch[path(column)] = value
	}
	for _, column := range w.Fixed {
		out.Fixed = append(out.Fixed, path(column))
	}
	if w.Version != "" {
		out.Version = path(w.Version)
	}
	return out
}

// records are the rows of a table as a slice of structs.
func records(t Table, s sqlsource.EntitySet) any {
	var fields, members []reflect.StructField
	place := make([]func(row reflect.Value) reflect.Value, len(t.Columns))
	for i, c := range t.Columns {
		name, typ := splitColumn(c)
		f := reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: goType(typ)}
		tag := odataName(name)
		for _, p := range s.Properties {
			if p.Column == name && p.Name != "" {
				tag = p.Name
			}
			if p.Column == name && p.Aggregate != "" {
				tag += ",aggregate=" + p.Aggregate
			}
			if p.Column == name && p.Look.Currency != "" {
				tag += ",currency=" + p.Look.Currency
			}
			if p.Column == name && p.Look.Unit != "" {
				tag += ",unit=" + p.Look.Unit
			}
			if p.Column == name && p.Type != "" {
				tag += ",type=" + p.Type
			}
		}
		if inside := len(s.Complexes) > 0 && strings.HasPrefix(name, s.Complexes[0].Prefix); inside {
			tag = strings.TrimPrefix(name, s.Complexes[0].Prefix)
			f.Name = fmt.Sprintf("M%d", len(members))
			place[i] = func(row reflect.Value) reflect.Value { return row.FieldByName("Complex").FieldByName(f.Name) }
		} else {
			place[i] = func(row reflect.Value) reflect.Value { return row.FieldByName(f.Name) }
		}
		f.Tag = reflect.StructTag(`odata:"` + tag + options(t, s, name, typ) + `"`)
		if f.Name[0] == 'M' {
			members = append(members, f)
		} else {
			fields = append(fields, f)
		}
	}
	if members != nil {
		fields = append(fields, reflect.StructField{
			Name: "Complex", Type: reflect.StructOf(members),
			Tag: reflect.StructTag(`odata:"` + s.Complexes[0].Name + ",type=" + s.Complexes[0].Type + `"`),
		})
	}
	list := reflect.MakeSlice(reflect.SliceOf(reflect.StructOf(fields)), len(t.Rows), len(t.Rows))
	for i, row := range t.Rows {
		for j, v := range row {
			fill(place[j](list.Index(i)), v)
		}
	}
	return list.Interface()
}

// fill puts a value into a field; nil is left out.
func fill(field reflect.Value, v any) {
	switch {
	case v == nil:
		return
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if text, ok := v.(string); ok && field.Type() == reflect.TypeFor[apd.Decimal]() {
		if d, _, err := apd.NewFromString(text); err == nil {
			v = *d
		}
	}
	field.Set(reflect.ValueOf(v).Convert(field.Type()))
}

// goType is the type of a field for a column.
func goType(typ string) reflect.Type {
	bare := strings.TrimSuffix(typ, "!")
	t := map[string]reflect.Type{
		"big": reflect.TypeFor[int64](), "dbl": reflect.TypeFor[float64](), "bool": reflect.TypeFor[bool](), "bin": reflect.TypeFor[[]byte](), "vbin": reflect.TypeFor[[]byte](),
		"auto": reflect.TypeFor[int64](), "once": reflect.TypeFor[int64](), "wide": reflect.TypeFor[apd.Decimal](), "deep": reflect.TypeFor[apd.Decimal](), "fine": reflect.TypeFor[apd.Decimal](),
	}[bare]
	if t == nil {
		t = reflect.TypeFor[string]()
	}
	if bare == typ && bare != "bin" {
		return reflect.PointerTo(t)
	}
	return t
}

// options is the rest of the tag.
func options(t Table, s sqlsource.EntitySet, name, typ string) string {
	out := map[string]string{
		"dec": ",type=Decimal,precision=12,scale=4", "wide": ",precision=65,scale=0", "deep": ",precision=65,scale=30", "fine": ",precision=65,scale=38",
		"auto": ",auto", "once": ",auto", "date": ",type=Date", "ts": ",type=DateTimeOffset", "time": ",type=TimeOfDay", "uuid": ",type=Guid",
	}[strings.TrimSuffix(typ, "!")]
	for _, list := range []struct {
		names []string
		word  string
	}{{t.Key, ",key"}, {s.Hide, ",hide"}, {s.Search, ",search"}, {t.Unique, ",unique"}} {
		for _, n := range list.names {
			if n == name {
				out += list.word
			}
		}
	}
	if value, ok := t.Defaults[name]; ok {
		out += ",default=" + value
	}
	if s.Write != nil && strings.TrimSuffix(typ, "!") == "str" {
		out += ",length=80"
	}
	return out
}

// odataName is the name that sqlsource gives the property of a column.
func odataName(column string) string {
	name := strings.ReplaceAll(column, " ", "_")
	if name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}
