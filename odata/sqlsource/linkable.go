package sqlsource

import (
	"context"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// Unlinkable is a navigation property through a table in between whose links cannot be written, although both sets have
// Write.Update.
type Unlinkable struct {
	// Set and Navigation are the names of the set and of the property.
	Set, Navigation string
	// What is the reason, Remedy the way out.
	What, Remedy string
}

// Unlinkable lists the navigation properties whose links cannot be written.
func (s *Source) Unlinkable() []Unlinkable { return s.unlinkable }

// linkable decides whether links can be added to a table in between, and removed.
func (b *builder) linkable(r *relationship, nav *edm.Navigation) {
	what, remedy := b.linkFault(r)
	if nav.Linkable = what == ""; !nav.Linkable {
		b.unlinkable = append(b.unlinkable, Unlinkable{r.from.edm.Name, r.name, what, remedy})
	}
}

func (b *builder) linkFault(r *relationship) (what, remedy string) {
	name := quoted(strings.Join(tableName(r.between), "."))
	if r.between.View {
		return name + " is a view, and views cannot be written", "name the table itself in via"
	}
	for _, s := range []*set{r.from, r.to} {
		if s.table == r.between {
			return name + " is the table of a set, too", "go through a table that holds nothing but links"
		}
	}
	own := []string{r.via.ViaFrom[0].Name, r.via.ViaTo[0].Name}
	for _, c := range slices.Concat(r.between.Columns, r.between.Opaque) {
		end := slices.Index(own, c.Name)
		switch {
		case end >= 0 && c.Generated:
			return "the database computes the column " + quoted(c.Name) + " of " + name + " itself", "name another column in from_key or to_key"
		case end < 0 && !c.Nullable && !c.Default && !c.Generated && !c.Counted:
			return "the column " + quoted(c.Name) + " of " + name + " needs a value, and a link has none for it", "give it a default in the database, or make an entity_set of the table"
		}
	}
	for i, s := range []*set{r.from, r.to} {
		key := b.keyColumn(s)
		if via := r.between.Column(own[i]); key != nil && !sameKind(edmType(b.dialect, key).Kind, edmType(b.dialect, via).Kind) {
			return "the column " + quoted(own[i]) + " of " + name + " is of another type than the key of " + quoted(s.edm.Name), "give it the type of the key"
		}
	}
	return "", ""
}

// keyColumn returns the column of a key of one property.
func (b *builder) keyColumn(s *set) *introspect.Column {
	return s.table.Column(s.stored.Columns[s.edm.Type.Key[0]].Name)
}

// sameKind reports whether values of one kind are kept by a column of the other.
func sameKind(a, b edm.Kind) bool { return a == b || a.Integer() && b.Integer() }

// mayLink asks the database whether it lets this program write the tables in between, as writable asks for those of sets. What
// concerns no set that may be updated is dropped.
func (s *Source) mayLink(ctx context.Context, b *builder) {
	updates := func(set *edm.EntitySet) bool { return set.Write != nil && set.Write.Update }
	for _, set := range b.sets {
		for _, nav := range set.edm.Type.Navigation {
			if !nav.Linkable || !updates(set.edm) || !updates(nav.Target) {
				continue
			}
			if engine.MayNot(s.tryWrite(ctx, s.gen.NoLink(nav, "INSERT"))) || engine.MayNot(s.tryWrite(ctx, s.gen.NoLink(nav, "DELETE"))) {
				nav.Linkable = false
				what := "the user of the database may not add and remove rows of " + quoted(strings.Join(s.gen.Between(nav), "."))
				b.unlinkable = append(b.unlinkable, Unlinkable{set.edm.Name, nav.Name, what, "grant it INSERT and DELETE"})
			}
		}
	}
	s.unlinkable = slices.DeleteFunc(b.unlinkable, func(u Unlinkable) bool {
		set := b.model.Set(u.Set)
		return set == nil || !updates(set) || set.Type.Nav(u.Navigation) == nil || !updates(set.Type.Nav(u.Navigation).Target)
	})
}
