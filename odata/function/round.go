package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Round takes halves away from zero, of doubles as well. What is added to a double is the largest one below a half: with
// a half itself the sum would reach the next whole number from below. OData-URL 5.1.1.9
var (
	_ = add(rounding("round", "round", byCall(func(c *plan.Call) string { return postgresDouble(c, postgresRound) }), byCall(func(c *plan.Call) string { return "(" + mysqlDouble(c, mysqlRound) + " + 0e0)" })))
	_ = add(rounding("floor", "floor", always("floor($1)"), always("(floor($1) + 0e0)")))
	_ = add(rounding("ceiling", "ceil", always("ceil($1)"), always("(ceiling($1) + 0e0)")))
)

// rounding has the name in PostgreSQL, and what the databases do with doubles.
func rounding(name, postgres string, postgresDouble, mysqlDouble Template) Function {
	pick := func(decimal, double Template) Template {
		return func(c *plan.Call, d Database) string {
			switch k := kind(c, 0); {
			case k.Integer():
				return "$1"
			case k == edm.Decimal:
				return decimal(c, d)
			}
			return double(c, d)
		}
	}
	return Function{
		Name: name, Group: Rounding, Eval: evalRound,
		Signatures: one(SameKind, Number),
		SQL: SQL{
			SQLite:   pick(byCall(sqliteCompute), byCall(sqliteCompute)),
			Postgres: pick(always(postgres+"($1)"), postgresDouble),
			MySQL:    pick(always("("+name+"($1) + 0.0)"), mysqlDouble),
		},
	}
}
