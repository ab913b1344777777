package odatatest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// misfits are, by column, stored values that the type of the column cannot hold, in the SQL of each database.
func misfits(dialect string) map[string][]string {
	if dialect == "postgres" {
		return map[string][]string{
			"d": {"'NaN'"}, "e": {"'NaN'"}, "day": {"'infinity'", "'-infinity'", "'12000-01-01'", "'0044-03-15 BC'"},
			"at": {"'infinity'", "'-infinity'", "'12000-01-01 00:00:00Z'"}, "then": {"'-infinity'", "'0044-03-15 00:00:00Z BC'"}, "clock": {"'24:00:00'"},
		}
	}
	if dialect == "mysql" {
		return map[string][]string{"day": {"'0000-00-00'"}, "at": {"'0000-00-00'"}, "then": {"'0000-00-00'"}, "clock": {"'26:00:00'", "'-01:00:00'"}}
	}
	numbers := []string{"''", "'1,234.50'", "x'35'", "'inf'", "' - '"}
	days := []string{"''", "'soon'", "1.5", "'2024-02-30'", "'-0044-03-15'", "'12000-01-01'"}
	return map[string][]string{
		"n": append(numbers, "1.5", "1e300"), "m": append(numbers, "-0.5"), "d": append(numbers, "9e999", "-9e999"), "e": numbers, "f": numbers, "g": append(numbers, "'NaN'"),
		"b": {"''", "'perhaps'", "x'35'"}, "day": days, "at": append(days, "'2024-02-29 25:00:00'"), "then": days, "clock": {"''", "'noon'", "'25:00'", "0.5"},
		"uid": {"''", "'none'", "x'00'", "'0a0b0c0d+0000-0000-0000-000000000001'"},
	}
}

// TestFourEnginesAgreeOnDirtyData is TestFourEnginesAgree, also for $apply, over databases that hold values where memory holds
// null: values that the types of their columns cannot hold.
func TestFourEnginesAgreeOnDirtyData(t *testing.T) {
	t.Parallel()
	for _, indexed := range []bool{false, true} {
		t.Run(fmt.Sprintf("indexes %t", indexed), func(t *testing.T) {
			t.Parallel()
			all := preparedEngines(t, fuzzTables(), fuzzMapping(), func(db *sqlx.DB, dialect string) {
				quote := map[string]string{"mysql": "`"}[dialect]
				if quote == "" {
					quote = `"`
				}
				for column, list := range misfits(dialect) {
					for _, table := range []string{"vals", "parts"} {
						for i, v := range list {
							name := quote + column + quote
							db.MustExec(fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s IS NULL AND id %% %d = %d", table, name, v, name, len(list), i))
						}
					}
				}
				if indexed {
					for _, column := range []string{"n", "d", "f", "day", "at", "clock", "uid"} {
						order := ""
						if dialect == "postgres" {
							order = " NULLS FIRST"
						}
						db.MustExec("CREATE INDEX vals_" + column + " ON vals (" + quote + column + quote + order + ", id)")
					}
				}
			})
			first, seeds, end := seedsOf(t, 20, 2)
			var tally tally
			for seed := first; (seed < first+seeds || time.Now().Before(end)) && tally.different <= 20; seed++ {
				g := &expressions{Rand: rand.New(rand.NewPCG(seed, 2))}
				for range perSeed {
					compare(t, all, seed, g.target(), &tally)
				}
				s := newSequences(seed)
				s.Rand = rand.New(rand.NewPCG(seed, 3))
				for range perSeed {
					compare(t, all, seed, s.target(), &tally)
				}
			}
			t.Logf("%d requests, %d refused", tally.asked, tally.refused)
		})
	}
}
