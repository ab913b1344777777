package sqlsource_test

import (
	"regexp"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestServersThatSpeakTheProtocol holds that only PostgreSQL itself is taken for PostgreSQL: snapshots of others do not
// tell the states of their data apart.
func TestServersThatSpeakTheProtocol(t *testing.T) {
	t.Parallel()
	known := regexp.MustCompile(sqlsource.IsPostgreSQL)
	for version, want := range map[string]bool{
		"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit": true,
		"PostgreSQL 16.4 (Ubuntu 16.4-0ubuntu0.24.04.2) on x86_64-pc-linux-gnu":                                                       true,
		"PostgreSQL 17.2 on aarch64-unknown-linux-musl, compiled by gcc (Alpine 14.2.0) 14.2.0, 64-bit":                               true,
		"PostgreSQL 14.11 (Homebrew) on aarch64-apple-darwin23.2.0":                                                                   false, // too old
		"PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu":                                                                       false,
		"PostgreSQL 12.12 (Greenplum Database 7.0.0 build commit:0) on x86_64-pc-linux-gnu":                                           false,
		"PostgreSQL 16.2 (Cloudberry Database 2.0.0) on x86_64-pc-linux-gnu":                                                          false,
		"PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.28965":   false,
		"CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)":                                        false,
	} {
		if got := known.MatchString(version); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}
