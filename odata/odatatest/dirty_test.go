package odatatest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// dirtyTables are fuzzTables with texts in several spellings, and three columns more: k for bits, w for words and numbers, and l,
// by which a navigation property goes.
func dirtyTables() []odatatest.Table {
	words := []any{"12", "abc", "", "1e+20", "0.1", "-7", nil, "9", "10", "9007199254740993", "a", "A", "1x", "ABC", "\u00c4", "1.5", "12a"}
	bits := []any{0, 1, 5, nil, 255, 9007199254740993, math.MaxInt64}
	links := []any{"a", "A", "a ", "ab", nil, "\u00e4", "\u00c4", "AB", "", "stra\u00dfe", "STRASSE", "a\u0308", " "}
	tables := fuzzTables()
	for i := range tables {
		t := &tables[i]
		for j, texts := range [][2]string{{"A", "a"}, {"a ", "A "}, {"\u00e4", "\u00c4"}, {"a\u0308", "AAA"}, {"zo\u00eb", "Zoe"}, {"B", "B "}, {"aaa ", "aAa"}, {"stra\u00dfe", "STRASSE"}} {
			row := make([]any, len(t.Columns))
			for at, v := range map[string]any{"id": 11 + j, "status": j % 4, "s": texts[0], "t": texts[1], "n": j, "bin": []byte("12")[:j%3]} {
				row[slices.IndexFunc(t.Columns, func(c string) bool { return strings.HasPrefix(c, at+" ") })] = v
			}
			t.Rows = append(t.Rows, row)
		}
		t.Columns = append(t.Columns, "k big", "w str", "l str")
		for j := range t.Rows {
			t.Rows[j] = append(t.Rows[j], bits[(j+i)%len(bits)], words[(j+i)%len(words)], links[(j+3*i)%len(links)])
		}
	}
	return tables
}

// dirtyMapping is fuzzMapping for dirtyTables.
func dirtyMapping() sqlsource.Config {
	cfg := fuzzMapping()
	precision, scale := 12, 4
	for i := range cfg.EntitySets {
		set := &cfg.EntitySets[i]
		set.Properties = append(slices.Clone(set.Properties), sqlsource.Property{Column: "e", Precision: &precision, Scale: &scale})
	}
	values := &cfg.EntitySets[0]
	values.Search = []string{"s", "t", "w"}
	values.Navigations = append(values.Navigations, sqlsource.Navigation{Name: "alike", To: "Parts", Many: true, On: map[string]string{"l": "l"}})
	return cfg
}

// loosened are, by column, types that take other texts for equal than the same ones, are too short for the values of their
// columns, or store what looks like a number as one.
func loosened(dialect, table string) map[string]string {
	link := map[string]string{
		"sqlite vals": "TEXT COLLATE NOCASE", "sqlite parts": "TEXT COLLATE RTRIM", "postgres vals": "text COLLATE anycase", "postgres parts": "citext",
		"mysql vals": "VARCHAR(80) COLLATE utf8mb4_general_ci", "mysql parts": "VARCHAR(80)", // the collation of the database knows neither case nor accents
	}[dialect+" "+table]
	return map[string]map[string]string{
		"sqlite":   {"s": "VARCHAR(3) COLLATE NOCASE", "t": "VARCHAR(80) COLLATE RTRIM", "e": "DECIMAL(5,1)", "w": "STRING", "l": link},
		"postgres": {"s": "text COLLATE anycase", "t": "citext", "e": "numeric", "l": link},
		"mysql":    {"k": "BIT(64)", "l": link},
	}[dialect]
}

// loosen gives columns of a table other types.
func loosen(t *testing.T, db *sqlx.DB, dialect, table string) {
	t.Helper()
	if dialect == "postgres" {
		db.MustExec("CREATE EXTENSION IF NOT EXISTS citext")
		db.MustExec("CREATE COLLATION IF NOT EXISTS anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
	}
	var ddl string
	if dialect == "sqlite" {
		if err := db.Get(&ddl, "SELECT sql FROM sqlite_schema WHERE name = ?", table); err != nil {
			t.Fatal(err)
		}
		ddl = strings.Replace(ddl, `"`+table+`"`, "loosened", 1)
	}
	for column, typ := range loosened(dialect, table) {
		switch dialect {
		case "postgres":
			db.MustExec(fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", table, column, typ))
		case "mysql":
			db.MustExec(fmt.Sprintf("ALTER TABLE %s MODIFY %s %s", table, column, typ))
		default:
			declared := regexp.MustCompile(`"` + column + `" [A-Z]+(\([0-9,]+\))?`)
			ddl = declared.ReplaceAllLiteralString(ddl, `"`+column+`" `+typ)
		}
	}
	if dialect == "sqlite" {
		db.MustExec(ddl)
		db.MustExec("INSERT INTO loosened SELECT * FROM " + table)
		db.MustExec("DROP TABLE " + table)
		db.MustExec("ALTER TABLE loosened RENAME TO " + table)
	}
}

// blobs stores texts as blobs, and blobs as texts and numbers, which all are read as what they were. Only SQLite can do so.
func blobs(db *sqlx.DB, table string) {
	for i, column := range []string{"s", "t", "w"} {
		db.MustExec(fmt.Sprintf("UPDATE %s SET %s = CAST(%s AS BLOB) WHERE id %% 4 = %d", table, column, column, i))
	}
	db.MustExec("UPDATE " + table + " SET bin = CAST(bin AS TEXT) WHERE bin IN (x'61', x'78', x'')")
	db.MustExec("UPDATE " + table + " SET bin = 1 WHERE bin = x'31'")
}

// misfits are, by column, stored values that the type of the column cannot hold, in the SQL of each database.
func misfits(dialect string) map[string][]string {
	if dialect == "postgres" {
		return map[string][]string{
			"d": {"'NaN'"}, "e": {"'NaN'", "'Infinity'", "'-Infinity'"}, "day": {"'infinity'", "'-infinity'", "'12000-01-01'", "'0044-03-15 BC'"},
			"at": {"'infinity'", "'-infinity'", "'12000-01-01 00:00:00Z'"}, "then": {"'-infinity'", "'0044-03-15 00:00:00Z BC'"}, "clock": {"'24:00:00'"},
		}
	}
	if dialect == "mysql" {
		return map[string][]string{"day": {"'0000-00-00'"}, "at": {"'0000-00-00'"}, "then": {"'0000-00-00'"}, "clock": {"'26:00:00'", "'-01:00:00'"}, "k": {"0xFFFFFFFFFFFFFFFF", "0x8000000000000000"}}
	}
	numbers := []string{"''", "'1,234.50'", "x'35'", "'inf'", "' - '"}
	long := []string{"9223372036854775808", "'-99999999999999999999999'"}
	days := []string{"''", "'soon'", "1.5", "'2024-02-30'", "'-0044-03-15'", "'12000-01-01'"}
	return map[string][]string{
		"n": append(long, append(numbers, "1.5", "1e300")...), "m": append(numbers, "-0.5"), "k": append(long, numbers...), "d": append(numbers, "9e999", "-9e999"), "e": numbers, "f": numbers, "g": append(numbers, "'NaN'"),
		"b": {"''", "'perhaps'", "x'35'"}, "day": days, "at": append(days, "'2024-02-29 25:00:00'"), "then": days, "clock": {"''", "'noon'", "'25:00'", "0.5"},
		"uid": {"''", "'none'", "x'00'", "'0a0b0c0d+0000-0000-0000-000000000001'"}, "span": {"x'50543153'"}, "due": {"x'323032342d30322d3239'"},
	}
}

// linked is a random request for rows behind links.
func (g *expressions) linked() string {
	parts := &expressions{Rand: g.Rand, more: g.more}
	order := "$orderby=" + parts.value(fuzzKinds()[g.IntN(len(fuzzKinds()))], 1) + g.of("", " desc")
	options := []string{"$select=id,l", order, g.of("$count=true", "$top=2", "$skip=1", "$filter="+parts.value(edm.Boolean, 2))}
	if g.IntN(3) == 0 {
		return fmt.Sprintf("Values(%d)/%s?%s", 1+g.IntN(18), g.way(), strings.Join(options, "&"))
	}
	return "Values?$select=id,l&$expand=" + g.way() + "(" + strings.Join(options, ";") + ")" + g.of("", "&$filter="+g.condition(2), "&$orderby=l desc")
}

// TestFourEnginesAgreeOnDirtyData is TestFourEnginesAgree, also for $apply, over databases that hold values where memory holds
// null: values that the types of their columns cannot hold. Others hold the same texts and numbers in columns that are too short
// for them, that compare by other collations, or, on SQLite, as values of other types.
func TestFourEnginesAgreeOnDirtyData(t *testing.T) {
	t.Parallel()
	more := map[edm.Kind][]string{edm.Int64: {"k"}, edm.String: {"w", "l"}}
	for _, indexed := range []bool{false, true} {
		t.Run(fmt.Sprintf("indexes %t", indexed), func(t *testing.T) {
			t.Parallel()
			all := preparedEngines(t, dirtyTables(), dirtyMapping(), func(db *sqlx.DB, dialect string) {
				for _, table := range []string{"vals", "parts"} {
					loosen(t, db, dialect, table)
					if dialect == "sqlite" {
						blobs(db, table)
					}
				}
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
					for _, column := range []string{"n", "k", "d", "f", "s", "t", "w", "l", "day", "at", "clock", "uid"} {
						order := ""
						if dialect == "postgres" {
							order = " NULLS FIRST"
						}
						db.MustExec("CREATE INDEX vals_" + column + " ON vals (" + quote + column + quote + order + ", id)")
					}
				}
			})
			byTokens := slices.Clone(all)
			for i := range byTokens {
				byTokens[i].service = byTokens[i].keyed
			}
			first, seeds, end := seedsOf(t, 20, 2)
			var tally tally
			for seed := first; (seed < first+seeds || time.Now().Before(end)) && tally.different <= 20; seed++ {
				g := &expressions{Rand: rand.New(rand.NewPCG(seed, 2)), more: more, ways: []string{"alike"}}
				for range perSeed {
					compare(t, all, seed, g.target(), &tally)
				}
				for range perSeed / 5 {
					compare(t, all, seed, g.linked(), &tally)
				}
				for range perSeed / 5 {
					kinds := fuzzKinds()
					compare(t, byTokens, seed, "Values?$select=id&$orderby="+g.leaf(kinds[g.IntN(len(kinds))])+g.of("", " desc")+","+g.leaf(edm.String)+g.of("", " desc"), &tally)
				}
				s := newSequences(seed)
				s.Rand, s.more, s.ways = rand.New(rand.NewPCG(seed, 3)), more, g.ways
				s.groups, s.numbers, s.sorted = append(s.groups, "k", "w", "l"), append(s.numbers, "k"), append(s.sorted, "k", "w")
				for range perSeed {
					compare(t, all, seed, s.target(), &tally)
				}
			}
			t.Logf("%d requests, %d refused", tally.asked, tally.refused)
		})
	}
}

// TestThreeDatabasesAgreeOnNullKeys is the same for rows whose keys are null, which memory has none of. SQLite stores them in a
// table, and blobs and overlong texts beside them; the others have them in views. No order is by the key: PostgreSQL has the
// nulls of a view where its index has them.
func TestThreeDatabasesAgreeOnNullKeys(t *testing.T) {
	t.Parallel()
	tables := fuzzTables()
	tables[0].Name, tables[0].Columns = "base", append(tables[0].Columns, "code str")
	for i := range tables[0].Rows {
		tables[0].Rows[i] = append(tables[0].Rows[i], []any{"one", nil, "", nil, "Two words", "ä", nil, "10", "9", "x'y"}[i])
	}
	mapping := fuzzMapping()
	values := &mapping.EntitySets[0]
	values.Key, values.Navigations = []string{"code"}, append(values.Navigations, sqlsource.Navigation{Name: "down", To: "Values", Many: true, On: map[string]string{"id": "up_id"}})
	values.Navigations[0] = sqlsource.Navigation{Name: "up", To: "Base", On: map[string]string{"up_id": "id"}}
	mapping.EntitySets = append(mapping.EntitySets, sqlsource.EntitySet{Name: "Base", Table: "base", Properties: mapping.EntitySets[1].Properties, Navigations: []sqlsource.Navigation{
		{Name: "up", To: "Base", On: map[string]string{"up_id": "id"}}, {Name: "parts", To: "Parts", Many: true, On: map[string]string{"id": "val_id"}},
	}})
	all := enginesOver(t, databases(t, tables, mapping, func(db *sqlx.DB, dialect string) {
		if dialect != "sqlite" {
			db.MustExec("CREATE VIEW vals AS SELECT * FROM base")
			return
		}
		var ddl string
		if err := db.Get(&ddl, "SELECT sql FROM sqlite_schema WHERE name = 'base'"); err != nil {
			t.Fatal(err)
		}
		db.MustExec(strings.NewReplacer(`"base"`, "vals", `KEY ("id")`, `KEY ("code")`, `"code" VARCHAR(80)`, `"code" VARCHAR(2)`).Replace(ddl))
		db.MustExec("INSERT INTO vals SELECT * FROM base")
		db.MustExec("UPDATE vals SET code = CAST(code AS BLOB) WHERE id IN (1, 6, 9)")
	}))
	first, seeds, end := seedsOf(t, 20, 2)
	var tally tally
	more := map[edm.Kind][]string{edm.String: {"code"}}
	for seed := first; (seed < first+seeds || time.Now().Before(end)) && tally.different <= 20; seed++ {
		g := &expressions{Rand: rand.New(rand.NewPCG(seed, 4)), more: more}
		for range perSeed {
			order := "id"
			if g.IntN(2) == 0 {
				order = g.value(fuzzKinds()[g.IntN(len(fuzzKinds()))], 2) + g.of(",id", " desc,id")
			}
			if strings.HasPrefix(order, "code") {
				order = "id"
			}
			compare(t, all, seed, "Values?$filter="+g.condition(3)+"&$orderby="+order+"&$select="+g.of("id", "id,code", "code,s", "id,up_id&$expand=parts($orderby=id;$select=id)", "id&$expand=down($orderby=id;$select=id,code)")+
				g.of("", "", "&$count=true&$skip=2"), &tally)
		}
		s := newSequences(seed)
		s.Rand, s.more, s.groups = rand.New(rand.NewPCG(seed, 5)), more, append(s.groups, "code")
		for range perSeed {
			list, _ := s.aggregates()
			compare(t, all, seed, "Values?$apply=filter("+s.condition(2)+")/groupby(("+strings.Join(s.paths(), ",")+"),aggregate("+list+"))", &tally)
		}
	}
	t.Logf("%d requests, %d refused", tally.asked, tally.refused)
}
