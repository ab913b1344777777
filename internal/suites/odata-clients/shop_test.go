package odataclients_test

import (
	"bufio"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // driver "sqlite"
)

// dashboard is where OpenUI5 is once examples/ui5-dashboard has been built.
const dashboard = "../../../examples/ui5-dashboard/dist"

// shop is a real host over testdata/shop.sql, with the plugin of examples/order-rules and the token of a person.
type shop struct{ base, token, dir string }

func (s shop) service() string { return s.base + "/odata/" }

// buildHost builds the host and the plugin, and returns their folder.
func buildHost(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, source := range []string{"host/cmd/vestibule", "examples/order-rules"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/", "../../../"+source).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", source, err, out)
		}
	}
	return dir
}

// serveShop serves testdata/shop.hcl until the test ends.
func serveShop(t *testing.T, programs string) shop {
	t.Helper()
	s := shop{dir: t.TempDir()}
	links := map[string]string{"config.hcl": "testdata/shop.hcl", "openui5": "testdata/openui5", "ui5": dashboard, "order-rules": filepath.Join(programs, "order-rules")}
	if _, err := os.Stat(dashboard); err != nil {
		links["ui5"] = t.TempDir() // only TestOpenUI5Orders needs it
	}
	for name, at := range links {
		at, err := filepath.Abs(at)
		if err == nil {
			err = os.Symlink(at, filepath.Join(s.dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	db := s.database(t)
	if _, err := db.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(programs, "vestibule")
	s.command(t, "analytical-engine-1843\n", program, "user", "add", "--email", "ada@example.com", "--name", "Ada", "--password-stdin")
	s.token = strings.TrimSpace(s.command(t, "", program, "token", "add", "--email", "ada@example.com", "--name", "orders", "--write"))
	s.serve(t, program)
	return s
}

func (s shop) database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// command runs the host's command, and returns what it prints.
func (s shop) command(t *testing.T, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var failed strings.Builder
	cmd.Dir, cmd.Stdin, cmd.Stderr = s.dir, strings.NewReader(in), &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, failed.String())
	}
	return string(out)
}

var ready = regexp.MustCompile(`ready at (http://\S+)`)

// serve starts the host, and learns its address.
func (s *shop) serve(t *testing.T, program string) {
	t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "host.log"))
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(program, "serve", "--set", "server.address=127.0.0.1:0")
	host.Dir, host.Stderr = s.dir, log
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Process.Signal(os.Interrupt)
		_ = host.Wait()
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the host's log ends with\n%s", text[max(0, len(text)-2000):])
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n') // or the end, where the host does not start
	found := ready.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("the host did not start: %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s.base = found[1]
}

// has compares the tables with what every client leaves there: the tag of product 2, and orders beside the first three.
func (s shop) has(t *testing.T, tag string, more ...string) {
	t.Helper()
	rows, err := s.database(t).QueryContext(t.Context(), `
		SELECT concat('order ', o.id, ', ', c.name, ', ', status, ':',
			(SELECT group_concat(concat(' ', product_id, 'x', quantity), '') FROM (SELECT * FROM order_items WHERE order_id = o.id ORDER BY line_no)))
		FROM orders o LEFT JOIN customers c ON c.id = customer_id
		UNION ALL SELECT concat('product ', id, ', ', price, ':', (SELECT group_concat(concat(' ', tag_code), '') FROM product_tags WHERE product_id = id)) FROM products
		UNION ALL SELECT concat('tag ', code, ', ', label) FROM tags
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var got []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := append([]string{"order 1, Somerville, confirmed: 1x2 2x3", "order 2, Babbage, open: 2x7", "order 3, , open:"}, more...)
	want = append(want, "product 1, 1500: brass", "product 2, 12.5: "+tag, "tag brass, Made of brass", "tag paper, Made of paper", "tag steam, Needs steam")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tables: %s", diff)
	}
}
