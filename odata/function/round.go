package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Round takes halves away from zero, of doubles as well. What is added to a double is the largest one below a half: with
// a half itself the sum would reach the next whole number from below. OData-URL 5.1.1.9
var (
	_ = add(rounding("round", "round", "(sign($1) * floor(abs($1) + 4.9999999999999994e-1::double precision))", "(sign($1) * floor(abs($1) + 4.9999999999999994e-1))"))
	_ = add(rounding("floor", "floor", "floor($1)", "floor($1)"))
	_ = add(rounding("ceiling", "ceil", "ceil($1)", "ceiling($1)"))
)

// rounding has the name in PostgreSQL, and what the databases do with doubles.
func rounding(name, postgres, postgresDouble, mysqlDouble string) Function {
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
			Postgres: pick(always(postgres+"($1)"), always(postgresDouble)),
			MySQL:    pick(always(name+"($1)"), always(mysqlDouble)),
		},
	}
}
