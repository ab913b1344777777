package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Length counts characters. OData-URL 5.1.1.5.5
var _ = add(Function{
	Name: "length", Group: Text, Eval: evalLength,
	Signatures: one(edm.Int64, String),
	SQL:        SQL{SQLite: always("length($1)"), Postgres: always("length($1)::bigint"), MySQL: always("CHAR_LENGTH($1)")},
})
