package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/vestibule-dev/vestibule/v2"

// layout is the import table of the house: for each package the packages of this
// module that it may import, beside those of its own internal folder. A pattern
// may end in /*. Tests are free.
func layout() map[string][]string {
	return map[string][]string{
		"host": {
			"host/auth", "host/frontend", "host/mail", "host/pluginproc", "host/session", "host/store", "host/telemetry", "host/web",
			"odata", "pluginsdk",
		},
		"host/admission": {}, "host/assertion": {"host/keyring"}, "host/clock": {}, "host/outbox": {"internal/words"}, "host/keyring": {}, "host/reserved": {}, "host/frontend": {"host/auth", "host/auth/fault", "host/auth/identity", "host/static"},
		"host/static":         {"internal/header"},
		"host/web":            {"host/admission", "host/assertion", "host/auth", "host/auth/fault", "host/auth/target", "host/keyring", "host/reserved", "host/static", "host/telemetry", "internal/header"},
		"host/web/internal/*": {},
		"host/telemetry":      {"host/admission", "host/auth/fault", "host/outbox"},
		"host/auth":           {"host/admission", "host/auth/fault", "host/clock", "host/auth/identity", "host/auth/passkey", "host/auth/password", "host/auth/internal/seal", "host/auth/target", "host/reserved", "internal/words", "pluginsdk"},
		"host/auth/fault":     {}, "host/auth/internal/*": {"host/auth/fault"}, "host/auth/password": {"host/admission"}, "host/auth/target": {}, "host/auth/identity": {"host/auth/internal/*", "host/reserved"}, "host/auth/passkey": {"host/auth/internal/*"}, "host/auth/passkey/passkeytest": {},
		"host/session":          {"host/auth", "host/auth/identity", "host/clock", "host/keyring", "internal/words", "pluginsdk"},
		"host/store":            {"host/auth", "host/auth/identity", "host/auth/passkey", "host/clock", "host/keyring", "host/outbox", "host/reserved", "host/store/internal/*", "internal/repeat", "internal/words", "pluginsdk"},
		"host/store/internal/*": {"pluginsdk"},
		"host/store/sqlite":     {"host/store", "internal/sqlite3", "internal/sqlitefile"}, "host/store/postgres": {"host/store", "host/store/internal/*"}, "host/store/mysql": {"host/store", "host/store/internal/*"},
		"host/store/storetest":       {"host/auth", "host/auth/identity", "host/auth/passkey", "host/keyring", "host/outbox", "host/store", "pluginsdk"},
		"host/pluginproc":            {"host/outbox", "host/reserved", "internal/finding", "internal/words", "pluginsdk", "pluginsdk/conformance", "pluginsdk/handshake"},
		"host/pluginproc/internal/*": {"host/outbox", "internal/finding", "internal/words", "pluginsdk", "pluginsdk/handshake"},
		"host/mail":                  {"host/outbox", "host/reserved", "internal/finding"},
		"host/config": {
			"host", "host/reserved", "host/store", "host/store/sqlite", "host/store/postgres",
			"host/store/mysql", "odata", "odata/edm", "odata/sqlsource", "ui",
		},
		"host/config/internal/active": {
			"host/config/internal/schema", "host/reserved", "host/store", "internal/finding", "odata/edm", "odata/function", "odata/memory", "odata/plan", "odata/scalar", "odata/syntax",
		},
		"host/config/internal/memory": {}, "host/config/internal/layer": {"host/config/internal/schema", "internal/finding"}, "host/config/internal/schema": {"host/reserved", "internal/finding", "internal/words", "pluginsdk"},
		"host/cmd/vestibule":                   {"host", "host/config"},
		"host/cmd/vestibule/internal/scaffold": {"host/reserved", "pluginsdk", "pluginsdk/node", "pluginsdk/python"},

		"pluginsdk": {"pluginsdk/handshake", "internal/words"}, "pluginsdk/handshake": {},
		"pluginsdk/internal/pluginpb": {}, "pluginsdk/internal/configblock": {"internal/words"}, "pluginsdk/internal/*": {},
		"pluginsdk/node": {}, "pluginsdk/python": {},
		"pluginsdk/internal/sdktest": {"pluginsdk", "pluginsdk/conformance", "pluginsdk/internal/configblock", "pluginsdk/plugintest"},
		"pluginsdk/conformance":      {"pluginsdk", "pluginsdk/handshake"},
		"pluginsdk/plugintest":       {"pluginsdk", "pluginsdk/conformance", "pluginsdk/handshake", "pluginsdk/internal/configblock"},
		"plugins/*":                  {"pluginsdk"},

		"odata": {
			"odata/batch", "odata/csdl", "odata/edm", "odata/function", "internal/header", "odata/payload", "odata/plan", "odata/bind", "odata/syntax", "odata/write",
		},
		"odata/edm": {}, "internal/header": {}, "odata/batch": {"internal/header", "odata/jsontext", "odata/scalar"}, "odata/csdl": {"odata/edm"},
		"odata/syntax": {}, "odata/syntax/internal/*": {}, "odata/scalar": {"odata/edm"}, "odata/jsontext": {},
		"odata/payload":          {"odata/edm", "internal/header", "odata/jsontext", "odata/plan", "odata/scalar", "odata/write"},
		"odata/plan":             {"odata/edm"},
		"odata/write":            {"odata/edm", "odata/plan"},
		"odata/function":         {"odata/edm", "odata/plan", "odata/scalar", "internal/words"},
		"odata/bind":             {"odata/edm", "odata/function", "odata/plan", "odata/scalar", "odata/syntax", "internal/words", "odata/write"},
		"odata/bind/internal/*":  {"odata/edm", "odata/plan", "odata/syntax"},
		"odata/sqlsource":        {"odata/edm", "odata/plan", "odata/bind", "odata/scalar", "odata/sqlsource/*", "internal/finding", "internal/words", "odata/write"},
		"odata/sqlsource/*":      {"odata/edm", "odata/function", "odata/plan", "odata/scalar", "odata/sqlsource/*", "internal/repeat", "internal/sqlite3", "internal/sqlitefile", "odata/write"},
		"odata/memory":           {"odata/edm", "odata/function", "odata/plan", "odata/bind", "odata/scalar", "odata/write"},
		"odata/odatatest":        {"odata", "odata/edm", "odata/memory", "odata/plan", "odata/bind", "odata/sqlsource", "odata/syntax", "odata/write"},
		"odata/odatatest/dbtest": {},

		"internal/finding": {"internal/words"}, "internal/words": {}, "internal/sqlite3": {}, "internal/sqlitefile": {}, "internal/repeat": {"internal/sqlite3"},

		"ui": {}, "ui/browsertest": {}, "ui/uitest": {},
		"internal/suites/*": {},
		"internal/bench":    {"host", "odata", "odata/edm", "odata/sqlsource", "host/store", "host/store/*", "odata/odatatest/dbtest", "pluginsdk"},
		"examples/*":        {"host", "host/reserved", "pluginsdk", "odata", "odata/edm", "odata/memory", "odata/sqlsource", "host/store/sqlite", "ui", "examples/shop/seed"},
	}
}

// libraries are the packages of other modules that only some packages may
// import.
func libraries() map[string][]string {
	sql := []string{"host/store", "host/store/*", "odata/sqlsource", "odata/sqlsource/*", "odata/odatatest", "odata/odatatest/*", "examples/*", "internal/bench", "internal/repeat", "internal/sqlite3"}
	settings := []string{"host/config", "host/config/*"}
	plugins := []string{"host/pluginproc", "pluginsdk", "pluginsdk/*", "internal/bench"}
	kits := []string{"host/store/storetest", "pluginsdk/plugintest", "pluginsdk/internal/sdktest", "odata/odatatest", "odata/odatatest/*", "ui/browsertest"}
	return map[string][]string{
		"github.com/coreos/go-oidc":           {"plugins/oidc"},
		"golang.org/x/oauth2":                 {"plugins/oidc"},
		"github.com/go-jose/go-jose":          {"host/assertion", "examples/*"},
		"github.com/go-webauthn/webauthn":     {"host/auth/passkey"},
		"github.com/gorilla/mux":              {"host", "examples/*"},
		"github.com/gorilla/sessions":         {"host/session"},
		"github.com/jmoiron/sqlx":             sql,
		"github.com/jackc/pgx":                sql,
		"github.com/go-sql-driver/mysql":      sql,
		"modernc.org/sqlite":                  sql,
		"unsafe":                              {"internal/sqlite3"},
		"modernc.org/libc":                    {"internal/sqlite3"},
		"database/sql":                        append(slices.Clone(sql), "host", "host/telemetry"), // the state of pools
		"github.com/pressly/goose":            {"host/store", "host/store/*"},
		"github.com/hashicorp/go-plugin":      plugins,
		"google.golang.org/grpc":              plugins,
		"google.golang.org/protobuf":          plugins,
		"github.com/hashicorp/hcl":            settings,
		"github.com/knadh/koanf":              settings,
		"github.com/zclconf/go-cty":           settings,
		"github.com/wneessen/go-mail":         {"host/mail"},
		"github.com/prometheus/client_golang": {"host/telemetry"},
		"golang.org/x/term":                   {"host/cmd/vestibule"},
		"net/http": {
			"host", "host/auth", "host/auth/*", "host/session", "host/frontend", "host/static", "host/web", "host/telemetry", "host/config",
			"host/cmd/vestibule", "odata", "odata/batch", "internal/header", "odata/odatatest", "plugins/*", "examples/*", "internal/bench",
			"internal/suites/identity/*",
		},
		"testing":                         kits,
		"github.com/google/go-cmp":        kits,
		"github.com/rogpeppe/go-internal": {},
		"github.com/chromedp":             {"ui/browsertest"},
	}
}

// A source is one file that counts: no test, not generated.
type source struct {
	file, dir string
	lines     int
	fset      *token.FileSet
	ast       *ast.File
}

// sources parses the house. It reads the files itself: a test that runs the go
// command would pass stale out of the test cache.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(parsed) {
			list = append(list, source{name, path.Dir(name), strings.Count(string(text), "\n"), fset, parsed})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("found only %d files from %s", len(list), must(filepath.Abs("..")))
	}
	return list
}

func must(s string, err error) string {
	if err != nil {
		return err.Error()
	}
	return s
}

func (s source) imports() []string {
	var list []string
	for _, spec := range s.ast.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// own gives the folder of a package of this module.
func own(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		above, wild := strings.CutSuffix(p, "/*")
		return dir == p || strings.HasPrefix(dir, p+"/internal/") || wild && strings.HasPrefix(dir, above+"/")
	})
}

// line finds what a package may import; the line of its own wins over a pattern.
func line(dir string) ([]string, bool) {
	table := layout()
	if allowed, ok := table[dir]; ok {
		return allowed, true
	}
	for _, pattern := range slices.Sorted(maps.Keys(table)) {
		if strings.HasSuffix(pattern, "/*") && matches(dir, []string{pattern}) {
			return table[pattern], true
		}
	}
	return nil, false
}

// The folders at the top are agreed on, and Go code stands in no other.
func TestImportsStayBelowTheTop(t *testing.T) {
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.dir, "/")
		if !slices.Contains([]string{"host", "pluginsdk", "plugins", "odata", "ui", "examples", "internal"}, top) {
			t.Errorf("%s: there is no folder %s at the top of the house: put the package into one that is there", s.file, top)
		}
	}
}

func TestImportsFollowTheLayout(t *testing.T) {
	bans := libraries()
	for _, s := range sources(t) {
		allowed, ok := line(s.dir)
		if !ok {
			t.Errorf("%s: the package %s has no line in the layout: add one to layout() and to CONTRIBUTING.md", s.file, s.dir)
			continue
		}
		for _, imported := range s.imports() {
			if dir, ours := own(imported); ours && !matches(dir, allowed) && !strings.HasPrefix(dir, s.dir+"/internal/") {
				t.Errorf("%s imports %s, which the layout does not allow: %s may import %v", s.file, dir, s.dir, allowed)
			}
			for library, users := range bans {
				if (imported == library || strings.HasPrefix(imported, library+"/")) && !strings.HasPrefix(imported, "net/http/internal") && !matches(s.dir, users) {
					t.Errorf("%s imports %s, which only %v may", s.file, imported, users)
				}
			}
		}
	}
}

func TestEveryLayoutLineHasAPackage(t *testing.T) {
	dirs := map[string]bool{}
	for _, s := range sources(t) {
		dirs[s.dir] = true
	}
	for pattern := range layout() {
		found := false
		for dir := range dirs {
			found = found || matches(dir, []string{pattern})
		}
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(pattern))); !found && err != nil {
			t.Errorf("the layout has a line for %s, but there is no such package", pattern)
		}
	}
}

func TestAlarmBells(t *testing.T) {
	const maxFile, maxFunction, maxExported = 500, 80, 60
	exported := map[string]int{}
	for _, s := range sources(t) {
		if s.lines > maxFile {
			t.Errorf("%s has %d lines, more than %d: cut it", s.file, s.lines, maxFile)
		}
		for _, d := range s.ast.Decls {
			exported[s.dir] += exportedNames(d)
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d: cut it", s.file, fn.Name.Name, n, maxFunction)
			}
		}
	}
	for dir, names := range exported {
		if names > maxExported {
			t.Errorf("the package %s exports %d names, more than %d", dir, names, maxExported)
		}
	}
}

// TestImportsFanOut bounds how many packages of this module one package imports, beside
// those in its own internal folder: a package with more imports is a hub that every
// change touches.
func TestImportsFanOut(t *testing.T) {
	const maxFanOut = 10
	graph := imports(t)
	for _, dir := range slices.Sorted(maps.Keys(graph)) {
		var known []string
		for _, imported := range slices.Sorted(maps.Keys(graph[dir])) {
			if !strings.HasPrefix(imported, dir+"/internal/") {
				known = append(known, imported)
			}
		}
		if len(known) > maxFanOut {
			t.Errorf("%s imports %d packages of ours, more than %d: %v", dir, len(known), maxFanOut, known)
		}
	}
}

// imports maps each package of this module to those of the module that it
// imports.
func imports(t *testing.T) map[string]map[string]bool {
	t.Helper()
	graph := map[string]map[string]bool{}
	for _, s := range sources(t) {
		if graph[s.dir] == nil {
			graph[s.dir] = map[string]bool{}
		}
		for _, imported := range s.imports() {
			if dir, ours := own(imported); ours {
				graph[s.dir][dir] = true
			}
		}
	}
	return graph
}

// exportedNames counts package-level names; methods belong to their types.
func exportedNames(d ast.Decl) int {
	count := 0
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			count++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					count++
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						count++
					}
				}
			}
		}
	}
	return count
}

func TestImportChain(t *testing.T) {
	const maxChain = 7
	graph := imports(t)
	longest := map[string][]string{}
	var walk func(dir string) []string
	walk = func(dir string) []string {
		if chain, ok := longest[dir]; ok {
			return chain
		}
		var best []string
		for next := range graph[dir] {
			if chain := walk(next); len(chain) > len(best) {
				best = chain
			}
		}
		longest[dir] = append([]string{dir}, best...)
		return longest[dir]
	}
	for dir := range graph {
		chain := walk(dir)
		if dir == "host/cmd/vestibule" {
			chain = chain[1:] // a command only wires
		}
		if len(chain) > maxChain {
			t.Errorf("an import chain of %d packages, more than %d: %s", len(chain), maxChain, strings.Join(chain, " -> "))
		}
	}
}
