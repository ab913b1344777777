package odatatest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConformanceTable holds docs/odata.md to its word: every test that the
// conformance table names exists.
func TestConformanceTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/odata.md")
	if err != nil {
		t.Fatal(err)
	}
	suite := source(t, ".")
	named := regexp.MustCompile(`\b([a-z]+):(Test\w+|[a-z]+(?: [a-z]+)?)`)
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], ":") || strings.Contains(cells[3], "---") {
			continue
		}
		rows++
		for _, m := range named.FindAllStringSubmatch(cells[3], -1) {
			where, name := m[1], m[2]
			switch where {
			case "suite":
				if !strings.Contains(suite, `"`+name+`"`) {
					t.Errorf("the suite has no topic %q", name)
				}
			case "odata":
				where = "."
				fallthrough
			default:
				if elsewhere, ok := map[string]string{"header": "../internal/header", "vestibule": "../host/cmd/vestibule"}[where]; ok {
					where = elsewhere
				}
				if !strings.Contains(source(t, filepath.Join("..", where)), "func "+name+"(") {
					t.Errorf("%s has no test %s", m[1], name)
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d rows of the table name a test", rows)
	}
}

// source is all Go text of a directory.
func source(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
