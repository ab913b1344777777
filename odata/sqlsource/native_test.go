package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestNativeTypes holds that what only one database has comes out right, and can be compared.
func TestNativeTypes(t *testing.T) {
	cases := map[string]struct {
		script string
		cfg    sqlsource.Config
		want   [][2]string
	}{
		"postgres": {
			`CREATE SCHEMA sales;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN cents AS numeric(10,2) NOT NULL;
CREATE TABLE sales.zoo (id smallint PRIMARY KEY, at timestamp, span interval, fix char(5), doc jsonb, m mood, d cents,
	list int[], cash money, host inet, r real, tz time with time zone, u uuid, epoch bigint, flag int, b bytea);
INSERT INTO sales.zoo VALUES (1, '2024-01-15 10:30:00.25', '1 day 02:03:04.5', 'ab', '{"a": 1}', 'ok', 1.50, '{1,2}', 12.5, '10.0.0.1', 0.1,
	'10:00:00+00', '0a0b0c0d-0000-0000-0000-000000000001', 1705314600, 2, '\x01'), (2, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL)`,
			sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
				Name: "Zoo", Table: "sales.zoo", Properties: []sqlsource.Property{{Column: "epoch", Type: "Edm.DateTimeOffset"}, {Column: "flag", Type: "Edm.Boolean"}},
			}}},
			[][2]string{
				{"Zoo(1)", `[1,2024-01-15T10:30:00.25Z,P1DT2H3M4.5S,ab,{"a": 1},ok,1.50,{1,2},12.50,10.0.0.1/32,0.10000000149011612,10:00:00+00,0a0b0c0d-0000-0000-0000-000000000001,2024-01-15T10:30:00Z,1,01]`},
				{"Zoo(2)", "[2,null,null,null,null,null,0.00,null,null,null,null,null,null,null,0,null]"},
				{"Zoo?$select=id&$filter=at eq 2024-01-15T10:30:00.25Z", "[1]"},
				{"Zoo?$select=id&$filter=at add duration'PT1S' gt 2024-01-15T10:30:01Z and year(at) eq 2024", "[1]"},
				{"Zoo?$select=id&$filter=span gt duration'P1D' and totalseconds(span) eq 93784.5", "[1]"},
				{"Zoo?$select=id&$filter=fix eq 'ab' and length(fix) eq 2", "[1]"},
				{"Zoo?$select=id&$filter=m eq 'ok' and m lt 'sad' and contains(doc,'a')", "[1]"},
				{"Zoo?$select=id&$filter=d eq 1.5 and cash gt 12.49 and host eq '10.0.0.1/32'", "[1]"},
				{"Zoo?$select=id&$filter=r eq 0.1 and tz eq '10:00:00+00'", "[1]"},
				{"Zoo?$select=id&$filter=epoch eq 2024-01-15T10:30:00Z and flag", "[1]"},
				{"Zoo?$select=id&$filter=not flag", "[2]"},
				{"Zoo?$select=id&$orderby=at desc,span,fix,doc,m,cash,host,tz,u,epoch,flag", "[1][2]"},
			},
		},
		"mysql": {
			"CREATE TABLE zoo (id TINYINT PRIMARY KEY, ub TINYINT UNSIGNED, ui INT UNSIGNED, ubig BIGINT UNSIGNED, bits BIT(1), y YEAR, e ENUM('a','b'), s SET('x','y')," +
				" ts TIMESTAMP(3) NULL, dur TIME, f FLOAT, g BINARY(16), lat VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci, ci VARCHAR(20), bin VARCHAR(20) COLLATE utf8mb4_nopad_bin, epoch INT);\n" +
				"CREATE TABLE laps (id INT PRIMARY KEY, dur TIME(6), f FLOAT);\n" +
				"INSERT INTO laps VALUES (1, '-01:00:00.25', 1234567890), (2, '00:00:01.5', 16777217), (3, '838:59:59', 0.1);\n" +
				"SET time_zone = '+00:00';\n" +
				"INSERT INTO zoo VALUES (1, 200, 4000000000, 18446744073709551615, 1, 2024, 'a', 'x,y', '2024-01-15 10:30:00.250', '26:00:00', 0.1," +
				" X'0a0b0c0d000000000000000000000001', 'Größe', 'Abc ', 'Abc', 1705314600), (2, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'abc', 'abc', NULL)",
			sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
				Name: "Zoo", Table: "zoo", Properties: []sqlsource.Property{
					{Column: "g", Type: "Edm.Guid"}, {Column: "dur", Type: "Edm.Duration"}, {Column: "epoch", Type: "DateTimeOffset"},
				},
			}, {Name: "Laps", Table: "laps", Properties: []sqlsource.Property{{Column: "dur", Type: "Edm.Duration"}}}}},
			[][2]string{
				{"Zoo(1)", "[1,200,4000000000,18446744073709551615,1,2024,a,x,y,2024-01-15T10:30:00.25Z,P1DT2H,0.10000000149011612,0a0b0c0d-0000-0000-0000-000000000001,Größe,Abc ,Abc,2024-01-15T10:30:00Z]"},
				{"Laps?$orderby=dur", "[1,-PT1H0.25S,1.234567936e+09][2,PT1.5S,1.6777216e+07][3,P34DT22H59M59S,0.10000000149011612]"},
				{"Laps?$select=id,z&$compute=totalseconds(dur) as z&$filter=dur add duration'PT0.000001S' gt duration'-PT1H0.25S'", "[1,-3600.25][2,1.5][3,3020399]"},
				{"Zoo?$select=id&$filter=f eq 0.10000000149011612", "[1]"},
				{"Laps?$select=id,f&$filter=f ne null&$orderby=f", "[3,0.10000000149011612][2,1.6777216e+07][1,1.234567936e+09]"},
				{"Zoo(2)", "[2,null,null,null,0,null,null,null,null,null,null,null,null,abc,abc,null]"},
				{"Zoo?$select=id&$filter=ub eq 200 and ui gt 3999999999 and ubig gt 18446744073709551614", "[1]"},
				{"Zoo?$select=id&$filter=ub sub 201 eq -1 and ui mul 2 eq 8000000000", "[1]"},
				{"Zoo?$select=id&$filter=bits and y eq 2024 and e eq 'a' and s eq 'x,y'", "[1]"},
				{"Zoo?$select=id&$filter=ts eq 2024-01-15T10:30:00.25Z and hour(ts) eq 10", "[1]"},
				{"Zoo?$select=id&$filter=dur eq duration'P1DT2H' and f eq 0.1", "[1]"},
				{"Zoo?$select=id&$filter=g eq 0A0B0C0D-0000-0000-0000-000000000001", "[1]"},
				{"Zoo?$select=id&$filter=lat eq 'Größe' and startswith(lat,'Grö') and length(lat) eq 5", "[1]"},
				{"Zoo?$select=id&$filter=lat eq 'größe' or ci eq 'ABC' or ci eq 'abc '", ""},
				{"Zoo?$select=id&$filter=ci eq 'Abc ' and bin eq 'Abc'", "[1]"},
				{"Zoo?$select=id&$filter=epoch eq 2024-01-15T10:30:00Z", "[1]"},
				{"Zoo?$select=id&$orderby=ci,bin,lat,ts,g,dur,bits,ubig", "[1][2]"},
			},
		},
		"sqlite": {
			`CREATE TABLE zoo (id INTEGER PRIMARY KEY, spaced DATETIME, zoned DATETIME, unix TIMESTAMP, mixed DATETIME, d DECIMAL(10,3), ci TEXT COLLATE NOCASE,
	dur TEXT, secs INTEGER, g UUID, upper GUID, any, b BOOLEAN, day DATE, odd DATE);
INSERT INTO zoo VALUES (1, '2024-01-15 10:30:00', '2024-01-15T10:30:00Z', 1705314600, '2024-01-15T11:30:00+01:00', 1.5, 'Abc', 'PT1H', 90, X'0a0b0c0d000000000000000000000001',
	'0A0B0C0D-0000-0000-0000-000000000001', 7, 1, '2024-01-15', '2024-01-15 00:00:00');
INSERT INTO zoo VALUES (2, NULL, NULL, NULL, '2024-01-15 10:30:00.5', 1, 'abc', NULL, NULL, NULL, NULL, 8, 0, NULL, NULL);
CREATE VIEW sums AS SELECT id, id * 2 AS twice, id || 'x' AS name FROM zoo`,
			sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Zoo", Table: "zoo", Properties: []sqlsource.Property{{Column: "dur", Type: "Edm.Duration"}, {Column: "secs", Type: "Edm.Duration"}}},
				{Name: "Sums", Table: "sums", Key: []string{"id"}},
			}},
			[][2]string{
				{"Zoo(1)", "[1,2024-01-15T10:30:00Z,2024-01-15T10:30:00Z,2024-01-15T10:30:00Z,2024-01-15T10:30:00Z,1.500,Abc,PT1H,PT1M30S,0a0b0c0d-0000-0000-0000-000000000001,0a0b0c0d-0000-0000-0000-000000000001,7,1,2024-01-15,2024-01-15]"},
				{"Zoo?$select=id&$filter=spaced eq 2024-01-15T10:30:00Z and zoned eq 2024-01-15T10:30:00Z and unix eq 2024-01-15T10:30:00Z", "[1]"},
				{"Zoo?$select=id&$filter=spaced eq zoned and zoned eq unix and unix eq mixed", "[1]"},
				{"Zoo?$select=id&$filter=mixed eq 2024-01-15T10:30:00Z", "[1]"},
				{"Zoo?$select=id&$filter=mixed gt 2024-01-15T10:30:00.25Z", "[2]"},
				{"Zoo?$select=id&$filter=unix lt 2024-01-15T10:30:00.5Z and hour(unix) eq 10", "[1]"},
				{"Zoo?$select=id&$filter=ci eq 'abc'", "[2]"},
				{"Zoo?$select=id&$filter=startswith(ci,'A')", "[1]"},
				{"Zoo?$select=id&$orderby=ci desc", "[2][1]"},
				{"Zoo?$select=id&$filter=dur eq duration'PT60M' and secs eq duration'PT90S'", "[1]"},
				{"Zoo?$select=id&$filter=g eq 0a0b0c0d-0000-0000-0000-000000000001 and upper eq 0a0b0c0d-0000-0000-0000-000000000001", "[1]"},
				{"Zoo?$select=id&$filter=any gt 7 and not b", "[2]"},
				{"Zoo?$select=id&$filter=day eq odd and odd eq 2024-01-15 and d eq 1.5", "[1]"},
				{"Sums?$filter=twice gt 2", "[2,4,2x]"},
			},
		},
	}
	for d, c := range cases {
		t.Run(d, func(t *testing.T) { check(t, open(t, database(t, d, c.script), c.cfg), c.want) })
	}
	t.Run("mysql as text", func(t *testing.T) { // as a host opens it
		c := cases["mysql"]
		check(t, open(t, databaseWith(t, "mysql", "&interpolateParams=true&parseTime=true", c.script), c.cfg), c.want)
	})
}
