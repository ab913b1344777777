package column

// A Column is a column of a table as the engine describes it.
type Column struct {
	Name string `db:"name"`
	// Type is the type's name in lower case, such as "varchar(255)" or "int8".
	Type string `db:"type"`
	// Length is the greatest number of characters, 0 for no limit.
	Length int64 `db:"length"`
	// Folds tells that the column's collation compares without regard to case.
	Folds bool `db:"folds"`
	// Auto tells that the database fills in a missing value.
	Auto bool `db:"auto"`
	// Required reports whether each row needs a value that the database does not fill in.
	Required bool `db:"required"`
}
