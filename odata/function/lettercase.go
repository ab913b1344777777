package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Tolower and toupper map letter by letter. OData-URL 5.1.1.7.2, 5.1.1.7.3
var (
	_ = add(Function{
		Name: "tolower", Group: Text, Eval: evalLetterCase,
		Signatures: one(edm.String, String),
		SQL:        SQL{SQLite: always("ves_lower($1)"), Postgres: mapped("lower", `"C"`), MySQL: mapped("LOWER", "utf8mb4_bin")},
	})
	_ = add(Function{
		Name: "toupper", Group: Text, Eval: evalLetterCase,
		Signatures: one(edm.String, String),
		SQL:        SQL{SQLite: always("ves_upper($1)"), Postgres: mapped("upper", `"C"`), MySQL: mapped("UPPER", "utf8mb4_bin")},
	})
)

// mapped changes case by the collation of the database. The result has the collation that comparisons use, because two
// collations in one expression are a fault.
func mapped(function, compared string) Template {
	return func(_ *plan.Call, d Database) string {
		if d.CaseCollation == "" {
			return function + "($1)"
		}
		return "(" + function + "($1 COLLATE " + d.CaseCollation + ") COLLATE " + compared + ")"
	}
}
