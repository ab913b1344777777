package dashboard_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	_ "modernc.org/sqlite" // driver "sqlite"
)

// site is a running host over a database of its own.
type site struct {
	url string
	db  *sql.DB
	// program is the host, and path the file of the database.
	program, path string
}

// needDist skips the test by name where the application has not been built.
func needDist(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("dist", "later.js")); err != nil {
		if os.Getenv("REQUIRE_UI5") != "" {
			t.Fatalf("the built application is required, run npm ci and npm run build in examples/ui5-dashboard: %v", err)
		}
		t.Skipf("skipped %s: dist is missing, run npm ci and npm run build in examples/ui5-dashboard", t.Name())
	}
}

const module = "github.com/vestibule-dev/vestibule/v2"

func run(t *testing.T, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
}

// serve builds the host and serves config.hcl with it, on a free port.
func serve(t *testing.T) *site {
	t.Helper()
	needDist(t)
	dir := t.TempDir()
	db, program := filepath.Join(dir, "shop.db"), filepath.Join(dir, "vestibule")
	// As programs of their own, neither is slowed down by the race detector.
	run(t, "build", "-o", program, module+"/host/cmd/vestibule")
	run(t, "run", module+"/examples/shop", "-db", db)
	return &site{url: start(t, program, "config.hcl", db, dir), program: program, path: db, db: openDatabase(t, db)}
}

var ready = regexp.MustCompile(`ready at (http://\S+)`)

// start runs the host until the test ends, and returns its address.
func start(t *testing.T, program, config, db, dir string) string {
	t.Helper()
	host := exec.Command(program, "serve", "-c", config,
		"--set", "server.address=127.0.0.1:0", "--set", "database.dsn="+db, "--set", "mail.dir="+filepath.Join(dir, "mail"))
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "host.log"))
	if err != nil {
		t.Fatal(err)
	}
	host.Stderr = log
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Process.Signal(os.Interrupt)
		_ = host.Wait()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the host's log ends with\n%s", text[max(0, len(text)-2000):])
		}
	})
	address := make(chan string, 1)
	go func() {
		defer close(address)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := ready.FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case base, ok := <-address:
		if ok {
			return base
		}
	case <-time.After(time.Minute):
	}
	t.Fatal("the host did not start")
	return ""
}

func openDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// rows returns what a query finds, every column as text.
func (s *site) rows(t testing.TB, query string, args ...any) [][]string {
	t.Helper()
	found, err := s.db.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for found.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
		}
		all = append(all, row)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// one returns the single value that a query finds.
func (s *site) one(t testing.TB, query string, args ...any) string {
	t.Helper()
	found := s.rows(t, query, args...)
	if len(found) != 1 || len(found[0]) != 1 {
		t.Fatalf("%s: not one value: %v", query, found)
	}
	return found[0][0]
}

// grouped writes a count as English and German do.
func grouped(n int, separator string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + separator + text[i:]
	}
	return text
}
