package sqlsource_test

import (
	"strings"
	"testing"
)

// TestTextConnectionsOfOtherSettings holds that values which come as text are those of a connection that prepares statements,
// whatever form the role or the database has them written in. Dates of another style than ISO are a fault and never null.
func TestTextConnectionsOfOtherSettings(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE things (id bigint PRIMARY KEY, bytes bytea, day date, at timestamp, zoned timestamptz, r real, d double precision,
		n numeric, span interval, tz timetz, list int[], clock time);
INSERT INTO things VALUES (1, 'abcd', '2024-02-03', '2024-02-03 04:05:06', '2024-02-03 04:05:06.25Z', 0.1, 0.1, 100.000, '1 day 02:03:04.5', '01:02:03+02', '{1,2}', '01:02:03'),
	(2, 'a\\b', '10000-01-02', '10000-01-02 00:00:00', '12345-01-02 00:00:00Z', '-Infinity', 'NaN', 1e-20, '-3 days', NULL, '{}', '24:00'),
	(3, '\x00fe5c', '0044-03-15 BC', '0044-03-15 00:00:00 BC', '0001-01-01 00:00:00Z', 3.4e38, 12.5, 'Infinity', '1 year 2 mons', NULL, NULL, NULL),
	(4, 'abc', 'infinity', '-infinity', '9999-12-31 23:59:59.999999Z', 1.1754944e-38, 5e-324, -0.00, NULL, NULL, NULL, NULL)`
	things := func(settings string) *shop {
		return open(t, databaseWith(t, "postgres", settings, script), thingsOnly())
	}
	described := things("")
	targets := []string{"things?$select=id,bytes,r,d,n,span,list,clock", "things?$filter=id eq 1&$select=bytes", "things?$filter=r eq 0.1f", "things?$select=id,day,at,zoned"}
	for _, setting := range []string{"bytea_output=escape", "intervalstyle=sql_standard", "datestyle=German", "datestyle=SQL,DMY", "datestyle=Postgres"} {
		t.Run(setting, func(t *testing.T) {
			s := things("&default_query_exec_mode=exec&" + setting)
			for i, target := range targets {
				got, want := s.get(target), described.get(target)
				if strings.HasPrefix(setting, "datestyle") && i > 1 {
					if !strings.HasPrefix(got, "fault: ") && got != want {
						t.Errorf("%s\n got %s", target, got)
					}
				} else if got != want {
					t.Errorf("%s\n got %s\nwant %s", target, got, want)
				}
			}
		})
	}
}
