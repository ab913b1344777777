package odatatest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/function"
)

// TestConformanceTable compares CONFORMANCE.md with the sources: every test that its tables name exists.
func TestConformanceTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("CONFORMANCE.md")
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

// TestReferenceNamesFunctions compares the table of functions in docs/odata-reference.md with the catalogue.
func TestReferenceNamesFunctions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/odata-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Operators and functions\n")
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (?:text|numbers|times|types and choice) \| (.*) \|$`).FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(row[1], -1) {
			named[name[1]] = true
			if f := function.Lookup(strings.ToLower(name[1])); f == nil || !f.Supports() {
				t.Errorf("the reference names %s, which is no function", name[1])
			}
		}
	}
	for _, name := range function.FilterFunctions() {
		if !named[name] {
			t.Errorf("the reference does not name %s", name)
		}
	}
}
