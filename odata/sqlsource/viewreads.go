package sqlsource

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// viewReads knows which tables the views of a database read, by their definitions and those of the functions that they name.
type viewReads struct {
	definitions map[[2]string]string
	// credentials are the protected tables. owned are those with a foreign key to users; owners are the columns of these keys.
	credentials, owned []*introspect.Table
	owners             []string
}

func (b *builder) viewReads(definitions map[[2]string]string) *viewReads {
	v := &viewReads{definitions: definitions}
	for _, t := range b.tables {
		if b.protected(t.Name, t) {
			v.credentials = append(v.credentials, t)
			continue
		}
		for _, f := range t.Foreign {
			if toUsers(f) {
				v.owned, v.owners = append(v.owned, t), append(v.owners, f.Columns[0])
			}
		}
	}
	return v
}

// toUsers reports whether a foreign key of one column refers to the people who sign in.
func toUsers(f introspect.ForeignKey) bool {
	return strings.EqualFold(f.Table, usersTable) && f.Schema == "" && len(f.Columns) == 1 && len(f.Referenced) == 1
}

// unsafe returns the reason why a view is left to the operator: it reads a protected table, or rows that belong to users
// without the column that says to whom, or nobody can tell. It is empty for other views, and for tables.
func (v *viewReads) unsafe(t *introspect.Table) string {
	if !t.View {
		return ""
	}
	if t.Broken == nil && v.definitions[[2]string{t.Schema, t.Name}] == "" {
		return "its definition is hidden, for want of the privilege SHOW VIEW, and it may read anything; write a set for it if people may see its rows"
	}
	if name := v.first(t, v.credentials); name != "" {
		return "it reads " + name + "; write a set for it if people may see its rows"
	}
	owner := func(c introspect.Column) bool { return slices.Contains(v.owners, c.Name) }
	if name := v.first(t, v.owned); name != "" && !slices.ContainsFunc(t.Columns, owner) {
		return "it reads " + name + ", whose rows belong to users; write a set for it if people may see all of its rows"
	}
	return ""
}

// first returns the name of the first of some tables that a view reads, also through other views and functions; empty if it reads none.
func (v *viewReads) first(view *introspect.Table, tables []*introspect.Table) string {
	seen := map[[2]string]bool{}
	next := [][2]string{{view.Schema, view.Name}}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, t := range tables {
			if mentionsName(v.definitions[at], t.Name) {
				return strings.Join(tableName(t), ".")
			}
		}
		for other := range v.definitions {
			if mentionsName(v.definitions[at], other[1]) {
				next = append(next, other)
			}
		}
	}
	return ""
}

// mentionsName reports whether a statement has a name in it, whatever it names there.
func mentionsName(statement, name string) bool {
	return name != "" && regexp.MustCompile(`(?i)(^|[^\pL\pN_$])`+regexp.QuoteMeta(name)+`($|[^\pL\pN_$])`).MatchString(statement)
}
