package sqlsource

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// hostPrefix begins the names of a host's own tables: hashes of tokens, mails that wait, and people's addresses are in
// columns that no word gives away.
const hostPrefix = "vestibule_"

// protected reports whether a table must not be exposed. name is how it was asked for; t is nil when there is no such
// table. hide are the columns that clients do not get.
func (b *builder) protected(name string, t *introspect.Table, hide ...string) bool {
	if b.cfg.Protected != nil {
		return b.cfg.Protected(name) || t != nil && b.cfg.Protected(t.Name)
	}
	if t == nil {
		return false
	}
	credentials := slices.ContainsFunc(t.Columns, func(c introspect.Column) bool {
		hidden := func(h string) bool { return strings.EqualFold(h, c.Name) }
		return holds(c.Name, "password", "secret", "token") && !slices.ContainsFunc(hide, hidden)
	})
	return credentials || strings.HasPrefix(strings.ToLower(t.Name), hostPrefix)
}

// passedOver reports whether a pattern leaves the table out.
func (b *builder) passedOver(t *introspect.Table) bool {
	if b.cfg.PassOver != nil {
		return b.cfg.PassOver(t.Name)
	}
	return holds(t.Name, "session")
}

func holds(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// tableNames are the tables that a message may suggest.
func (b *builder) tableNames() []string {
	var names []string
	for _, t := range b.tables {
		if !b.protected(t.Name, t) {
			names = append(names, strings.Join(tableName(t), "."))
		}
	}
	return names
}
