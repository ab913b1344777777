package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// What templates and screens are given is on the page for those who write them: each
// exported field of the type, by its name or the one that it has in JSON.
func TestPagesTellFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, structure, page, before string }{
		{"host/frontend/errorpage.go", "errorPage", "frontend.md", "`"},
		{"host/frontend/bootstrap.go", "bootstrap", "frontend.md", `"`},
		{"host/frontend/explorer.go", "explored", "frontend.md", "`"},
		{"host/mail/template.go", "Data", "sign-in.md", "`."},
	} {
		page, names := document(t, c.page), fields(t, c.source, c.structure)
		for _, name := range names {
			if !strings.Contains(page, c.before+name+c.before[:1]) {
				t.Errorf("docs/%s does not tell of %s%s, which is in %s", c.page, c.before[1:], name, c.source)
			}
		}
		if len(names) < 5 {
			t.Errorf("%s has %d fields in %s, want more", c.source, len(names), c.structure)
		}
	}
}

// fields are those of a struct in a file.
func fields(t *testing.T, source, structure string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), root+"/"+source, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if ok && spec.Name.Name != structure {
			return false
		}
		field, ok := n.(*ast.Field)
		if !ok || len(field.Names) == 0 || !field.Names[0].IsExported() {
			return true
		}
		if field.Tag != nil {
			if _, name, ok := strings.Cut(field.Tag.Value, `json:"`); ok {
				name, _, _ = strings.Cut(name, `"`)
				names = append(names, name)
				return true
			}
		}
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		return true
	})
	return names
}
