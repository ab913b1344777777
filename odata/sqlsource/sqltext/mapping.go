package sqltext

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Mapping is where the parts of a model are stored. It is filled once and then only read.
type Mapping struct {
	Tables map[*edm.EntitySet]*Table
	Links  map[*edm.Navigation]*Link
	// CaseCollation is the collation that PostgreSQL or MariaDB maps upper and lower case by, letter for letter as the others do;
	// empty for the default.
	CaseCollation string
	// NoReturning reports whether statements of MariaDB or MySQL cannot return the rows that they add.
	NoReturning bool
	// Deep is how many rows must be skipped for an index alone to be asked where the rows behind them are; 1,000 when zero.
	Deep int64
}

// Table is where the entities of a set are stored.
type Table struct {
	// Name has the schema in front, where it needs one.
	Name []string
	// Columns are those of the properties, hidden ones too. A complex property has a Column with Sub.
	Columns map[*edm.Property]*Column
	// Indexes are the columns of each index, the primary key's included.
	Indexes [][]string
	// Ordered are the indexes whose entries alone give rows in an order.
	Ordered []Index
	// View tells that it is a view, on which there can be no index.
	View bool
	// Unique tells that the database itself sees to it that no two rows have one key.
	Unique bool
	// RowID is the name of the number that SQLite gives each row, if a part of the key may be null: it orders the rows whose
	// keys are null. Empty otherwise.
	RowID string
	// Ordinary tells that the rows change only by transactions that the server's snapshots tell of; see package introspect.
	Ordinary bool
	// Changes is where triggers of PostgreSQL count the changes of this table; nil if none do.
	Changes *Changes
	// Rules hold what the database demands of rows that are written.
	Rules Rules
	// Search are the columns that $search looks at.
	Search []*Column
	// FullText is the index for that; nil where there is none.
	FullText *FullText
}

// Rules holds what a database demands of the rows of a table.
type Rules struct {
	// Unique are the unique indexes, the primary key first; Checks the check constraints; Foreign the foreign keys.
	Unique, Checks, Foreign []Constraint
	// Triggers reports whether triggers of the table run for each row, and may change what was written.
	Triggers bool
	// Own reports whether a foreign key of the table names other rows of it.
	Own bool
}

// Constraint is a rule over columns of a table. A unique index may lack the columns that are in expressions.
type Constraint struct {
	// Name is empty for a foreign key or check of SQLite without a name.
	Name    string
	Columns []string
}

// Changes is the schema of a table vestibule_changes, and the oid of the function of the triggers.
type Changes struct {
	Schema   string
	Function int64
}

// Index is an index that has rows in an order.
type Index struct {
	Columns []IndexColumn
	// Included are further columns that the index holds.
	Included []string
}

// IndexColumn is a column that an index is ordered by.
type IndexColumn struct {
	Name string
	Desc bool
	// NullsFirst tells where nulls stand.
	NullsFirst bool
	// CodePoints tells for text that the index has it in the order of code points because it says so itself, rather than
	// in that of its column.
	CodePoints bool
}

// Column is where a property is stored.
type Column struct {
	Name string
	// Type is the declared type, Layout how values are stored where that is uncertain: see package introspect.
	Type, Layout string
	// Collation is the collation of a text column, "nondeterministic" where it may take different texts for equal (SQLite,
	// PostgreSQL). It is empty for other types, and on SQLite where no table declares one.
	Collation string
	Nullable  bool
	// Length, Precision and Scale are the parameters of the declared type, -1 where there are none; see package introspect. Cast is
	// the type as a cast of PostgreSQL names it, Declared the same with its parameters.
	Length, Precision, Scale int
	Cast, Declared           string
	// Standard is the expression of the default, empty for null. Given reports whether the database gives a new row a value that nobody
	// knows before.
	Standard string
	Given    bool
	// Members are the texts of an enumeration, of which a SET of MariaDB holds several; nil for other types.
	Members []string
	// Unproven marks a key of a view of PostgreSQL, which calls each column of a view nullable. Comparisons reckon with nulls
	// there. An order does not, because it would not use the index below: nulls come where the database puts them.
	Unproven bool
	// Trigram is the index that finds parts of the column's texts; nil where there is none.
	Trigram *Trigram
	// Prefix tells how an index finds the beginning of a text where a plain comparison does not: PrefixCodePoints,
	// PrefixPattern, or empty.
	Prefix string
	// Text tells that the column holds texts of values of another type, which are read one by one (scalar.FromText).
	Text bool
	// Rounds reports whether the column holds numbers with more digits than its property, which is Edm.Single.
	Rounds bool
	// Loose is how a column holds values of other types than its own, such as LooseNumeric; empty where it holds none.
	Loose string
	// Sub are the columns of a complex property.
	Sub map[*edm.Property]*Column
}

// Link holds the columns that a navigation property compares.
type Link struct {
	// From are columns of the table that the property starts at, To those of the target; pairwise equal. With Via,
	// From and ViaFrom are equal, and ViaTo and To.
	From, To []*Column
	// Via is the table between them; nil when there is none.
	Via            []string
	ViaFrom, ViaTo []*Column
	// ViaIndexes and ViaView are what Table has as Indexes and View, for Via.
	ViaIndexes [][]string
	ViaView    bool
}

// FullText is an index for full-text search.
type FullText struct {
	// Table is the FTS5 table, whose rowid is that of the searched table (SQLite).
	Table string
	// Columns are the searched columns; for PostgreSQL the one column of type tsvector.
	Columns []string
}
