package host_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// A sign-in whose database lacks a table is 503, not 500: the log names the table and the
// remedy, and /readyz the check.
func TestLostTableOfTheSignIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		for _, tt := range [][2]string{{"vestibule_sessions", "a table is missing"}, {"users", "create table users"}} {
			table, want := tt[0], tt[1]
			if _, err := s.db.Writer().Exec("DROP TABLE " + table); err != nil {
				t.Fatal(err)
			}
			b.login(adaEmail, adaPassword, false).want(t, 503, "database_unavailable")
			if line := s.lastLine(t, "request failed"); !strings.Contains(line, table) || !strings.Contains(line, "restore the table from a backup") {
				t.Errorf("without %s the log says %s", table, line)
			}
			if err := s.db.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("without %s the host is ready: %v", table, err)
			}
		}
	})
}

// A SQLite file that may not be written is 503 with the remedy in the log.
func TestReadOnlyFileOfTheSignIn(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	// What SQLite answers is that of a file of mode 0444, which does not stop the root of a test.
	if _, err := s.db.Writer().Exec("PRAGMA query_only = ON"); err != nil {
		t.Fatal(err)
	}
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 503, "database_unavailable")
	if line := s.lastLine(t, "request failed"); !strings.Contains(line, "chmod") {
		t.Errorf("the log says %s", line)
	}
}
