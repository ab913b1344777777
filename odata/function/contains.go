package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Contains, startswith, endswith and indexof compare by code point. OData-URL 5.1.1.5.2 to 5.1.1.5.4, 5.1.1.5.6
var (
	_ = add(Function{
		Name: "contains", Group: Text, Eval: evalContains,
		Signatures: one(edm.Boolean, String, String),
		SQL:        SQL{SQLite: always("(instr($1, $2) > 0)"), Postgres: always("(strpos($1, $2) > 0)"), MySQL: always("(LOCATE($2, $1) > 0)")},
	})
	_ = add(Function{
		Name: "startswith", Group: Text, Eval: evalContains,
		Signatures: one(edm.Boolean, String, String),
		SQL:        SQL{SQLite: always("(substr($1, 1, length($2)) = $2)"), Postgres: always("starts_with($1, $2)"), MySQL: always("(LOCATE($2, $1) = 1)")},
	})
	_ = add(Function{
		Name: "endswith", Group: Text, Eval: evalContains,
		Signatures: one(edm.Boolean, String, String),
		SQL: SQL{
			SQLite:   always("(length($2) = 0 AND $1 IS NOT NULL OR substr($1, -length($2)) = $2 AND length($1) >= length($2))"),
			Postgres: always(`(right($1, length($2)) COLLATE "C" = $2)`),
			MySQL:    always("(CAST(RIGHT($1, CHAR_LENGTH($2)) AS BINARY) = CAST($2 AS BINARY))"),
		},
	})
	// The position counts characters from 0; it is -1 when there is none.
	_ = add(Function{
		Name: "indexof", Group: Text, Eval: evalIndexOf,
		Signatures: one(edm.Int64, String, String),
		SQL:        SQL{SQLite: always("(instr($1, $2) - 1)"), Postgres: always("(strpos($1, $2) - 1)::bigint"), MySQL: always("(CAST(LOCATE($2, $1) AS SIGNED) - 1)")},
	})
)
