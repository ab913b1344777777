package dbtest_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

func engines() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"pgx": dbtest.Postgres, "mysql": dbtest.MySQL}
}

func open(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec1(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestEveryTestHasADatabaseOfItsOwn(t *testing.T) {
	for driver, fresh := range engines() {
		t.Run(driver, func(t *testing.T) {
			for _, name := range []string{"one", "two", "three"} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					db := open(t, driver, fresh(t))
					exec1(t, db, "CREATE TABLE things (id BIGINT PRIMARY KEY, name VARCHAR(40))")
					exec1(t, db, "INSERT INTO things VALUES (1, 'Füße 🦉')")
					var got string
					if err := db.QueryRow("SELECT name FROM things").Scan(&got); err != nil {
						t.Fatal(err)
					}
					if got != "Füße 🦉" {
						t.Errorf("got %q back", got)
					}
				})
			}
		})
	}
}

func TestDatabaseIsDroppedWithOpenConnections(t *testing.T) {
	for driver, fresh := range engines() {
		t.Run(driver, func(t *testing.T) {
			var gone *sql.DB
			t.Run("the test", func(t *testing.T) {
				var err error
				if gone, err = sql.Open(driver, fresh(t)); err != nil {
					t.Fatal(err)
				}
				exec1(t, gone, "CREATE TABLE left_behind (id BIGINT)")
			})
			if gone == nil {
				t.Skip("no server")
			}
			defer func() { _ = gone.Close() }()
			if _, err := gone.Exec("INSERT INTO left_behind VALUES (1)"); err == nil {
				t.Error("the database of a test that ended still takes rows")
			}
		})
	}
}

// The defaults are those of common installations, where neither order nor
// equality of text is what Go's is.
func TestTextDefaultsAreUnfriendly(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		db := open(t, "pgx", dbtest.Postgres(t))
		var less bool
		if err := db.QueryRow("SELECT 'a'::text < 'B'::text").Scan(&less); err != nil {
			t.Fatal(err)
		}
		if !less {
			t.Error("text is ordered by code point by default")
		}
	})
	t.Run("mysql", func(t *testing.T) {
		db := open(t, "mysql", dbtest.MySQL(t))
		exec1(t, db, "CREATE TABLE words (w VARCHAR(10))")
		exec1(t, db, "INSERT INTO words VALUES ('Ada')")
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM words WHERE w = 'ada '").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != 1 {
			t.Error("text is compared by code point by default")
		}
	})
}

func TestMissingProgramsSkipOrFail(t *testing.T) {
	const child = "DBTEST_CHILD_MISSING"
	if os.Getenv(child) != "" {
		dbtest.Postgres(t)
		return
	}
	for _, tc := range []struct{ name, require, verdict string }{
		{"skip", "", "--- SKIP"},
		{"zero is no demand", "0", "--- SKIP"},
		{"REQUIRE_DB", "1", "--- FAIL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMissingProgramsSkipOrFail$", "-test.v")
			cmd.Env = append(os.Environ(), child+"=1", "POSTGRES_BIN_DIR="+t.TempDir(), "REQUIRE_DB="+tc.require)
			out, _ := cmd.CombinedOutput() // the exit code follows the verdict
			for _, want := range []string{tc.verdict, "apt-get install postgresql"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

func TestNothingStaysBehindAKilledTestBinary(t *testing.T) {
	const child = "DBTEST_CHILD_KILLED"
	if os.Getenv(child) != "" {
		fmt.Printf("dsn %s\ndsn %s\n", dbtest.Postgres(t), dbtest.MySQL(t))
		select {} // until killed
	}
	dbtest.Postgres(t) // skips here when the servers are missing
	dbtest.MySQL(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestNothingStaysBehindAKilledTestBinary$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for lines := bufio.NewScanner(out); len(dirs) < 2 && lines.Scan(); {
		if dsn, ok := strings.CutPrefix(lines.Text(), "dsn "); ok {
			dirs = append(dirs, serverDir(t, dsn))
		}
	}
	if len(dirs) != 2 {
		t.Fatal("the child printed no data source names")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	for {
		left := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
			_, err := os.Stat(dir)
			return os.IsNotExist(err)
		})
		if len(left) == 0 && len(processesNaming(t, dirs)) == 0 {
			return
		}
		if end, ok := t.Deadline(); ok && time.Until(end) < 5*time.Second {
			t.Fatalf("still there: %v", left)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func serverDir(t *testing.T, dsn string) string {
	t.Helper()
	if u, err := url.Parse(dsn); err == nil && u.Scheme == "postgres" {
		return u.Query().Get("host")
	}
	m := regexp.MustCompile(`unix\((.+)/sock\)`).FindStringSubmatch(dsn)
	if m == nil {
		t.Fatalf("no directory in %s", dsn)
	}
	return m[1]
}

// processesNaming lists processes that have one of dirs on their command line.
// Where there is no /proc it lists none.
func processesNaming(t *testing.T, dirs []string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err != nil {
			continue // ended meanwhile
		}
		if slices.ContainsFunc(dirs, func(d string) bool { return strings.Contains(string(line), d) }) {
			found = append(found, string(line))
		}
	}
	return found
}
