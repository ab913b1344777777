package sqlsource

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Config lists the parts of a database that are exposed. The zero value exposes nothing. Names of tables and columns
// are those of the database; "schema.table" names a table outside of the default schema.
type Config struct {
	// Protected reports whether a table must never be exposed, by whatever name it is asked for: with schema, quotes, in
	// any case. A host gives reserved.Table. When nil, the tables vestibule_* of a host are protected, and a
	// table that has a column whose name holds "password", "secret" or "token", unless an entity set hides that column.
	Protected func(table string) bool
	// PassOver reports whether a pattern in Discover leaves a table out, which may still be named. A host gives
	// reserved.SessionTable. When nil, tables are left out whose name holds "session".
	PassOver func(table string) bool
	// Namespace of the types; "Vestibule" when empty.
	Namespace string
	// Guard of the service, and of the sets that have none of their own.
	Guard edm.Guard
	// Discover lists tables and views to expose as found; "*" in a name stands for any characters. Protected tables are
	// passed over.
	Discover []string
	// EntitySets come on top of what is discovered; one over a discovered table replaces what was found.
	EntitySets []EntitySet
	Enums      []Enum
	// Singletons are entity sets of one row. Many, Key and Search mean nothing there.
	Singletons []EntitySet
	// Texts are those that labels, titles and descriptions are keys of; nil where these are the texts.
	Texts *edm.Texts
}

// EntitySet is one entity set and its type.
type EntitySet struct {
	Name string
	// Table is the table or view; Name when empty.
	Table string
	// Type is the name of the entity type; Name when empty.
	Type string
	// Guard is "session", "settled" or "none"; that of the Config when empty.
	Guard string
	// Key are columns; the primary key when empty.
	Key []string
	// Hide are columns that do not exist for clients.
	Hide []string
	// Search are the columns that $search looks at; the set cannot be searched when empty.
	Search []string
	// Filter is a row policy in $filter syntax.
	Filter string
	// NoApply turns $apply off for the set.
	NoApply bool
	// Description is for people; the comment of the table when empty.
	Description string
	// Look is how tables and forms show the entities.
	Look        TypeLook
	Properties  []Property
	Complexes   []Complex
	Navigations []Navigation
	// Write holds what may be written; nil for nothing. The set must be a table with a key that the database keeps unique.
	Write *Write
}

// Write says which rows of a set may be written. Columns may be hidden ones, and those of complex properties.
type Write struct {
	Create, Update, Delete bool
	// Filter is a condition in $filter syntax on the rows that may be changed, before and after, besides that of the set.
	Filter string
	// Set are the values that a new row gets, whatever a client sends, Touch those that it gets with every change, by column:
	// constants as $value shows them, "@user_COLUMN" for a column of the user, and "@now".
	Set, Touch map[string]string
	// Fixed are columns that are given at creation and never changed.
	Fixed []string
	// Version is an integer column that counts the changes of a row; empty for none.
	Version string
	// Validator names the rules that are asked before each change (odata.Options.Validate); empty for none.
	Validator string
}

// Property renames a column or gives it a type.
type Property struct {
	Column string
	// Name is the property's name; that of the column when empty.
	Name string
	// Type is the name of an Enum, or of an Edm type with or without "Edm."; as found when empty.
	Type string
	// Aggregate makes the property a custom aggregate of $apply: sum, min, max, average, countdistinct, or unit for the one
	// value that all rows have, else null. Empty for none.
	Aggregate string
	// Precision and Scale are facets of the type; nil for none.
	Precision, Scale *int
	// Description is for people; the comment of the column when empty.
	Description string
	// Look is how tables and forms show the values.
	Look Look
}

// TypeLook is what an EntitySet says for tables and forms. Paths are of names as clients see them, through complex
// properties and navigation to one: "category/name".
type TypeLook struct {
	// Title names one entity, Plural several.
	Title, Plural string
	// List are the columns of a table, Fields what a form shows, Search what one filters by.
	List, Fields, Search []string
	// SemanticKey are the properties by which people know an entity.
	SemanticKey []string
}

// Look is what a Property says for tables and forms. Paths are as in TypeLook.
type Look struct {
	// Label is derived from the name when empty.
	Label string
	// Text is the path of a text for the value.
	Text string
	// Currency and Unit are paths, or constants in quotes: "'EUR'".
	Currency, Unit string
	// ValueList is the entity set whose rows are the possible values.
	ValueList string
	// Hidden properties are of no interest to people.
	Hidden bool
	// Format is one of edm.Formats.
	Format string
}

// Complex makes one complex property of columns whose names begin alike.
type Complex struct {
	// Type is the name of the complex type, Name that of the property (Type when empty).
	Type, Name string
	// Prefix is what the columns' names begin with; the rest is the member's name.
	Prefix string
}

// Navigation adds a navigation property, or renames that of a foreign key.
type Navigation struct {
	Name string
	// To is the entity set that it leads to.
	To   string
	Many bool
	// On maps columns of this set to the columns of the target that must be equal.
	On map[string]string
	// Via is a table in between, whose column FromKey holds the set's key and ToKey that of the target. On is empty
	// then.
	Via, FromKey, ToKey string
}

// Enum is an enumeration type over an integer column.
type Enum struct {
	Name    string
	Flags   bool
	Members map[string]int64
	// Labels are what people see for members: see edm.Model.Text. A member without one has the words of its name.
	Labels map[string]string
}

// Finding is one fault of a Config. Its path leads through blocks, labels and attributes, such as "entity_set",
// "Products", "hide", "0" for the first item of a list.
type Finding = finding.Finding //nolint:errname // see there

// Invalid is the error of New for a Config that does not fit the database: all findings, one by line.
type Invalid struct{ Findings []Finding } //nolint:errname // it reads as what it is: errors.As(err, &invalid)

// Error lists the findings.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// PolicyColumn is a column of the user that a row policy or a Write names, with the path of that inside the Config.
type PolicyColumn struct {
	Path   []string
	Column string
}

// PolicyColumns lists the columns of the user that row policies and the Write of sets name, so that whoever knows the users can check them.
func (s *Source) PolicyColumns() ([]PolicyColumn, error) {
	p, err := bind.New(s.model)
	if err != nil {
		return nil, err
	}
	var out []PolicyColumn
	for _, set := range s.model.All() {
		kind := "entity_set"
		if set.Single() {
			kind = "singleton"
		}
		for _, column := range p.UserColumns(set) {
			out = append(out, PolicyColumn{Path: []string{kind, set.Name, "filter"}, Column: column})
		}
		for _, column := range p.WriteColumns(set) {
			out = append(out, PolicyColumn{Path: []string{kind, set.Name, "write"}, Column: column})
		}
	}
	return out, nil
}
