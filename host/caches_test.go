package host_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCaches holds the table of caches in CONTRIBUTING.md: each row names a field, variable or type that exists, odata has
// at most twelve rows and host ten, and files with the usual means of a cache have a row or a reason to have none.
func TestCaches(t *testing.T) {
	noCache := []string{
		"host/host.go",                     // the embedding program's router
		"host/run.go",                      // the certificate in use
		"host/admission/queue.go",          // runs once
		"host/web/site.go",                 // the address in use
		"host/web/passage.go",              // buffers
		"odata/memory/source.go",           // the data themselves
		"odata/payload/pool.go",            // buffers
		"odata/stream.go",                  // buffers
		"odata/spool.go",                   // buffers
		"odata/scalar/text.go",             // a constant
		"internal/sqlite3/stmt.go",         // of conn.go
		"internal/bench/edge.go",           // buffers
		"internal/bench/edgerows.go",       // results of rows
		"odata/odatatest/dbtest/dbtest.go", // of tests
	}
	page, err := os.ReadFile(filepath.Join("..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, count := map[string][]string{}, map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+\\.go)` `(\\w+)` \\|").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = append(rows[m[1]], m[2])
		half := "odata"
		if strings.HasPrefix(m[1], "host/") {
			half = "host"
		}
		count[half]++
	}
	if count["odata"] > 12 || count["host"] > 10 || count["odata"] == 0 || count["host"] == 0 {
		t.Errorf("caches: %v, want at most 12 in odata and 10 in host", count)
	}
	for _, s := range sources(t) {
		for _, name := range rows[s.file] {
			if !names(s.ast, name) {
				t.Errorf("CONTRIBUTING.md: %s has no %s", s.file, name)
			}
		}
		top, _, _ := strings.Cut(s.file, "/")
		counted := slices.Contains([]string{"host", "odata", "internal"}, top) && !slices.Contains(noCache, s.file)
		if _, listed := rows[s.file]; !listed && counted && keeps(s) {
			t.Errorf("%s keeps something by sync.Map, sync.Once, sync.Pool, atomic.Pointer or container/list: give it a row among the caches in CONTRIBUTING.md", s.file)
		}
		delete(rows, s.file)
	}
	for file := range rows {
		t.Errorf("CONTRIBUTING.md: there is no %s", file)
	}
}

// names reports whether a file has an identifier of the name.
func names(f *ast.File, name string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// keeps reports whether a file uses the usual means of a cache.
func keeps(s source) (found bool) {
	if slices.Contains(s.imports(), "container/list") {
		return true
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return !found
		}
		from, ok := sel.X.(*ast.Ident)
		found = found || ok && (from.Name == "sync" && slices.Contains([]string{"Map", "Once", "OnceValue", "OnceValues", "Pool"}, sel.Sel.Name) || from.Name == "atomic" && sel.Sel.Name == "Pointer")
		return !found
	})
	return found
}
