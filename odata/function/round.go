package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Round takes halves away from zero, of doubles as well. What is added to a double is the largest one below a half: with
// a half itself the sum would reach the next whole number from below. OData-URL 5.1.1.9
var (
	_ = add(rounding("round", "round", "round", roundDouble, "(sign($1) * floor(abs($1) + 4.9999999999999994e-1::double precision))", roundDouble))
	_ = add(rounding("floor", "floor", "floor", "floor($1)", "floor($1)", "floor($1)"))
	_ = add(rounding("ceiling", "ceil", "ceil", "ceil($1)", "ceil($1)", "ceiling($1)"))
)

const roundDouble = "(sign($1) * floor(abs($1) + 4.9999999999999994e-1))"

// rounding has the names in SQLite and PostgreSQL, and what each database does with doubles.
func rounding(name, sqlite, postgres, sqliteDouble, postgresDouble, mysqlDouble string) Function {
	pick := func(decimal, double string) Template {
		return byCall(func(c *plan.Call) string {
			switch k := kind(c, 0); {
			case k.Integer():
				return "$1"
			case k == edm.Decimal:
				return decimal
			}
			return double
		})
	}
	return Function{
		Name: name, Group: Rounding, Eval: evalRound,
		Signatures: one(SameKind, Number),
		SQL: SQL{
			SQLite:   pick(sqlite+"($1)", sqliteDouble),
			Postgres: pick(postgres+"($1)", postgresDouble),
			MySQL:    pick(name+"($1)", mysqlDouble),
		},
	}
}
