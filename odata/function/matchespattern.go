package function

import (
	"regexp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// MatchesPattern finds a regular expression anywhere in a text. OData-URL 5.1.1.7.4
var _ = add(Function{
	Name: "matchesPattern", Group: Text, Prepare: prepareMatches,
	Signatures: one(edm.Boolean, String, String),
	Check:      checkPattern,
	SQL: SQL{
		SQLite:   always("ves_matches($1, $2)"),
		Postgres: always(`($1 COLLATE "C" ~ $2)`),
		MySQL:    always("($1 REGEXP $2)"),
	},
})

// checkPattern wants a constant that is a regular expression of Go.
func checkPattern(c *plan.Call) *plan.Error {
	l, ok := c.Args[1].(*plan.Literal)
	if !ok {
		return plan.Errorf(plan.NotImplemented, 1, "a pattern must be a constant")
	}
	if _, err := regexp.Compile(string(l.Value.Bytes)); err != nil {
		return plan.Errorf(plan.Malformed, 1, "{arg} is no pattern that can be used here")
	}
	return nil
}
