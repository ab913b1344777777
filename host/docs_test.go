package host_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Each test, fuzz target, benchmark, example and story that the documents name
// exists.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	root := os.DirFS("..")
	known := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (base == "node_modules" || strings.HasPrefix(base, ".") && name != "."):
			return fs.SkipDir
		case strings.HasSuffix(base, ".txtar"):
			known[base] = true
		case strings.HasSuffix(base, "_test.go"):
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			for _, m := range declared.FindAllSubmatch(text, -1) {
				known[string(m[1])] = true
				known[path.Base(path.Dir(name))+":"+string(m[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// As `TestX` or, in tables of clauses, as package:TestX.
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Z]\\w*|[\\w-]+\\.txtar)`|\\b(\\w+:Test[A-Z]\\w*)")
	for file, least := range map[string]int{"SECURITY.md": 250, "odata/odatatest/CONFORMANCE.md": 40} {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		all := named.FindAllSubmatch(text, -1)
		if len(all) < least {
			t.Errorf("%s names %d tests, want at least %d", file, len(all), least)
		}
		for _, m := range all {
			if name := string(m[1]) + string(m[2]); !known[name] {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
		// A row of a table of threats or rules without a test promises too much.
		for line := range strings.SplitSeq(string(text), "\n") {
			tested := strings.HasPrefix(line, "| ") && strings.Contains(line, "`Test") || strings.Contains(line, "`Fuzz") || strings.Contains(line, "`Benchmark")
			if file == "SECURITY.md" && strings.Count(line, " | ") == 2 && !tested && !strings.HasPrefix(line, "| Threat |") {
				t.Errorf("%s: no test is named in %q", file, line)
			}
		}
	}
}

// The pages stay as short as CONTRIBUTING.md promises, counted as wc -w counts.
func TestDocumentsKeepTheirWords(t *testing.T) {
	root := os.DirFS("..")
	words := map[string]int{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && name != "docs" && !strings.HasPrefix(name, "docs/"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".md"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if folder, _, below := strings.Cut(name, "/"); below {
			name = folder
		}
		words[name] += len(strings.Fields(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int{"README.md": 500, "CHANGELOG.md": 900, "docs": 36_000} {
		if n := words[name]; n > most || n < most/2 {
			t.Errorf("%s has %d words, want at most %d: keep each fact at its home, and link to it", name, n, most)
		}
	}
}
