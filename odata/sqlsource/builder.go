package sqlsource

import (
	"slices"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"

	"golang.org/x/text/unicode/norm"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// builder makes model and mapping from a Config and the tables that there are.
type builder struct {
	cfg      Config
	dialect  string
	tables   []*introspect.Table
	model    *edm.Model
	mapping  *sqltext.Mapping
	findings []Finding
	sets     []*set
	// unlinkable are the navigation properties through a table in between that takes no links.
	unlinkable []Unlinkable
}

// set is an entity set in the making.
type set struct {
	cfg    EntitySet
	path   []string
	table  *introspect.Table
	edm    *edm.EntitySet
	stored *sqltext.Table
	// column finds what a column became: the mapping of a visible or hidden column, and the property of a visible one.
	column map[string]*sqltext.Column
	prop   map[string]*edm.Property
	hidden map[string]bool
}

// report adds a finding.
func (b *builder) report(path []string, what, remedy string) {
	b.findings = append(b.findings, Finding{Path: path, What: what, Remedy: remedy})
}

func (s *set) at(more ...string) []string { return append(append([]string(nil), s.path...), more...) }

func tableName(t *introspect.Table) []string {
	if t.Schema == "" {
		return []string{t.Name}
	}
	return []string{t.Schema, t.Name}
}

// table finds a table that the Config names, with or without quotes: the exact name first, then one that differs as sameName allows;
// nil when there is none.
func (b *builder) table(name string) *introspect.Table {
	clean := strings.NewReplacer(`"`, "", "`", "", "[", "", "]", "").Replace(name)
	for _, equal := range []func(string, string) bool{func(a, b string) bool { return a == b }, sameName} {
		for _, t := range b.tables {
			if full := strings.Join(tableName(t), "."); equal(full, name) || equal(full, clean) {
				return t
			}
		}
	}
	return nil
}

// sameName reports whether names differ by case alone, or by how Unicode composes their letters: a configuration file has
// composed ones, whatever is written in it.
func sameName(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b))
}

func quoted(s string) string { return `"` + s + `"` }

// named returns the column of a name, in its own case first; nil when there is none.
func (s *set) named(name string) *introspect.Column {
	if c := s.table.Column(name); c != nil {
		return c
	}
	for i := range s.table.Columns {
		if sameName(s.table.Columns[i].Name, name) {
			return &s.table.Columns[i]
		}
	}
	return nil
}

// opaque returns the column of a name whose values cannot be shown; nil if there is none.
func (s *set) opaque(name string) *introspect.Column {
	for i := range s.table.Opaque {
		if sameName(s.table.Opaque[i].Name, name) {
			return &s.table.Opaque[i]
		}
	}
	return nil
}

// holdsAll reports whether a list has all of some names.
func holdsAll(list, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, name) })
}

// columns resolves names of columns, in their own case first, and finds fault with those that are not there.
func (b *builder) columns(s *set, names []string, where ...string) []string {
	var out []string
	for _, name := range names {
		c := s.named(name)
		if o := s.opaque(name); c == nil && o != nil {
			b.report(s.at(where...), "the column "+quoted(o.Name)+" is of type "+o.Type+", whose values cannot be shown", "expose a view that converts the column, as with ST_AsText")
			continue
		}
		if c == nil {
			b.report(s.at(where...), "no column "+quoted(name), finding.DidYouMean(name, columnNames(s.table)))
			continue
		}
		out = append(out, c.Name)
	}
	return out
}

func columnNames(t *introspect.Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// makeIdentifier replaces what cannot stand in an identifier by "_".
func makeIdentifier(s string) string {
	id := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) || r == '_' {
			return r
		}
		return '_'
	}, s)
	if id == "" || unicode.IsDigit([]rune(id)[0]) {
		id = "_" + id
	}
	if r := []rune(id); len(r) > edm.MaxIdentifier {
		id = string(r[:edm.MaxIdentifier])
	}
	return id
}

// relation names what a foreign key column points to: "category_id" is the category, "AlbumId" the Album. Empty when
// the column's name does not tell.
func relation(column string) string {
	for _, suffix := range []string{"_id", "_ID", "_Id", "_fk", "_key", "Id", "ID", "Key"} {
		if name, ok := strings.CutSuffix(column, suffix); ok && strings.Trim(name, "_") != "" {
			return makeIdentifier(strings.TrimRight(name, "_"))
		}
	}
	return ""
}
