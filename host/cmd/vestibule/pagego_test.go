package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each Go program of the documentation compiles, and each part of one does once it has
// its imports and what the page says that it leaves out. A variable that nothing uses is
// no fault of a part.
func TestPagesCompile(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	exports := importer.ForCompiler(files, "gc", exportData(t))
	for _, b := range readHere(t, "go") {
		var wrong []string
		checker := types.Config{Importer: exports, Error: func(err error) {
			if !strings.Contains(err.Error(), "declared and not used") {
				wrong = append(wrong, err.Error())
			}
		}}
		_, _ = checker.Check("page", files, append(beside(t, files, b), parsed(t, files, b)), nil)
		if len(wrong) > 0 {
			t.Errorf("%s:%d does not compile:\n%s", b.page, b.line, strings.Join(wrong, "\n"))
		}
	}
}

// parsed makes a file of a block: a whole one, declarations, or statements.
func parsed(t *testing.T, files *token.FileSet, b block) *ast.File {
	t.Helper()
	left := ""
	for line := range strings.Lines(leftOut()[b.page]) { // but for what this very part declares
		if name, _, ok := strings.Cut(line, "("); !ok || !strings.Contains(b.text, strings.TrimSpace(name)+"(") {
			left += line
		}
	}
	head := "package page\n"
	if b.page == "CONTRIBUTING.md" {
		head = "package function\n"
	}
	for name, path := range imports() {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(b.text + left) {
			head += fmt.Sprintf("import %s %q\n", name, path)
		}
	}
	tries := []string{b.text, head + left + b.text, head + left + "func _() {\n" + b.text + "\n}", head + left + "func _() (pluginsdk.Intent, error) {\n" + b.text + "\npanic(0)\n}"}
	if strings.Contains(b.text, "return pluginsdk.") && !strings.HasPrefix(b.text, "func ") {
		tries = slices.Delete(tries, 2, 3)
	}
	var all []string
	for _, text := range tries {
		file, err := parser.ParseFile(files, fmt.Sprintf("%s:%d", b.page, b.line), text, 0)
		if err == nil {
			return file
		}
		all = append(all, err.Error())
	}
	t.Fatalf("%s:%d is neither a file, nor declarations, nor statements:\n%s", b.page, b.line, strings.Join(all, "\n"))
	return nil
}

// beside are the files of the package that a block is a new file of.
func beside(t *testing.T, files *token.FileSet, b block) []*ast.File {
	t.Helper()
	if b.page != "CONTRIBUTING.md" {
		return nil
	}
	var all []*ast.File
	names, _ := filepath.Glob(root + "/odata/function/*.go")
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	return all
}

// leftOut is what the parts of a page leave to their readers.
func leftOut() map[string]string {
	return map[string]string{
		"docs/forward-auth.md": `
			type Claims struct{ jwt.Claims }
			type Verifier struct{ Issuer, Audience string }
			func (v *Verifier) published(context.Context, string) (*jose.JSONWebKeySet, error) { return nil, nil }
		`,
		"docs/odata.md": `
			var ctx context.Context
		`,
		"docs/plugins.md": `
			type settings struct{ Domain, Page string }
			func newPlugin() pluginsdk.Plugin { panic(0) }
		`,
	}
}

// imports are the packages that parts of programs name.
func imports() map[string]string {
	const ours = "github.com/vestibule-dev/vestibule/v2/"
	return map[string]string{
		"context": "context", "rand": "crypto/rand", "strings": "strings", "time": "time", "http": "net/http", "fs": "io/fs", "testing": "testing",
		"jose": "github.com/go-jose/go-jose/v4", "jwt": "github.com/go-jose/go-jose/v4/jwt", "mux": "github.com/gorilla/mux",
		"pluginsdk": ours + "pluginsdk", "plugintest": ours + "pluginsdk/plugintest",
		"host": ours + "host", "sqlite": ours + "host/store/sqlite",
		"odata": ours + "odata", "edm": ours + "odata/edm", "plan": ours + "odata/plan", "memory": ours + "odata/memory",
		"sqlsource": ours + "odata/sqlsource",
	}
}

// exportData finds what the compiler says of these packages and theirs.
func exportData(t *testing.T) importer.Lookup {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "github.com/vestibule-dev/vestibule/v2/odata/function"}
	for _, path := range imports() {
		args = append(args, path)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}
