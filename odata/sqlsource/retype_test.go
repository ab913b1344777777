package sqlsource_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestRetyping declares columns to be of other types. What is refused was 500, or PT0S in every row; what is not gives
// the value of the row.
func TestRetyping(t *testing.T) {
	scripts := map[string]string{
		"postgres": `CREATE TABLE things (id bigint PRIMARY KEY, txt text, n bigint, dec numeric(10,2), dbl double precision, day date, at timestamptz, clock time, bin bytea, flag boolean);
INSERT INTO things VALUES (1, 'PT1H', 90, 1.5, 1.5, '2024-02-29', '2024-02-29T00:00:00Z', '01:02:03', '\x00ff', true)`,
		"mysql": `CREATE TABLE things (id BIGINT PRIMARY KEY, txt VARCHAR(20), n BIGINT, dec2 DECIMAL(10,2), dbl DOUBLE, day DATE, at DATETIME, clock TIME, bin VARBINARY(20), flag BOOLEAN, guid CHAR(36), raw BINARY(16), none CHAR(36));
INSERT INTO things VALUES (1, 'PT1H', 90, 1.5, 1.5, '2024-02-29', '2024-02-29 00:00:00', '01:02:03', X'00ff', TRUE, '0A0B0C0D-0000-0000-0000-000000000001', X'0a0b0c0d000000000000000000000001', 'none')`,
	}
	const refused = "refused"
	cases := map[string][][3]string{ // column, type, value
		"": {
			{"txt", "Edm.Duration", "PT1H"},
			{"txt", "Edm.Date", ""}, // null, which the filter leaves out
			{"txt", "Edm.Guid", ""},
			{"txt", "Edm.Int32", ""},
			{"txt", "Edm.Boolean", ""},
			{"txt", "Edm.DateTimeOffset", ""},
			{"txt", "Edm.Decimal", ""},
			{"txt", "Edm.Binary", refused},
			{"dbl", "Edm.Int64", refused},
			{"dbl", "Edm.Decimal", refused},
			{"at", "Edm.Date", refused},
			{"day", "Edm.TimeOfDay", refused},
			{"bin", "Edm.String", refused},
			{"n", "Edm.Double", refused},
			{"n", "Edm.Date", refused},
			{"flag", "Edm.Date", refused},
			{"n", "Edm.Int32", "90"},
			{"n", "Edm.Decimal", "90"},
			{"n", "Edm.Duration", "PT1M30S"},
			{"n", "Edm.Boolean", "1"},
			{"n", "Edm.DateTimeOffset", "1970-01-01T00:01:30Z"},
			{"n", "Edm.String", "90"},
			{"dbl", "Edm.Single", "1.5"},
			{"dbl", "Edm.Duration", "PT1.5S"},
			{"day", "Edm.String", "2024-02-29"},
			{"txt", "Edm.String", "PT1H"},
		},
		"postgres": {{"clock", "Edm.Duration", refused}, {"flag", "Edm.Int64", refused}, {"dec", "Edm.Int64", refused}, {"dec", "Edm.Duration", "PT1.5S"}},
		"mysql": {
			{"clock", "Edm.Duration", "PT1H2M3S"},
			{"flag", "Edm.Int64", "1"},
			{"dec2", "Edm.Int64", refused},
			{"guid", "Edm.Guid", "0a0b0c0d-0000-0000-0000-000000000001"},
			{"none", "Edm.Guid", ""},
			{"raw", "Edm.Guid", "0a0b0c0d-0000-0000-0000-000000000001"},
		},
	}
	for dialect, script := range scripts {
		t.Run(dialect, func(t *testing.T) {
			db := database(t, dialect, script)
			for _, c := range append(cases[""], cases[dialect]...) {
				t.Run(c[0]+" as "+c[1], func(t *testing.T) {
					set := sqlsource.EntitySet{Name: "Things", Table: "things", Properties: []sqlsource.Property{{Column: c[0], Type: c[1]}}}
					cfg := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{set}}
					if c[2] != refused {
						want := c[2]
						if want != "" {
							want = "[" + want + "]"
						}
						if got := open(t, db, cfg).get("Things?$select=" + c[0] + "&$filter=" + c[0] + " ne null"); got != want {
							t.Errorf("got %s", got)
						}
						return
					}
					_, err := sqlsource.New(t.Context(), db, cfg)
					var invalid *sqlsource.Invalid
					if !errors.As(err, &invalid) {
						t.Fatalf("got %v", err)
					}
					place := strings.Join(invalid.Findings[0].Path, ".")
					if place != "entity_set.Things.property."+c[0]+".type" || !strings.Contains(invalid.Findings[0].What, c[1]) || invalid.Findings[0].Remedy == "" {
						t.Errorf("%+v", invalid.Findings)
					}
				})
			}
		})
	}
}

// TestTextsAsValues reads texts that a column is declared to hold values of another type in: a bad one is null, or ends
// the answer where the column does not allow null, with set, key and column for the log.
func TestTextsAsValues(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE stays (id {BIG} PRIMARY KEY, span {STR}, code {STR} NOT NULL, uid {STR});
INSERT INTO stays VALUES (1, 'PT36H', '7', '0A0B0C0D-0000-0000-0000-00000000000F'), (2, 'soon', '0008', 'none'), (3, '-PT90S', '-9', NULL), (4, NULL, 'x', NULL)`
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, ddlOf(dialect, script)), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
				Name: "Stays", Table: "stays", Properties: []sqlsource.Property{{Column: "span", Type: "Edm.Duration"}, {Column: "code", Type: "Edm.Int32"}, {Column: "uid", Type: "Edm.Guid"}},
			}, {
				Name: "Codes", Table: "stays", Key: []string{"code"}, Properties: []sqlsource.Property{{Column: "code", Type: "Edm.Int16"}}, Navigations: []sqlsource.Navigation{
					{Name: "stay", To: "Stays", On: map[string]string{"id": "id"}},
				},
			}}})
			for target, want := range map[string]string{
				"Stays?$select=id,span,uid":                                      "[1,P1DT12H,0a0b0c0d-0000-0000-0000-00000000000f][2,null,null][3,-PT1M30S,null][4,null,null]",
				"Stays?$filter=id lt 4&$orderby=code&$select=code":               "[-9][7][8]",
				"Stays?$filter=span gt duration'PT1H'&$select=id":                "[1]",
				"Stays?$filter=uid eq null&$select=id":                           "[2][3][4]",
				"Stays?$filter=code ne 7&$select=id":                             "[2][3][4]",
				"Stays(4)/code":                                                  "Stays(4)/code: the stored value is no Int32, and the column does not allow null",
				"Stays?$orderby=id desc":                                         "Stays(4)/code: the stored value is no Int32, and the column does not allow null",
				"Codes(8)/id":                                                    "[2]",
				"Codes(7)?$select=code&$expand=stay($select=span)":               "[7 {[P1DT12H]}]",
				"Codes?$filter=code lt 8&$orderby=code desc&$top=1&$select=code": "[7]",
				"Codes?$filter=stay/code eq 8&$select=id":                        "[2]",
				"Codes?$filter=stay/span le duration'PT0S'&$select=id":           "[3]",
			} {
				if got := s.get(target); !strings.Contains(got, want) || want[0] == '[' && got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
		})
	}
}

// TestTextsWhateverTheSession holds that settings of a MariaDB session, which change what a regular expression means, do not
// change which texts are values.
func TestTextsWhateverTheSession(t *testing.T) {
	t.Parallel()
	db := database(t, "mysql", "CREATE TABLE stays (id BIGINT PRIMARY KEY, n VARCHAR(40) CHARACTER SET latin1, at VARCHAR(40));\n"+
		"INSERT INTO stays VALUES (1, 'x\\n7', '2024-02-29 10:11:12 +02:00'), (2, '7', '2024-02-29T10:11Z'), (3, '7\\n', ''), (4, 'é', 'PT1H')")
	sep := "?"
	if strings.Contains(db.DSN, "?") {
		sep = "&"
	}
	awkward, err := sqlx.Open("mysql", db.DSN+sep+"default_regex_flags=%27MULTILINE,EXTENDED,DOTALL%27&sql_mode=%27ANSI_QUOTES,NO_BACKSLASH_ESCAPES%27&time_zone=%27%2B05:00%27")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = awkward.Close() })
	s := open(t, sqlsource.Database{Dialect: "mysql", DB: awkward}, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
		Name: "Stays", Table: "stays", Properties: []sqlsource.Property{{Column: "n", Type: "Edm.Int64"}, {Column: "at", Type: "Edm.DateTimeOffset"}},
	}}})
	for target, want := range map[string]string{
		"Stays":                          "[1,null,2024-02-29T08:11:12Z][2,7,2024-02-29T10:11:00Z][3,null,null][4,null,null]",
		"Stays?$filter=n eq 7&$select=n": "[7]",
		"Stays?$filter=n ne null and at eq 2024-02-29T10:11:00Z&$select=id": "[2]",
		"Stays?$filter=at eq 2024-02-29T08:11:12Z&$select=id":               "[1]",
	} {
		if got := s.get(target); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}
