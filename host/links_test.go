package host_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Every link of the documents and the alerts to a file of ours, or to a heading in
// one, leads to something.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	root := os.DirFS("..")
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*.yml", "examples/*/README.md", "ui/*.md", "pluginsdk/*/README.md", "odata/*/CONFORMANCE.md"} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			pages[name] = withoutCode(string(text))
		}
	}
	const ours = "https://github.com/vestibule-dev/vestibule/blob/main/"
	link, runbook := regexp.MustCompile(`\]\(([^()\s]+)\)`), regexp.MustCompile(regexp.QuoteMeta(ours)+`[^\s)]+`)
	found := 0
	for name, text := range pages {
		targets := runbook.FindAllString(text, -1)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			targets = append(targets, m[1])
		}
		for _, target := range targets {
			file, here := strings.CutPrefix(target, ours)
			if !here && strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if !here {
				file = path.Join(path.Dir(name), target)
			}
			if strings.HasPrefix(target, "#") {
				file = name + target
			}
			found++
			if err := leadsSomewhere(root, pages, file); err != nil {
				t.Errorf("%s links to %s: %v", name, target, err)
			}
		}
	}
	if found < 150 {
		t.Errorf("found %d links, want more", found)
	}
}

func leadsSomewhere(root fs.FS, pages map[string]string, target string) error {
	file, heading, named := strings.Cut(target, "#")
	if _, err := fs.Stat(root, file); err != nil || !named {
		return err
	}
	if !headings(pages[file])[heading] {
		return fmt.Errorf("%s has no heading #%s", file, heading)
	}
	return nil
}

// withoutCode returns a page without what stands in it as code.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```[ \t]*$").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*\\]\\([^`\n]*`").ReplaceAllString(text, "")
}

// headings returns how links name those of a page: in small letters, with hyphens for
// blanks and without anything else that is no letter, digit or underscore.
func headings(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} (.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(m[1])), " ", "-")
		name = regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(name, "")
		unique := name
		for n := 1; names[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		names[unique] = true
	}
	return names
}
