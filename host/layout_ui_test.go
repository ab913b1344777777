package host_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// No module of the front-end app imports itself through others, not even for a
// type: who reads one should not have to read all.
func TestImportsOfTheFrontEndHaveNoCircle(t *testing.T) {
	graph := frontEndImports(t, os.DirFS("../ui/src"))
	if len(graph) < 15 {
		t.Fatalf("found only the modules %v", slices.Sorted(maps.Keys(graph)))
	}
	if c := circle(graph); c != nil {
		t.Errorf("ui/src imports in a circle: %s", strings.Join(c, " -> "))
	}
}

func TestImportCircleIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		graph map[string][]string
		want  string
	}{
		"none":            {map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}, ""},
		"two":             {map[string][]string{"a": {"b"}, "b": {"a"}}, "a b a"},
		"itself":          {map[string][]string{"a": {"a"}}, "a a"},
		"behind a way in": {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}}, "b c d b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(circle(c.graph), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// frontEndImports returns for each TypeScript module those that it imports.
func frontEndImports(t *testing.T, src fs.FS) map[string][]string {
	t.Helper()
	relative := regexp.MustCompile(`(?m)\bfrom '(\.{1,2}/[^']+\.ts)';$`)
	graph := map[string][]string{}
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".ts") {
			return err
		}
		text, err := fs.ReadFile(src, name)
		graph[name] = nil
		for _, m := range relative.FindAllSubmatch(text, -1) {
			graph[name] = append(graph[name], path.Join(path.Dir(name), string(m[1])))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// circle returns a way through the graph that ends where it begins, or nil.
func circle(graph map[string][]string) []string {
	done := map[string]bool{}
	var way []string
	var walk func(name string) []string
	walk = func(name string) []string {
		if at := slices.Index(way, name); at >= 0 {
			return append(slices.Clone(way[at:]), name)
		}
		if done[name] {
			return nil
		}
		way = append(way, name)
		for _, next := range graph[name] {
			if c := walk(next); c != nil {
				return c
			}
		}
		way = way[:len(way)-1]
		done[name] = true
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(graph)) {
		if c := walk(name); c != nil {
			return c
		}
	}
	return nil
}
