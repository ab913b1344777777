package explorer

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// rowCount is how many rows the odd table has.
const rowCount = 260

// dialects are the databases of the test.
func dialects() []string { return []string{"sqlite", "postgres", "mysql"} }

// tables are the statements that make the tables; types in braces differ between databases. The codes compare byte by byte:
// they are a key, and MariaDB and collations of PostgreSQL would take some of them for the same. The words compare otherwise than that on purpose.
const tables = `
CREATE TABLE customers (id {BIG} PRIMARY KEY, name {STR}, town {STR});
CREATE TABLE codes (code {CODE} PRIMARY KEY, label {STR});
CREATE TABLE odd (
	id {BIG} PRIMARY KEY, note {TEXT}, word {WORD}, customer_id {BIG}, code {CODE},
	amount {MONEY}, exact {DEC}, big {BIG}, small {SMALL}, measure {DBL}, weight {REAL}, rounded {DBL},
	day {DATE}, at {TS}, clock {TIME}, uid {UUID}, done {BOOL}, status {SMALL}, raw {BIN}, ship_city {STR}, ship_zip {INT},
	FOREIGN KEY (customer_id) REFERENCES customers (id), FOREIGN KEY (code) REFERENCES codes (code))`

// spelled are the types in braces, and statements in front.
func spelled(dialect string) (types []string, before string) {
	switch dialect {
	case "postgres":
		return []string{
			"{BIG}", "bigint", "{STR}", "varchar(200)", "{TEXT}", "text", "{WORD}", "varchar(200) COLLATE anycase", "{CODE}", `varchar(60) COLLATE "C"`,
			"{MONEY}", "numeric(20,2)", "{DEC}", "numeric", "{SMALL}", "smallint", "{DBL}", "double precision", "{REAL}", "real",
			"{DATE}", "date", "{TS}", "timestamptz", "{TIME}", "time", "{UUID}", "uuid", "{BOOL}", "boolean", "{BIN}", "bytea", "{INT}", "integer",
		}, "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
	case "mysql":
		return []string{
			"{BIG}", "BIGINT", "{STR}", "VARCHAR(200)", "{TEXT}", "TEXT", "{WORD}", "VARCHAR(200)", "{CODE}", "VARCHAR(60) COLLATE utf8mb4_nopad_bin",
			"{MONEY}", "DECIMAL(20,2)", "{DEC}", "DECIMAL(38,12)", "{SMALL}", "SMALLINT", "{DBL}", "DOUBLE", "{REAL}", "FLOAT",
			"{DATE}", "DATE", "{TS}", "DATETIME(6)", "{TIME}", "TIME", "{UUID}", "UUID", "{BOOL}", "BOOLEAN", "{BIN}", "BLOB", "{INT}", "INT",
		}, ""
	}
	return []string{
		"{BIG}", "INTEGER", "{STR}", "VARCHAR(200)", "{TEXT}", "TEXT", "{WORD}", "VARCHAR(200) COLLATE NOCASE", "{CODE}", "VARCHAR(60)",
		"{MONEY}", "DECIMAL(20,2)", "{DEC}", "DECIMAL", "{SMALL}", "SMALLINT", "{DBL}", "DOUBLE", "{REAL}", "REAL",
		"{DATE}", "DATE", "{TS}", "DATETIME", "{TIME}", "TIME", "{UUID}", "UUID", "{BOOL}", "BOOLEAN", "{BIN}", "BLOB", "{INT}", "INTEGER",
	}, ""
}

// oddTexts are texts that look alike, that collations take for the same, or that have signs of a language in them.
func oddTexts() []string {
	long := strings.Repeat("lang ", 60)
	return []string{
		"", " ", "  ", "Frank", "Frank ", " Frank", "frank", "FRANK", "Franck", "fränk", "fra\u0308nk", "FRÄNK", "a\nb", "a b", "a  b", "a\r\nb", "\t", "\ttab",
		"\x01", "\x1f\x7f", "\u0085", "\u00a0", "a\u00a0", "\ufeff", "\u200b", "a\u200b", "\u2028", "␊", "␉x",
		`"`, `""`, `"a`, `a"`, "'", "''", "O'Hara", "=", "=5", "==", "#1", "#", "-", "–", "5..10", ">5", "<", "null", "true", "0", "00", "0.10",
		"a&b=c+d%20", "50 %", "50%25", "%", "%%", "_", "a+b", "a b#c", "#/x?y", "/", "//", "a/b", `\`, `a\b`, `\'`, "(x)", "x)", "a,b;c", "$filter", "@p", "~group",
		"Größe, klein", "GRÖSSE, KLEIN", "grosse", "Straße", "STRASSE", "strasse", "ß", "ẞ", "ss", "İ", "i̇", "I", "ı", "i", "\u212a", "k", "K", "\u00c5", "\u212b", "å", "ſ", "s", "Σ", "σ", "ς", "ﬁ", "fi", "ǆ", "ǅ", "Ǆ", "Œuvre", "œuvre",
		"日本語", "日本", "ｶﾞ", "ガ", "か", "カ", "العربية", "עברית", "e\u0301", "é", "É", "E\u0301", "𝄞", "😀", "👩‍👩‍👧", "👍🏽", "👍", "🇩🇪", "１２", "12", "²", "½",
		"empty text", "no value", "leer", long, long + "!", strings.Repeat("ü", 3000), strings.Repeat("ü", 2999) + "Ü", strings.Repeat("x", 1100) + "a", strings.Repeat("x", 1100) + "b",
	}
}

// short are the odd texts that fit into a column of 60 characters.
func short(texts []string) (list []string) {
	for _, s := range texts {
		if len([]rune(s)) <= 60 {
			list = append(list, s)
		}
	}
	return list
}

// codes are keys that differ only byte by byte.
func codes() []string {
	return []string{"a", "A", "a ", "", "O'Hara", "a/b", "a%2Fb", "a+b", "#1", "ä", "a\u0308", "(x)", "x,y=1", "=", `"q"`, "😀", "a\nb"}
}

// oddValues are the values of the columns that are no text, as all databases take them. A nil is no value.
func oddValues() map[string][]any {
	return map[string][]any{
		"amount":   {"0.00", "-0.01", "1235.50", nil, "99999999999.99", "-99999999999.99", "0.10", "0.20", "0.30", "1000000.00", "10.00", "5"},
		"exact":    {"0", "0.1", "0.100000000001", "-0.000000000001", nil, "1234567.891", "123456789012345", "-1", "1", "1.5", "0.3", "2.675"},
		"big":      {int64(0), int64(math.MaxInt64), int64(math.MinInt64), int64(9007199254740993), int64(9007199254740992), nil, int64(-1), int64(1000000), int64(math.MaxInt64 - 1)},
		"small":    {int64(0), int64(32767), int64(-32768), nil, int64(1), int64(5)},
		"measure":  {0.1, 0.30000000000000004, 0.3, 1e300, -5e-324, nil, 1e21, 123456789.125, math.Copysign(0, -1), 0.0, 1e-7, math.MaxFloat64, -1.5, 1e15, 1e16, 5e-324, 2.2250738585072014e-308},
		"weight":   {0.1, 0.3, 16777216.0, 3.4028234e38, nil, 1e-40, -0.1, 2.5, 1e10, 0.0, math.Copysign(0, -1), 0.2, 1.1754944e-38},
		"rounded":  {0.1, 0.10000000149011612, 0.30000000000000004, nil, 16777217.0, 16777216.0, 1e-50, 2.5, -0.1, 0.2, 1e20, 0.0, 1e30},
		"day":      {"0001-01-01", "9999-12-31", nil, "2024-02-29", "2026-05-01", "2026-05-02", "1582-10-10", "1999-12-31", "2000-01-01", "0099-06-15", "2026-12-31"},
		"at":       instants(),
		"clock":    {"00:00:00", nil, "23:59:59", "12:00:00", "08:30:00"},
		"uid":      {"0a0b0c0d-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000", nil, "12345678-9abc-1ef0-8234-56789abcdef0"},
		"done":     {true, false, nil},
		"status":   {int64(0), int64(1), nil, int64(2)},
		"raw":      {[]byte{0, 255}, []byte{}, nil, []byte("a")},
		"ship_zip": {int64(0), int64(10115), nil, int64(-2147483648), int64(2147483647)},
	}
}

// instants are around midnights and changes of clocks of some zones, in UTC.
func instants() (list []any) {
	for _, s := range []string{
		"2026-05-01 00:00:00", "2026-04-30 22:00:00", "2026-04-30 21:59:59", "2026-05-01 21:59:59", "2026-05-01 22:00:00", "2026-05-01 04:00:00", "2026-05-01 03:59:59", "2026-05-01 10:30:15",
		"2026-03-29 00:59:59", "2026-03-29 01:00:00", "2026-10-25 00:30:00", "2026-10-25 01:30:00", "2026-10-24 22:00:00", "2026-10-25 22:59:59", "2026-10-25 23:00:00",
		"2026-03-08 06:59:59", "2026-03-08 07:00:00", "2026-11-01 05:30:00", "2026-11-01 06:30:00", "2026-01-01 00:30:00", "2025-12-31 23:30:00", "2026-01-01 04:30:00", "2025-12-31 18:30:00",
		"1969-12-31 23:59:59", "1970-01-01 00:00:00", "1999-12-31 23:59:59", "2024-02-29 12:00:00", "2100-02-28 23:00:00", "1900-01-01 00:00:00",
		"2026-05-01 10:30:15.5", "2026-05-01 21:59:59.999999", "2026-05-01 00:00:00.000001",
	} {
		list = append(list, s)
	}
	return append(list, nil, nil)
}

// A store is a database with the odd tables, and the values of its rows as they were given.
type store struct {
	dialect string
	db      *sqlx.DB
	source  *sqlsource.Source
	rows    []map[string]any
	// customers and codes are the labels by key; a nil is no value.
	customers map[int64]any
	codes     map[string]any
}

// newStore makes the tables on a database.
func newStore(t *testing.T, dialect string) *store {
	t.Helper()
	var driver, dsn string
	switch dialect {
	case "sqlite":
		driver, dsn = "sqlite", filepath.Join(t.TempDir(), "odd.db")
	case "postgres":
		driver, dsn = "pgx", dbtest.Postgres(t)
	case "mysql":
		driver, dsn = "mysql", dbtest.MySQL(t)
	}
	db, err := sqlx.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &store{dialect: dialect, db: db, customers: map[int64]any{}, codes: map[string]any{}}
	types, before := spelled(dialect)
	for _, statement := range append([]string{before}, strings.Split(strings.NewReplacer(types...).Replace(tables), ";\n")...) {
		if statement != "" {
			s.exec(t, statement)
		}
	}
	s.fill(t)
	if s.source, err = sqlsource.New(t.Context(), sqlsource.Database{Dialect: dialect, DSN: dsn, DB: db}, mapping(dialect)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.source.Close() })
	return s
}

func (s *store) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), s.db.Rebind(statement), args...); err != nil {
		t.Fatalf("%.200s: %v", statement, err)
	}
}

// fill gives each column its values in turn. The numbers of values have no common divisor in most pairs of columns.
func (s *store) fill(t *testing.T) {
	t.Helper()
	for i, name := range []any{"Frank", "Frank", "", nil, "Frank ", "#1", "fra\u0308nk", "=x", "Zoë", "ZOË", `"q"`} {
		s.customers[int64(i+1)] = name
		s.exec(t, "INSERT INTO customers VALUES (?, ?, 'Bern')", i+1, name)
	}
	for i, code := range codes() {
		label := []any{"Same", "Same", "same", "Nothing", "=x", nil, "", " "}[i%8]
		s.codes[code] = label
		s.exec(t, "INSERT INTO codes VALUES (?, ?)", code, label)
	}
	columns := []string{"id", "note", "word", "customer_id", "code", "amount", "exact", "big", "small", "measure", "weight", "rounded", "day", "at", "clock", "uid", "done", "status", "raw", "ship_city", "ship_zip"}
	texts, words, values := oddTexts(), short(oddTexts()), oddValues()
	pick := func(i int, list []string, of int) any {
		if i%of == 0 {
			return nil
		}
		return list[i%len(list)]
	}
	insert := "INSERT INTO odd (" + strings.Join(columns, ", ") + ") VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rowCount {
		row := map[string]any{"id": int64(i + 1), "note": pick(i, texts, 13), "word": pick(i*7+3, words, 11), "code": pick(i, codes(), 9), "ship_city": pick(i/2, words, 5), "customer_id": any(int64(i%11 + 1))}
		if i%10 == 0 {
			row["customer_id"] = nil
		}
		for column, list := range values {
			row[column] = list[(i+i/len(list))%len(list)]
		}
		s.rows = append(s.rows, row)
		if _, err := tx.ExecContext(t.Context(), s.db.Rebind(insert), s.stored(columns, row, i)...); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// stored are the values of a row in the forms that a database stores. SQLite has instants in several of them.
func (s *store) stored(columns []string, row map[string]any, i int) (args []any) {
	for _, column := range columns {
		v := row[column]
		if text, ok := v.(string); ok && column == "at" {
			switch {
			case s.dialect == "postgres":
				v = text + "+00"
			case s.dialect == "sqlite" && i%5 == 1:
				v = strings.Replace(text, " ", "T", 1) + "Z"
			}
		}
		args = append(args, v)
	}
	return args
}

// mapping exposes the odd tables. A status is an enumeration, and two columns of doubles hold Edm.Single.
func mapping(dialect string) sqlsource.Config {
	properties := []sqlsource.Property{
		{Column: "status", Type: "Status"}, {Column: "rounded", Type: "Edm.Single"}, {Column: "amount", Look: sqlsource.Look{Currency: "'EUR'"}},
	}
	if dialect == "sqlite" {
		properties = append(properties, sqlsource.Property{Column: "weight", Type: "Edm.Single"})
	}
	return sqlsource.Config{
		Namespace: "Odd", Guard: edm.GuardNone,
		Enums: []sqlsource.Enum{{Name: "Status", Members: map[string]int64{"Open": 0, "Done": 1, "Lost": 2}}},
		EntitySets: []sqlsource.EntitySet{
			{Name: "Odd", Table: "odd", Search: []string{"note", "word"}, Properties: properties, Complexes: []sqlsource.Complex{{Type: "Ship", Name: "ship", Prefix: "ship_"}}},
			{Name: "Customers", Table: "customers"},
			{Name: "Codes", Table: "codes"},
		},
	}
}

// ids are the keys of the rows for which a statement of the oracle holds.
func (s *store) ids(t *testing.T, where string, args []any) (list []int64) {
	t.Helper()
	rows, err := s.db.QueryContext(t.Context(), s.db.Rebind("SELECT id FROM odd WHERE "+where), args...)
	if err != nil {
		t.Fatalf("%s %v: %v", where, args, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		list = append(list, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
