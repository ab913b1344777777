package odatatest

import (
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Table is a table of the data, in words that every database understands.
type Table struct {
	Name string
	// Columns are "name type", with "!" behind the type for NOT NULL. The types
	// are big, str, dec, dbl, bool, date, ts, time, uuid, bin, vbin for a short bin, wide, deep and fine for decimals of
	// 65 digits, of which none, 30 or 38 are behind the point, auto for a number that the database gives a new row, and once
	// for such a number that no later row gets again, on SQLite too. A column of type once is the first and the whole key.
	Columns []string
	// Key are the columns of the primary key.
	Key []string
	// Foreign are "column -> table(column)".
	Foreign []string
	// Unique are columns of which no two rows have the same value, Defaults the texts of what a new row has that is given
	// nothing, by column.
	Unique   []string
	Defaults map[string]string
	Rows     [][]any
}

// Tables are the data, in an order that foreign keys allow. Texts differ in
// case, in accents, in trailing blanks and in how Unicode composes them; keys
// are composite, text, or GUIDs; names are no identifiers.
func Tables() []Table {
	return append(secrets(), things(), lines(), tags(), thingTags(), devices(), oddNames(), company(), marks())
}

// secrets are tables that nothing may expose.
func secrets() []Table {
	return []Table{
		{Name: "users", Columns: []string{"id big!", "password str"}, Key: []string{"id"}, Rows: [][]any{{1, "hash"}}},
		{Name: "vestibule_sessions", Columns: []string{"id big!"}, Key: []string{"id"}, Rows: [][]any{{1}}},
	}
}

func things() Table {
	const one, all = "0a0b0c0d-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"
	return Table{
		Name: "things", Key: []string{"id"}, Foreign: []string{"parent_id -> things(id)"},
		Columns: []string{
			"id big!", "name str!", "note str", "price dec", "weight dbl", "big big", "ok bool", "born date", "seen ts",
			"opens time", "token uuid", "data bin", "status big!", "home_street str", "home_city str", "parent_id big", "owner big", "secret str",
		},
		Rows: [][]any{
			{1, "Anvil", nil, "10.5", 1.5, int64(9223372036854775807), true, "2024-02-29", "2024-02-29 23:59:59.5", "08:00:00", one, []byte{0, 255}, 1, "Main St", "Bern", nil, 1, "s1"},
			{2, "anvil", "", "0", -0.1, int64(-9223372036854775807), false, "1999-12-31", "1999-12-31 00:00:00", "23:59:59", all, nil, 3, nil, "bern", 1, 1, "s2"},
			{3, "ANVIL", " ", "-0.0001", 1e20, 0, nil, nil, nil, nil, nil, nil, 0, nil, nil, 1, 2, "s3"},
			{4, "Äpfel", "it's", "12345678.9999", 0.1, 9007199254740993, true, "2024-03-01", "2024-03-01 00:00:00", "00:00:00", nil, nil, 2, "Elm", "Ulm", 2, 2, "s4"},
			{5, "äpfel", `"dq" \ back`, "10.5", nil, -1, false, "1969-12-31", nil, nil, nil, nil, 9, nil, nil, 5, 1, "s5"},
			{6, "", "tab\tline\n", nil, nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s6"},
			{7, "𝄞 clef", nil, "10.4999", nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, 2, "s7"},
			{8, "｡half", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s8"},
			{9, "100%", "a_b", "100", nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s9"},
			{10, "Zo\u00eb", nil, "0.3", nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s10"},
			{11, "Zoe\u0308", nil, "0.1", nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s11"},
			{12, "trail ", nil, "1", nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s12"},
			{13, "trail", nil, "2", nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil, nil, "s13"},
		},
	}
}

func lines() Table {
	return Table{
		Name: "lines", Columns: []string{"order_no big!", "line_no big!", "thing_id big", "qty big!"}, Key: []string{"order_no", "line_no"},
		Foreign: []string{"thing_id -> things(id)"},
		Rows:    [][]any{{1, 1, 1, 5}, {1, 2, 2, 0}, {2, 1, 1, -3}, {2, 2, nil, 7}, {3, 1, 4, 1}},
	}
}

func tags() Table {
	return Table{
		Name: "tags", Columns: []string{"code str!", "label str"}, Key: []string{"code"},
		Rows: [][]any{{"a", "lower"}, {"B", "upper"}, {"it's", "quote"}, {"x/y", "slash"}, {"ü %41", "escape"}},
	}
}

func thingTags() Table {
	return Table{
		Name: "thing_tags", Columns: []string{"thing_id big!", "tag_code str!"}, Key: []string{"thing_id", "tag_code"},
		Foreign: []string{"thing_id -> things(id)", "tag_code -> tags(code)"},
		Rows:    [][]any{{1, "a"}, {1, "B"}, {1, "it's"}, {2, "a"}, {4, "x/y"}},
	}
}

func devices() Table {
	return Table{
		Name: "devices", Columns: []string{"guid uuid!", "name str"}, Key: []string{"guid"},
		Rows: [][]any{{"00000000-0000-0000-0000-0000000000ff", "low"}, {"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "high"}},
	}
}

func oddNames() Table {
	return Table{
		Name: "Odd Names", Columns: []string{"key no big!", "first name str", "1st big", "select str", "ordér big"}, Key: []string{"key no"},
		Rows: [][]any{{1, "Ada", 7, "from", 2}, {2, nil, nil, nil, 1}},
	}
}

func company() Table {
	return Table{Name: "company", Columns: []string{"id big!", "name str"}, Key: []string{"id"}, Rows: [][]any{{1, "Vestibule"}}}
}

func marks() Table {
	return Table{Name: "marks", Columns: []string{"mark vbin!", "name str"}, Key: []string{"mark"}, Rows: [][]any{{[]byte{0, 255}, "two"}, {[]byte{255, 238, 1}, "three"}}}
}

// Fill makes the tables and a view in a database of a dialect: sqlite,
// postgres or mysql.
func Fill(db *sqlx.DB, dialect string) error {
	if err := FillTables(db, dialect, Tables()); err != nil {
		return err
	}
	if _, err := db.Exec("CREATE VIEW cheap AS SELECT id, name, price FROM things WHERE price < 1"); err != nil {
		return fmt.Errorf("create view: %w", err)
	}
	return nil
}

// FillTables makes other tables in such a database.
func FillTables(db *sqlx.DB, dialect string, tables []Table) error {
	for _, t := range tables {
		if _, err := db.Exec(t.create(dialect)); err != nil {
			return fmt.Errorf("create %s: %w", t.Name, err)
		}
		for _, row := range t.Rows {
			insert := "INSERT INTO " + quoted(dialect, t.Name) + " VALUES (" + strings.Repeat("?, ", len(row)-1) + "?)"
			if _, err := db.Exec(db.Rebind(insert), t.values(dialect, row)...); err != nil {
				return fmt.Errorf("fill %s: %w", t.Name, err)
			}
		}
		if err := t.count(db, dialect); err != nil {
			return fmt.Errorf("fill %s: %w", t.Name, err)
		}
	}
	return nil
}

// count lets PostgreSQL go on behind the greatest number of a column that is auto or once, as the others do by themselves.
func (t Table) count(db *sqlx.DB, dialect string) error {
	for _, c := range t.Columns {
		name, typ := splitColumn(c)
		if typ != "auto!" && typ != "once!" || dialect != "postgres" {
			continue
		}
		_, err := db.Exec("SELECT setval(pg_get_serial_sequence('" + t.Name + "', '" + name + "'), max(" + name + ")) FROM " + t.Name)
		return err
	}
	return nil
}

func (t Table) create(dialect string) string {
	var parts []string
	for _, c := range t.Columns {
		name, typ := splitColumn(c)
		bare := strings.TrimSuffix(typ, "!")
		column := quoted(dialect, name) + " " + nativeType(dialect, bare)
		if bare != typ {
			column += " NOT NULL"
		}
		if value, ok := t.Defaults[name]; ok {
			column += " DEFAULT '" + value + "'"
		}
		parts = append(parts, column)
	}
	key := make([]string, len(t.Key))
	for i, k := range t.Key {
		key[i] = quoted(dialect, k)
	}
	if len(key) > 0 && !strings.Contains(parts[0], "PRIMARY KEY") {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	for _, u := range t.Unique {
		parts = append(parts, "UNIQUE ("+quoted(dialect, u)+")")
	}
	for _, f := range t.Foreign {
		column, target, _ := strings.Cut(f, " -> ")
		parts = append(parts, "FOREIGN KEY ("+quoted(dialect, column)+") REFERENCES "+target)
	}
	return "CREATE TABLE " + quoted(dialect, t.Name) + " (" + strings.Join(parts, ", ") + ")"
}

// values gives the row as the driver of a dialect wants it.
func (t Table) values(dialect string, row []any) []any {
	out := append([]any(nil), row...)
	for i, c := range t.Columns {
		if _, typ := splitColumn(c); typ == "ts" && dialect == "postgres" && out[i] != nil {
			out[i] = fmt.Sprint(out[i], "+00")
		}
	}
	return out
}

func splitColumn(c string) (name, typ string) {
	i := strings.LastIndexByte(c, ' ')
	return c[:i], c[i+1:]
}

func quoted(dialect, name string) string {
	if dialect == "mysql" {
		return "`" + name + "`"
	}
	return `"` + name + `"`
}

func nativeType(dialect, typ string) string {
	at := map[string]int{"sqlite": 0, "postgres": 1, "mysql": 2}[dialect]
	return map[string][3]string{
		"auto": {"INTEGER", "bigint GENERATED BY DEFAULT AS IDENTITY", "BIGINT AUTO_INCREMENT"},
		"once": {"INTEGER PRIMARY KEY AUTOINCREMENT", "bigint GENERATED BY DEFAULT AS IDENTITY", "BIGINT AUTO_INCREMENT"},
		"big":  {"INTEGER", "bigint", "BIGINT"},
		"str":  {"VARCHAR(80)", "varchar(80)", "VARCHAR(80)"},
		"dec":  {"DECIMAL(12,4)", "numeric(12,4)", "DECIMAL(12,4)"},
		"wide": {"DECIMAL_TEXT(65,0)", "numeric(65,0)", "DECIMAL(65,0)"},
		"deep": {"DECIMAL_TEXT(65,30)", "numeric", "DECIMAL(65,30)"},
		"fine": {"DECIMAL_TEXT(65,38)", "numeric(65,38)", "DECIMAL(65,38)"},
		"dbl":  {"DOUBLE", "double precision", "DOUBLE"},
		"bool": {"BOOLEAN", "boolean", "BOOLEAN"},
		"date": {"DATE", "date", "DATE"},
		"ts":   {"DATETIME", "timestamptz", "DATETIME(6)"},
		"time": {"TIME", "time", "TIME(6)"},
		"uuid": {"UUID", "uuid", "UUID"},
		"bin":  {"BLOB", "bytea", "BLOB"},
		"vbin": {"BLOB", "bytea", "VARBINARY(16)"},
	}[typ][at]
}
