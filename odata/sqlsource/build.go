package sqlsource

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// build makes model and mapping of a Config.
func build(cfg Config, dialect string, tables []*introspect.Table) (*builder, error) {
	b := newBuilder(cfg, dialect, tables)
	b.run()
	if len(b.findings) > 0 {
		return nil, &Invalid{b.findings}
	}
	return b, nil
}

// leftOut lists the columns that no set has.
func (b *builder) leftOut() []LeftOut {
	var left []LeftOut
	for _, s := range b.sets {
		for _, c := range s.table.Opaque {
			if !slices.ContainsFunc(s.cfg.Hide, func(name string) bool { return sameName(name, c.Name) }) {
				left = append(left, LeftOut{s.edm.Name, c.Name, c.Type})
			}
		}
	}
	return left
}

func newBuilder(cfg Config, dialect string, tables []*introspect.Table) *builder {
	cfg.Namespace = cmp.Or(cfg.Namespace, "Vestibule")
	return &builder{
		cfg: cfg, dialect: dialect, tables: tables,
		model:   &edm.Model{Namespace: cfg.Namespace, Container: "Container", Guard: cfg.Guard, Texts: cfg.Texts},
		mapping: &sqltext.Mapping{Tables: map[*edm.EntitySet]*sqltext.Table{}, Links: map[*edm.Navigation]*sqltext.Link{}},
	}
}

// run runs the steps; later ones need the sets of the earlier ones.
func (b *builder) run() {
	b.enums()
	b.named()
	b.discovered()
	for _, s := range b.sets {
		b.properties(s)
	}
	b.navigations()
	b.looks()
	for _, s := range b.sets {
		b.write(s)
	}
	if len(b.findings) == 0 {
		b.verify()
	}
}

func (b *builder) enums() {
	seen := map[string]bool{}
	for _, e := range b.cfg.Enums {
		at := []string{"enum", e.Name}
		if !edm.Identifier(e.Name) || seen[e.Name] {
			b.report(at, "the name is taken, or no identifier", "use letters, digits and underscores, and another name for each enum")
			continue
		}
		seen[e.Name] = true
		for name := range e.Members {
			if !edm.Identifier(name) {
				b.report(append(at, "members"), "the member "+quoted(name)+" is no identifier", "use letters, digits and underscores, not starting with a digit")
			}
		}
		if len(e.Members) == 0 {
			b.report(append(at, "members"), "an enumeration needs members", "write members = { None = 0 }")
		}
		for _, name := range slices.Sorted(maps.Keys(e.Labels)) {
			if _, ok := e.Members[name]; !ok {
				b.report(append(at, "labels", name), "there is no member "+quoted(name), finding.DidYouMean(name, slices.Sorted(maps.Keys(e.Members))))
			}
		}
		b.model.Enums = append(b.model.Enums, edm.NewEnum(e.Name, e.Flags, e.Members, e.Labels))
	}
}

// named adds the sets and singletons that the Config names.
func (b *builder) named() {
	for i, list := range [][]EntitySet{b.cfg.EntitySets, b.cfg.Singletons} {
		for _, c := range list {
			kind := [...]string{"entity_set", "singleton"}[i]
			b.add(c, kind, kind == "singleton")
		}
	}
}

func (b *builder) add(c EntitySet, kind string, single bool) {
	s := &set{cfg: c, path: []string{kind, c.Name}}
	if !edm.Identifier(c.Name) {
		b.report(s.path, "the name is no identifier", "use letters, digits and underscores, not starting with a digit")
		return
	}
	c.Table = cmp.Or(c.Table, c.Name)
	s.table = b.table(c.Table)
	switch {
	case b.protected(c.Table, s.table, c.Hide...):
		b.report(s.at("table"), quoted(c.Table)+" holds credentials and cannot be exposed", "expose a view that you have made for it")
		return
	case s.table == nil:
		b.report(s.at("table"), "there is no table or view "+quoted(c.Table), finding.DidYouMean(c.Table, b.tableNames()))
		return
	case s.table.Broken != nil:
		b.broken(s.at("table"), s.table)
		return
	}
	b.attach(s, single)
}

// attach makes the set of the model.
func (b *builder) attach(s *set, single bool) {
	c := s.cfg
	typeName := cmp.Or(c.Type, c.Name)
	switch {
	case !edm.Identifier(typeName):
		b.report(s.at("type"), "the name is no identifier", "use letters, digits and underscores, not starting with a digit")
	case b.model.EntityType(typeName) != nil || b.model.Enum(typeName) != nil:
		b.report(s.at("type"), "the type name "+quoted(typeName)+" is taken", "choose another name")
	case b.model.Set(c.Name) != nil || b.model.Singleton(c.Name) != nil:
		b.report(s.path, "the name is taken", "choose another name")
	}
	guard := b.cfg.Guard
	if c.Guard != "" {
		g, ok := edm.ParseGuard(c.Guard)
		if !ok {
			b.report(s.at("guard"), "there is no guard "+quoted(c.Guard), "use session, settled or none")
		}
		guard = g
	}
	description := cmp.Or(c.Description, s.table.Comment)
	t := &edm.EntityType{Name: typeName, Description: description}
	if typeName == b.model.Container {
		b.model.Container = "Service" + b.model.Container
	}
	es := edm.EntitySet{Name: c.Name, Type: t, Guard: guard, NoApply: c.NoApply, Policy: c.Filter, Description: description}
	b.model.Types = append(b.model.Types, t)
	s.edm = b.model.Add(es, single)
	s.stored = &sqltext.Table{
		Name: tableName(s.table), Columns: map[*edm.Property]*sqltext.Column{},
		Indexes: append([][]string{s.table.Key}, s.table.Indexes...), Ordered: s.table.Ordered, Ordinary: s.table.Ordinary, Changes: s.table.Changes, View: s.table.View, RowID: s.table.RowID, Rules: s.table.Rules,
	}
	b.mapping.Tables[s.edm] = s.stored
	b.sets = append(b.sets, s)
}

// discovered adds the tables that discover asks for and no set is made of yet.
func (b *builder) discovered() {
	taken := map[*introspect.Table]bool{}
	for _, s := range b.sets {
		taken[s.table] = true
	}
	var free []*introspect.Table
	for _, pattern := range b.cfg.Discover {
		at := []string{"discover"}
		found := false
		for _, t := range b.tables {
			if !matches(pattern, t) {
				continue
			}
			found = true
			if t.Broken != nil {
				if !strings.Contains(pattern, "*") {
					b.broken(at, t)
				}
				continue
			}
			if taken[t] || b.protected(t.Name, t) || strings.Contains(pattern, "*") && b.passedOver(t) {
				continue
			}
			if len(t.Key) == 0 && len(t.Unique) == 0 {
				if !strings.Contains(pattern, "*") {
					b.report(at, quoted(pattern)+" has no primary key", "name its key in an entity_set")
				}
				continue
			}
			taken[t] = true
			free = append(free, t)
		}
		if !found && !strings.Contains(pattern, "*") && !b.protected(pattern, nil) {
			b.report(at, "there is no table or view "+quoted(pattern), finding.DidYouMean(pattern, b.tableNames()))
		}
	}
	names := b.freeNames(free)
	for _, t := range free {
		b.attach(&set{cfg: EntitySet{Name: names[t]}, path: []string{"discover", t.Name}, table: t}, false)
	}
}

// broken reports a view that the configuration names and that the database cannot read.
func (b *builder) broken(at []string, t *introspect.Table) {
	name := quoted(strings.Join(tableName(t), "."))
	if t.View {
		b.report(at, "the database cannot read the view "+name,
			"correct the view, such as one whose table or column was dropped or renamed, or take it out here")
		return
	}
	b.report(at, "the database cannot read the table "+name,
		"take it out here, or make a table or view that needs no module or function of another program")
}

// matches reports whether a name of Discover means the table; "*" stands for any characters, also none.
func matches(pattern string, t *introspect.Table) bool {
	name := strings.Join(tableName(t), ".")
	if !strings.Contains(pattern, "*") {
		return sameName(pattern, name)
	}
	first, rest, _ := strings.Cut(strings.ToLower(pattern), "*")
	name, ok := strings.CutPrefix(strings.ToLower(name), first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// freeNames gives tables names that no set has. A table whose name is an identifier comes before those whose names only
// become one.
func (b *builder) freeNames(tables []*introspect.Table) map[*introspect.Table]string {
	names, taken := map[*introspect.Table]string{}, map[string]bool{}
	for _, legal := range []bool{true, false} {
		for _, t := range tables {
			if edm.Identifier(t.Name) == legal {
				names[t] = b.freeName(t.Name, taken)
				taken[names[t]] = true
			}
		}
	}
	return names
}

// freeName makes an identifier that no set has and that is not taken: the name itself, or with the first free number
// behind it.
func (b *builder) freeName(name string, taken map[string]bool) string {
	id := makeIdentifier(name)
	free := id
	for n := 2; taken[free] || b.model.Set(free) != nil || b.model.Singleton(free) != nil || b.model.EntityType(free) != nil || b.model.Enum(free) != nil; n++ {
		suffix := "_" + strconv.Itoa(n)
		free = string([]rune(id)[:min(utf8.RuneCountInString(id), edm.MaxIdentifier-len(suffix))]) + suffix
	}
	return free
}

// verify asks the model itself, and the row policies.
func (b *builder) verify() {
	if err := b.model.Check(); err != nil {
		b.report(nil, err.Error(), "")
		return
	}
	_, err := bind.New(b.model)
	for _, s := range b.sets {
		if fault := policyFault(err, s.edm, false); fault != nil {
			b.report(s.at("filter"), fault.Error(), "correct the row policy")
		}
		if fault := policyFault(err, s.edm, true); fault != nil {
			b.report(s.at("write"), fault.Error(), "correct the filter or the value")
		}
	}
}

// policyFault finds the fault of one set among joined ones: that of its row policy or, with write, that of its edm.Write.Filter.
func policyFault(err error, set *edm.EntitySet, write bool) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var fault *bind.PolicyError
		if errors.As(e, &fault) && fault.Set == set && fault.Write == write {
			return fault.Err
		}
	}
	return nil
}
