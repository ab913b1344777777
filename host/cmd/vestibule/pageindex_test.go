package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/README.md leads to each page of the documentation, or to docs/operations.md,
// which leads to those of its own.
func TestPagesAreInTheIndex(t *testing.T) {
	t.Parallel()
	all, led := pages(t), map[string]bool{"docs/README.md": true, "README.md": true}
	for _, index := range []string{"docs/README.md", "docs/operations.md"} {
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(all[index], -1) {
			led[path.Join(path.Dir(index), m[1])] = true
		}
	}
	for page := range all {
		if !led[page] {
			t.Errorf("neither docs/README.md nor docs/operations.md leads to %s", page)
		}
	}
	if !strings.Contains(all["README.md"], "(docs/README.md)") {
		t.Error("README.md does not lead to docs/README.md")
	}
}

// docs/examples.md has each of the examples, with a command for what is there.
func TestPagesListExamples(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	page := document(t, "examples.md")
	for _, folder := range folders {
		name := folder.Name()
		row := regexp.MustCompile(`(?m)^\| \[` + name + `\]\(../examples/` + name + `\) \| [^|]+ \| (.+) \|$`).FindStringSubmatch(page)
		if row == nil {
			t.Errorf("docs/examples.md has no row for %s", name)
			continue
		}
		command := row[1]
		for _, m := range regexp.MustCompile(`\./examples/([\w-]+)`).FindAllStringSubmatch(command, -1) {
			kind := map[bool]string{true: "*_test.go", false: "main.go"}[strings.HasPrefix(command, "`go test")]
			if found, _ := filepath.Glob(filepath.Join(root, "examples", name, kind)); m[1] != name || len(found) == 0 {
				t.Errorf("docs/examples.md: %s is no command for %s", command, name)
			}
		}
		for _, m := range regexp.MustCompile(`[\w.]+\.(?:js|py|rb)\b`).FindAllString(command, -1) {
			if _, err := os.Stat(filepath.Join(root, "examples", name, m)); err != nil {
				t.Errorf("docs/examples.md: %v", err)
			}
		}
	}
}
