package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Concat puts two texts together. OData-URL 5.1.1.5.1
var _ = add(Function{
	Name: "concat", Group: Text, Eval: evalConcat,
	Signatures: one(edm.String, String, String),
	SQL:        SQL{SQLite: always("($1 || $2)"), Postgres: always("($1 || $2)"), MySQL: always("CONCAT($1, $2)")},
})
