package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Trim removes blanks, tabs, line feeds, vertical tabs, form feeds and carriage returns at both ends, no other space.
// Backslashes in literals of MariaDB depend on sql_mode. OData-URL 5.1.1.7.4
var _ = add(Function{
	Name: "trim", Group: Text, Eval: evalTrim,
	Signatures: one(edm.String, String),
	SQL: SQL{
		SQLite:   always("trim($1, char(32, 9, 10, 11, 12, 13))"),
		Postgres: always(`btrim($1, E' \t\n\v\f\r')`),
		MySQL:    always("REGEXP_REPLACE($1, '(?-imsx)^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$', '')"),
	},
})
