package function

import (
	"errors"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// MatchesPattern finds a regular expression anywhere in a text. OData-URL 5.1.1.7.1
var _ = add(Function{
	Name: "matchesPattern", Group: Text, Prepare: prepareMatches,
	Signatures: one(edm.Boolean, String, String),
	Check:      checkPattern,
	SQL:        SQL{SQLite: always("ves_matches($1, $2)"), Postgres: always(`($1 COLLATE "C" ~ $2)`), MySQL: always("($1 REGEXP CONCAT('(*NUL)(?-imsx)', $2))")},
})

// checkPattern wants a constant that is a regular expression of Go, and puts in its place what means the same everywhere.
func checkPattern(c *plan.Call) *plan.Error {
	l, ok := c.Args[1].(*plan.Literal)
	if !ok {
		return plan.Errorf(plan.NotImplemented, 1, "a pattern must be a constant")
	}
	text, err := pattern(string(l.Value.Bytes))
	var part differsError
	switch {
	case errors.As(err, &part):
		return plan.Errorf(plan.NotImplemented, 1, "{arg} has a part that databases read differently: %s", part)
	case err != nil:
		return plan.Errorf(plan.Malformed, 1, "{arg} is no pattern that can be used here")
	}
	portable := *l
	portable.Value.Bytes = []byte(text)
	c.Args[1] = &portable
	return nil
}
