package sqlsource_test

import "testing"

// TestTextConnections holds that answers are the same over connections that prepare nothing, as poolers need them:
// PostgreSQL then sends every value as text, in the time zone of the session.
func TestTextConnections(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE things (id bigint PRIMARY KEY, b boolean, i smallint, r real, d double precision, n numeric, s numeric(9,2),
		day date, at timestamp, zoned timestamptz, clock time, bytes bytea, g uuid, t text);
INSERT INTO things VALUES (1, true, -7, 1.5, 0.1, 12.50, -0.05, '2024-02-29', '2024-02-29 23:59:59.5', '2024-02-29 23:59:59.25+05:30', '01:02:03.5', '\x00ff', '0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99', 'ü"\'),
	(2, false, 32767, 'NaN', 'Infinity', 'NaN', 3, 'infinity', '-infinity', '1969-12-31 23:59:59.999999Z', '00:00', '', NULL, ''),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`
	targets := []string{
		"things", "things?$count=true&$top=2", "things?$orderby=zoned desc&$skip=1", "things?$filter=n gt 1 and b", "things/$count?$filter=day eq 2024-02-29",
		"things?$filter=id in (1,3)&$compute=i add 1 as more,d mul 2 as twice&$select=id,more,twice", "things?$apply=aggregate(s with sum as total,i with average as mean,$count as rows)",
	}
	want := map[string]string{}
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol", "cache_describe", "describe_exec"} {
		t.Run(mode, func(t *testing.T) {
			s := open(t, databaseWith(t, "postgres", "&timezone=Asia/Kolkata&default_query_exec_mode="+mode, script), thingsOnly())
			for _, target := range targets {
				got := s.get(target)
				if want[target] == "" {
					want[target] = got
				}
				if got != want[target] {
					t.Errorf("%s\n got %s\nwant %s", target, got, want[target])
				}
			}
		})
	}
}
