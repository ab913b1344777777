package sqlsource_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// cells is a source whose rows cannot write themselves, and says whether they would have.
type cells struct {
	*shop
	writes int
}

func (c *cells) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := c.shop.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	if _, ok := rows.(plan.JSONRows); ok {
		c.writes++
	}
	return struct{ plan.Rows }{rows}, nil
}

// TestWrittenAlike holds that rows that a source writes are those that are made of its values: values that fit their
// column and such as do not, with null and behind the last row of a page.
func TestWrittenAlike(t *testing.T) {
	scripts := map[string]struct{ dialect, parameters, script string }{
		"postgres": {"postgres", "", `CREATE TABLE odd (id int PRIMARY KEY, s smallint, b bigint NOT NULL, n numeric(12,2), free numeric, whole numeric(30,0), t text,
			v varchar(40), g uuid, d date, at timestamp, zoned timestamptz, f float8, r real, yes boolean, clock time, raw bytea, tiny int);
			INSERT INTO odd SELECT i, i, i * 1000000000::bigint, i * 0.01, i * 0.1, i, 'x' || i, 'y', gen_random_uuid(), date '2024-01-01' + i,
				timestamp '2024-01-01 00:00:00.5' + i * interval '1 hour', timestamptz '2024-01-01 00:00:00Z' + i * interval '1 s', i * 0.1, i, i % 2 = 0, '10:00:00', '\x00', i % 100
				FROM generate_series(1, 30) i;
			INSERT INTO odd (id, b, n, free, whole, t, d, at, zoned, f, r, tiny) VALUES (31, 0, 'NaN', 'NaN', -0.0, E'a"b\\c\n\u2028ü\t', 'infinity', 'infinity', '-infinity', 'NaN', 'NaN', 300),
				(32, -1, -0.5, 100.500, 0, '', '0044-03-15 BC', '10000-01-01', '0001-01-01', 'Infinity', 'Infinity', -200), (33, 1, 0, 1e-10, 1e20, NULL, '9999-12-31',
				'9999-12-31 23:59:59.999999', '1999-12-31 23:59:59.000001', '-0', '1e-30', 127), (34, 2, 12345678.9, 1e30, 5, repeat('ü', 300), NULL, NULL, NULL, 1e21, 1e30, -128),
				(35, 3, 1, 20, 3, 'x', NULL, NULL, NULL, 1e-7, 0, NULL)`},
		"mysql as a host opens it": {"mysql", "&interpolateParams=true&parseTime=true", mysqlOdd},
		"mysql":                    {"mysql", "", mysqlOdd},
		"sqlite": {"sqlite", "", `CREATE TABLE odd (id INTEGER PRIMARY KEY, s SMALLINT, b BIGINT NOT NULL, n DECIMAL(12,2), free DECIMAL, whole DECIMAL(30,0), t TEXT,
			v VARCHAR(40), g UUID, d DATE, at DATETIME, zoned TIMESTAMP, f DOUBLE, r FLOAT, yes BOOLEAN, clock TIME, raw BLOB, tiny INT);
			INSERT INTO odd SELECT value, value, value * 1000000000, value * 0.01, value * 0.1, value, 'x' || value, 'y', printf('0A0B0C0D-0000-0000-0000-%012d', value), date('2024-01-01', value || ' days'),
				datetime('2024-01-01', value || ' hours'), datetime('2024-01-01', value || ' seconds'), value * 0.1, value, value % 2, '10:00:00', x'00', value % 100
				FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]');
			INSERT INTO odd (id, s, b, n, free, whole, t, v, g, d, at, zoned, f, r, yes, clock, raw, tiny) VALUES
				(31, 1.5, 0, -0.0, 'NaN', -0.0, 'a"b\c' || char(10, 8232, 252, 9), x'00ff', 'not "a" guid of the thirty-six bytes', 1705314600, 1705314600, '2024-01-15T10:30:00+01:00', 9e999, 9e999, 'true', 36000, 'text', 300),
				(32, 'x', -1, -0.5, 100.500, 0, '', 12, x'0a0b0c0d000000000000000000000001', '0044-03-15 BC', '10000-01-01', '0001-01-01', -9e999, '1.5', 2, '25:00', '', -200),
				(33, 40000, 1, 0, 1e-10, 1e20, NULL, 1.5, NULL, '9999-12-31', '9999-12-31 23:59:59.999999', '1999-12-31 23:59:59.000001', -0.0, 1e-30, NULL, '23:59:59.999', NULL, 127),
				(34, -32768, 2, '12345678.9', 1e30, '5.0', printf('%300s', 'ü'), '', '0a0b0c0d000000000000000000000001', NULL, NULL, NULL, 1e21, 1e30, 'no', NULL, zeroblob(3), -128),
				(35, NULL, 3, 1, 20, 3.5, cast(x'c3' AS TEXT), 'a' || char(0) || 'b', '', '2024-02-30', '2024-02-30 00:00:00', 'x', 1e-7, 0, 0, '10:00', zeroblob(0), NULL)`},
	}
	for name, c := range scripts {
		t.Run(name, func(t *testing.T) {
			cfg := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
				Name: "Odd", Table: "odd", Properties: []sqlsource.Property{{Column: "tiny", Type: "Edm.SByte"}},
			}}}
			source := open(t, databaseWith(t, c.dialect, c.parameters, c.script), cfg)
			hidden := &cells{shop: source}
			direct, err := odata.New(source.Model(), source, odata.Options{Root: "/"})
			if err != nil {
				t.Fatal(err)
			}
			byValue, err := odata.New(source.Model(), hidden, odata.Options{Root: "/"})
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range []string{
				"Odd", "Odd?$top=3", "Odd?$top=0", "Odd?$skip=28", "Odd?$skip=30&$count=true", "Odd?$skip=35", "Odd?$skip=40", "Odd?$orderby=id desc", "Odd?$filter=id gt 99",
				"Odd?$select=id,s,b,n,t,v,at,f,yes", "Odd?$select=id,n,free,whole", "Odd?$select=id,t,v,g,d,at,zoned,f", "Odd?$select=id,tiny", "Odd?$select=id,f", "Odd?$select=id,d", "Odd?$select=id,zoned,yes", "Odd?$select=id,at", "Odd?$select=id,g", "Odd?$select=id,n", "Odd?$select=id,free", "Odd?$select=id,r,clock,raw",
				"Odd?$select=id,s", "Odd?$select=id,whole", "Odd?$select=id,t", "Odd?$select=id,v", "Odd?$select=id,r", "Odd?$select=id,yes", "Odd?$select=id,zoned", "Odd?$select=id,clock",
				"Odd?$select=id,n&$skip=30", "Odd?$select=t", "Odd?$select=id,x&$compute=b add 1 as x", "Odd?$select=id,d&$filter=id lt 31", "Odd?$format=csv&$select=id,t", "Odd(7)",
				"Odd?$select=id,b,n&$format=application/json;IEEE754Compatible=true", "Odd?$select=id,t&$format=application/json;odata.metadata=full",
				"Odd?$select=id,t&$format=application/json;odata.metadata=none",
			} {
				for _, prefer := range []string{"", "maxpagesize=7", "maxpagesize=31", "maxpagesize=35", "omit-values=nulls"} {
					answer := func(s *odata.Service) string {
						r := httptest.NewRequest("GET", "http://h/"+strings.ReplaceAll(target, " ", "%20"), nil)
						r.Header.Set("Prefer", prefer)
						w := httptest.NewRecorder()
						s.ServeHTTP(w, r)
						return w.Header().Get("Link") + strings.ReplaceAll(w.Body.String(), "},{", "},\n{")
					}
					if diff := cmp.Diff(answer(byValue), answer(direct)); diff != "" {
						t.Errorf("%s with %q: - by values, + by the source:\n%s", target, prefer, diff)
					}
				}
			}
			if hidden.writes == 0 {
				t.Error("no source writes rows")
			}
		})
	}
}

const mysqlOdd = "CREATE TABLE odd (id INT PRIMARY KEY, s SMALLINT, b BIGINT NOT NULL, n DECIMAL(12,2), free DECIMAL(40,10), whole DECIMAL(30,0), t TEXT," +
	" v VARCHAR(40) CHARACTER SET latin1, g UUID, d DATE, at DATETIME(6), zoned TIMESTAMP(6) NULL, f DOUBLE, r FLOAT, yes BOOLEAN, clock TIME(3), raw VARBINARY(9), tiny INT);\n" +
	"INSERT INTO odd SELECT seq, seq, seq * 1000000000, seq * 0.01, seq * 0.1, seq, CONCAT('x', seq), 'y', UUID(), '2024-01-01' + INTERVAL seq DAY," +
	" '2024-01-01 00:00:00.5' + INTERVAL seq HOUR, '2024-01-01 00:00:00' + INTERVAL seq SECOND, seq * 0.1, seq, seq % 2 = 0, '10:00:00', X'00', seq % 100 FROM seq_1_to_30;\n" +
	"SET sql_mode = '';\n" +
	"INSERT INTO odd (id, b, n, free, whole, t, v, d, at, f, r, tiny, clock, yes) VALUES (31, 0, -0.5, 0, -0, 'a\"b\\\\c\\n\u2028ü\\t', 'Größe', '0000-00-00', '0000-00-00', -0e0, 0.1, 300, '30:00:00', 7)," +
	" (32, -1, 9999999999.99, 1e-10, 1e29, '', '', '9999-12-31', '9999-12-31 23:59:59.999999', 1e21, 1e30, -200, '-01:00:00', NULL)," +
	" (33, 1, 0, -1e29, 0, NULL, NULL, '2024-00-00', '2024-01-01', 1e-7, 0, 127, '23:59:59.999', 0), (34, 2, 1, 1, 1, REPEAT('ü', 300), 'x', NULL, NULL, 1.7976931348623157e308, 1, -128, NULL, 1)"
