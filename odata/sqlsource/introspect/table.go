package introspect

import (
	"context"
	"fmt"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Table is a table or a view.
type Table struct {
	// Schema is empty for the one that names are looked up in first.
	Schema, Name string
	View         bool
	Comment      string
	Columns      []Column
	// Opaque are the columns whose values no text shows, such as points of MariaDB. They are not in Columns.
	Opaque []Column
	// Key are the columns of the primary key, in its order; empty when there is none.
	Key []string
	// RowID is the name of the number that SQLite gives each row, if a part of the key may be null; empty otherwise.
	RowID string
	// Unique are further sets of columns that identify a row and cannot be null. UniqueOrNull are those that can be: they identify
	// a row if none of their values is null.
	Unique, UniqueOrNull [][]string
	// Indexes are the leading columns of all indexes, for advice.
	Indexes [][]string
	// Ordered are the indexes whose entries alone give rows in an order: B-trees over whole columns and all rows, ready
	// for use. SQLite's are not listed.
	Ordered []sqltext.Index
	// Ordinary tells that rows of this table change only by transactions of the server that has it, and survive its
	// crash: no view, no foreign or partitioned table, none that others inherit from, no policy of the database on its
	// rows. Known for PostgreSQL alone.
	Ordinary bool
	// Changes is where a trigger of PostgreSQL counts the changes of this table; nil if none does.
	Changes *sqltext.Changes
	Foreign []ForeignKey
	// Rules hold what the database demands of rows that are written.
	Rules sqltext.Rules
	// Search is the full-text index of the table; nil when there is none.
	Search *sqltext.FullText
	// strict reports whether SQLite stores values of the declared types alone, rowid whether the rows of a table have numbers.
	strict, rowid bool
	// Broken is why the database cannot read the table or view; nil when it can. A broken view may lack columns.
	Broken error
}

// Column is a column as declared.
type Column struct {
	Name string
	// Type is the declared type in lower case without parameters, such as "varchar" or "timestamp with time zone".
	Type string
	// Length, Precision, Scale are the parameters of the type; -1 when not given. Precision is that of a number, or the
	// digits of a second.
	Length, Precision, Scale int
	Nullable                 bool
	// Generated tells that the database computes the value.
	Generated bool
	// Counted reports whether the database gives a row without a value the next number of a sequence; Default whether it has a
	// value of another kind for it.
	Counted, Default bool
	// Standard is the expression of the default; empty where it is not known, or takes a number of a sequence.
	Standard string
	// Cast is the type as a cast of PostgreSQL names it, Declared with its parameters as well; empty for other databases.
	Cast, Declared string
	// Members are the texts of an enumeration of PostgreSQL, and of an ENUM or SET of MariaDB; nil for other types.
	Members []string
	// Beyond reports whether an integer column has a value that Edm.Int64 cannot hold. Known for unsigned columns of MariaDB
	// that come first in an index or belong to a key.
	Beyond bool
	// Collation names the collation of a text column: see sqltext.Column.
	Collation string
	// Trigram is the index that finds parts of the column's texts; nil when there is none.
	Trigram *sqltext.Trigram
	// Prefix tells how an index finds the beginning of a text: see sqltext.Column.
	Prefix string
	// Stored is how values are stored where that is not certain from the type (SQLite): a Layout; empty otherwise.
	Stored string
	// Loose is how SQLite stores values of other types than the declared one, see sqltext.Column; empty for other databases.
	// Certain reports whether the column holds values of its declared type alone all the same.
	Loose   string
	Certain bool
	Comment string
}

// ForeignKey is a foreign key: Columns hold the values of the Referenced columns of a row of Table.
type ForeignKey struct {
	Name       string
	Columns    []string
	Schema     string
	Table      string
	Referenced []string
	// OnDelete and OnUpdate are what happens to the rows of this table when the referenced row is deleted, or its columns
	// change: "CASCADE", "SET NULL", "SET DEFAULT", or anything else for nothing.
	OnDelete, OnUpdate string
}

// Column finds a column by name; nil when there is none.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Catalogue is what a database has.
type Catalogue struct {
	Tables []*Table
	// CaseCollation is the collation to map upper and lower case by; empty for the default.
	CaseCollation string
	// NoReturning reports whether statements cannot return the rows that they add: MySQL, and MariaDB before 10.5.
	NoReturning bool
}

// Read lists the tables and views that a database has. Dialects are "sqlite", "postgres", and "mysql".
func Read(ctx context.Context, db engine.DB, dialect string) (_ *Catalogue, err error) {
	tx, err := db.Begin(ctx, engine.Need{Snapshot: true})
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	defer func() {
		if e := tx.Close(); err == nil && e != nil {
			err = fmt.Errorf("read tables: %w", e)
		}
	}()
	r := &reader{tx: tx}
	out := &Catalogue{}
	switch dialect {
	case "sqlite":
		out.Tables, err = r.sqlite()
	case "postgres":
		if out.Tables, err = r.postgres(); err == nil {
			out.CaseCollation, err = r.caseCollation()
		}
	case "mysql":
		if out.Tables, err = r.mysql(); err == nil {
			out.NoReturning, err = r.noReturning()
		}
		if err == nil {
			out.CaseCollation, err = r.newestCase()
		}
		for _, t := range out.Tables {
			t.mustNameKeys(out.NoReturning)
		}
	default:
		err = fmt.Errorf("there is no dialect %q", dialect)
	}
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	return out, nil
}

// mustNameKeys takes the defaults from columns that identify a row where the database does not tell which row it has added. A number that it
// counts it tells otherwise.
func (t *Table) mustNameKeys(noReturning bool) {
	for i := range t.Columns {
		if noReturning {
			t.Columns[i].Standard = "" // MySQL writes texts without quotes
		}
	}
	for _, key := range append([][]string{t.Key}, t.Unique...) {
		for _, name := range key {
			if c := t.Column(name); noReturning && c != nil {
				c.Default = false
			}
		}
	}
}

// reader runs the catalogue queries.
type reader struct{ tx engine.Tx }

// row is one row of a catalogue: text and numbers by position.
type row []engine.Cell

func (r row) text(i int) string { return string(r[i].Bytes) }

func (r row) number(i int) int {
	switch r[i].Kind {
	case engine.Null:
		return -1
	case engine.Text:
		n, err := strconv.Atoi(string(r[i].Bytes))
		if err != nil {
			return -1
		}
		return n
	}
	return int(r[i].Int)
}

func (r row) yes(i int) bool { return r[i].Int != 0 }

func (r *reader) each(width int, visit func(row), query string, args ...any) error {
	return engine.Each(r.tx, width, func(cells []engine.Cell) bool {
		visit(cells)
		return true
	}, query, args...)
}

// of is each for rows that begin with the schema and the name of a table; others than all are passed over.
func (r *reader) of(all *named, width int, visit func(*Table, row), query string) error {
	return r.each(width, func(c row) {
		if t := all.get(c.text(0), c.text(1)); t != nil {
			visit(t, c)
		}
	}, query)
}

// named collects tables by schema and name in the order they came.
type named struct {
	list []*Table
	by   map[[2]string]*Table
}

func (n *named) add(t *Table) {
	if n.by == nil {
		n.by = map[[2]string]*Table{}
	}
	n.list = append(n.list, t)
	n.by[[2]string{t.Schema, t.Name}] = t
}

func (n *named) get(schema, name string) *Table { return n.by[[2]string{schema, name}] }
