package sqlsource

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// relationship is one way from set to set, with the columns that it compares.
type relationship struct {
	from, to         *set
	columns, targets []string
	name             string
	many             bool
	// back is the other direction of the same foreign key; nil when there is none.
	back *relationship
	via  *sqltext.Link
	// between is the table of via.
	between *introspect.Table
	// configured: hidden columns are the operator's own decision then.
	configured bool
	nav        *edm.Navigation
}

// navigations makes the navigation properties: those of foreign keys in both directions, renamed or added to by the
// Config.
func (b *builder) navigations() {
	over := map[[2]string][]*set{}
	for _, s := range b.sets {
		table := [2]string{s.table.Schema, s.table.Name}
		over[table] = append(over[table], s)
	}
	var all []*relationship
	for _, s := range b.sets {
		all = append(all, b.foreign(s, over)...)
	}
	for _, s := range b.sets {
		for _, n := range s.cfg.Navigations {
			if r := b.fromBlock(s, n, all); r != nil {
				all = append(all, r)
			}
		}
	}
	for _, r := range all {
		switch {
		case r.configured || !r.hidden():
			b.addNavigation(r)
		case !r.many:
			r.from.edm.Type.Unlisted = append(r.from.edm.Type.Unlisted, b.link(r))
		}
	}
	mirrored(all)
	for _, r := range all {
		if r.nav != nil && r.back != nil && r.back.nav != nil {
			r.nav.Partner = r.back.nav.Name
		}
	}
}

// hidden tells whether a way would show what a hidden column holds.
func (r *relationship) hidden() bool {
	for i := range r.columns {
		if r.from.hidden[r.columns[i]] || r.to.hidden[r.targets[i]] {
			return true
		}
	}
	return false
}

// foreign makes the two ways of each foreign key of a set's table, for all sets over the referenced table; over has the sets by
// schema and name of their table.
func (b *builder) foreign(s *set, over map[[2]string][]*set) []*relationship {
	var out []*relationship
	for _, f := range s.table.Foreign {
		if len(f.Referenced) != len(f.Columns) || len(f.Columns) == 0 {
			continue
		}
		targets := over[[2]string{f.Schema, f.Table}]
		for _, target := range targets {
			if !holdsAll(columnNames(s.table), f.Columns) || !holdsAll(columnNames(target.table), f.Referenced) {
				continue
			}
			to := &relationship{from: s, to: target, columns: f.Columns, targets: f.Referenced}
			if len(f.Columns) == 1 {
				to.name = relation(f.Columns[0])
			}
			stem := to.name
			if stem == "" {
				stem = makeIdentifier(strings.Join(f.Columns, "_"))
			}
			if to.name == "" || ambiguous(targets) {
				to.name = stem + "_" + target.edm.Name
			}
			back := &relationship{from: target, to: s, columns: f.Referenced, targets: f.Columns, many: true, name: s.edm.Name}
			if s == target || countTo(s.table, f) > 1 {
				back.name = s.edm.Name + "_" + stem
			}
			if !s.edm.Single() {
				to.back, back.back = back, to
				out = append(out, back)
			}
			if !target.edm.Single() {
				out = append(out, to)
			}
		}
	}
	return out
}

// mirrored finds the ways that lead back over the same columns of a table in between.
func mirrored(all []*relationship) {
	through := slices.DeleteFunc(slices.Clone(all), func(r *relationship) bool { return r.between == nil })
	for _, r := range through {
		var back []*relationship
		for _, other := range through {
			if other.between == r.between && other != r && other.from == r.to && other.to == r.from &&
				other.via.ViaFrom[0].Name == r.via.ViaTo[0].Name && other.via.ViaTo[0].Name == r.via.ViaFrom[0].Name {
				back = append(back, other)
			}
		}
		if len(back) == 1 {
			r.back = back[0]
		}
	}
}

// ambiguous reports whether several of the targets are sets, so that a column alone names none of them.
func ambiguous(targets []*set) bool {
	n := 0
	for _, s := range targets {
		if !s.edm.Single() {
			n++
		}
	}
	return n > 1
}

func countTo(t *introspect.Table, f introspect.ForeignKey) int {
	n := 0
	for _, other := range t.Foreign {
		if other.Table == f.Table && other.Schema == f.Schema {
			n++
		}
	}
	return n
}

// fromBlock returns the relationship of a navigation block. It returns nil if the block has a mistake, which it reports,
// and if a foreign key gives the same relationship: that one gets the block's name.
func (b *builder) fromBlock(s *set, n Navigation, all []*relationship) *relationship {
	at := func(more ...string) []string { return s.at(append([]string{"navigation", n.Name}, more...)...) }
	if !edm.Identifier(n.Name) {
		b.report(at(), "the name is no identifier", "use letters, digits and underscores, not starting with a digit")
		return nil
	}
	var target *set
	var names []string
	for _, other := range b.sets {
		if !other.edm.Single() {
			names = append(names, other.edm.Name)
		}
		if other.edm.Name == n.To && !other.edm.Single() {
			target = other
		}
	}
	if target == nil {
		b.report(at("to"), "there is no entity set "+quoted(n.To), finding.DidYouMean(n.To, names))
		return nil
	}
	r := &relationship{from: s, to: target, name: n.Name, many: n.Many, configured: true}
	if n.Via != "" {
		if b.via(r, n, at) {
			return r
		}
		return nil
	}
	if len(n.On) == 0 {
		b.report(at("on"), "it says neither on nor via", "write on = { column = \"column of the target\" }, or name the table between in via")
		return nil
	}
	for _, column := range slices.Sorted(maps.Keys(n.On)) {
		own := b.columns(s, []string{column}, "navigation", n.Name, "on")
		other := b.columns(target, []string{n.On[column]}, "navigation", n.Name, "on")
		if len(own) == 0 || len(other) == 0 {
			return nil
		}
		r.columns, r.targets = append(r.columns, own[0]), append(r.targets, other[0])
	}
	if !n.Many && !identifies(target, r.targets) {
		b.report(at("on"), "the columns "+quoted(strings.Join(r.targets, ", "))+" do not identify one row of "+quoted(n.To), "add many = true")
		return nil
	}
	for _, old := range all {
		if old.from == s && old.to == target && old.many == n.Many && !old.configured && sameWay(old, r) {
			old.name, old.configured = n.Name, true
			return nil
		}
	}
	return r
}

func sameWay(a, b *relationship) bool {
	pairs := func(r *relationship) string {
		list := make([]string, len(r.columns))
		for i := range r.columns {
			list[i] = r.columns[i] + "\x00" + r.targets[i]
		}
		sort.Strings(list)
		return strings.Join(list, "\x01")
	}
	return pairs(a) == pairs(b)
}

// identifies reports whether values of the columns, none of them null, pick at most one row.
func identifies(s *set, columns []string) bool {
	var key []string
	for _, p := range s.edm.Type.Key {
		for name, q := range s.prop {
			if p == q {
				key = append(key, name)
			}
		}
	}
	for _, unique := range slices.Concat([][]string{key, s.table.Key}, s.table.Unique, s.table.UniqueOrNull) {
		if len(unique) == 0 {
			continue
		}
		if holdsAll(columns, unique) {
			return true
		}
	}
	return false
}

// via makes a way through a table in between.
func (b *builder) via(r *relationship, n Navigation, at func(...string) []string) bool {
	between := b.table(n.Via)
	switch {
	case b.protected(n.Via, between):
		b.report(at("via"), quoted(n.Via)+" holds credentials and cannot be used", "go through another table")
		return false
	case between == nil:
		b.report(at("via"), "there is no table "+quoted(n.Via), finding.DidYouMean(n.Via, b.tableNames()))
		return false
	case len(r.from.edm.Type.Key) != 1 || len(r.to.edm.Type.Key) != 1:
		b.report(at("via"), "via needs keys of one column at both ends", "write on instead")
		return false
	case !n.Many:
		b.report(at("many"), "a way through a table in between leads to many", "add many = true")
		return false
	}
	link := &sqltext.Link{
		From: []*sqltext.Column{r.from.stored.Columns[r.from.edm.Type.Key[0]]},
		To:   []*sqltext.Column{r.to.stored.Columns[r.to.edm.Type.Key[0]]},
		Via:  tableName(between), ViaIndexes: append([][]string{between.Key}, between.Indexes...), ViaView: between.View,
	}
	for _, end := range []struct {
		name, where string
		into        *[]*sqltext.Column
	}{{n.FromKey, "from_key", &link.ViaFrom}, {n.ToKey, "to_key", &link.ViaTo}} {
		column := (&set{table: between}).named(end.name)
		if column == nil {
			b.report(at(end.where), "no column "+quoted(end.name)+" in "+quoted(n.Via), finding.DidYouMean(end.name, columnNames(between)))
			return false
		}
		*end.into = []*sqltext.Column{stored(column)}
	}
	r.via, r.between = link, between
	return true
}

// nullable reports whether a column may be null for clients. A key never may, although SQLite stores nulls in some.
func (s *set) nullable(column string) bool {
	if p := s.prop[column]; p != nil {
		return p.Nullable
	}
	return s.column[column].Nullable
}

// addNavigation puts a way into the model.
func (b *builder) addNavigation(r *relationship) {
	t := r.from.edm.Type
	if t.Property(r.name) != nil || t.Nav(r.name) != nil {
		if r.configured {
			b.report(r.from.at("navigation", r.name), "the name is taken", "choose another name")
			return
		}
		r.name += "_" + r.to.edm.Name
		for t.Property(r.name) != nil || t.Nav(r.name) != nil {
			r.name += "_"
		}
	}
	r.nav = b.link(r)
	t.Navigation = append(t.Navigation, r.nav)
}

// link makes the navigation property of a way.
func (b *builder) link(r *relationship) *edm.Navigation {
	nav := &edm.Navigation{Name: r.name, Target: r.to.edm, Collection: r.many}
	link := r.via
	if nav.Through = link != nil; nav.Through {
		b.linkable(r, nav)
	}
	if link == nil {
		link = &sqltext.Link{}
		visible := 0
		for i := range r.columns {
			from, to := r.columns[i], r.targets[i]
			link.From = append(link.From, r.from.column[from])
			link.To = append(link.To, r.to.column[to])
			nav.Nullable = nav.Nullable || !r.many && (r.from.nullable(from) || r.to.edm.Policy != "" || r.back == nil)
			if r.from.prop[from] != nil && r.to.prop[to] != nil {
				visible++
			}
			nav.Pairs = append(nav.Pairs, edm.Pair{Own: r.from.pathOf(from), Other: r.to.pathOf(to)})
		}
		nav.Inverse = !r.many && r.inverse()
		nav.Constrained = !r.many && !nav.Inverse && visible == len(r.columns)
		nav.Enforced = r.many && refers(r.to, r.from, r.targets, r.columns)
	}
	b.mapping.Links[nav] = link
	return nav
}

// inverse reports whether the row of the target holds the foreign key of a way to one: by the foreign keys of the tables, and without
// one by the columns, if they are the own key and not that of the target.
func (r *relationship) inverse() bool {
	whole := func(s *set, columns []string) bool {
		key := s.edm.Type.Key
		return len(key) == len(columns) && !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(key, s.prop[c]) })
	}
	switch {
	case refers(r.from, r.to, r.columns, r.targets):
		return false
	case refers(r.to, r.from, r.targets, r.columns):
		return true
	}
	return whole(r.from, r.columns) && !whole(r.to, r.targets)
}

// refers reports whether a foreign key of the one table names rows of the other by columns.
func refers(from, to *set, columns, targets []string) bool {
	return slices.ContainsFunc(from.table.Foreign, func(f introspect.ForeignKey) bool {
		key := &relationship{columns: f.Columns, targets: f.Referenced}
		return f.Table == to.table.Name && f.Schema == to.table.Schema && len(f.Columns) == len(f.Referenced) && sameWay(key, &relationship{columns: columns, targets: targets})
	})
}
