package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the tree of the sources, from here.
const root = "../../.."

// A block is a fenced part of a page, without the indentation that it stands in.
type block struct {
	page, language, text string
	line                 int
}

// pages returns the documentation by its paths in the tree.
func pages(t *testing.T) map[string]string {
	t.Helper()
	return files(t, "README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md")
}

func files(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(text)
		}
	}
	return all
}

// blocks returns all of the documentation, in the order of the pages' names.
func blocks(t *testing.T) []block {
	t.Helper()
	return blocksOf(t, pages(t))
}

func blocksOf(t *testing.T, pages map[string]string) []block {
	t.Helper()
	var all []block
	fence := regexp.MustCompile("^( *)```(.*)$")
	for page, text := range pages {
		var open *block
		indent := ""
		for i, line := range strings.Split(text, "\n") {
			m := fence.FindStringSubmatch(line)
			switch {
			case m == nil && open != nil:
				open.text += strings.TrimPrefix(line, indent) + "\n"
			case m != nil && open == nil:
				open, indent = &block{page: page, language: m[2], line: i + 1}, m[1]
			case m != nil:
				all, open = append(all, *open), nil
			}
		}
		if open != nil {
			t.Errorf("%s:%d: the block has no end", page, open.line)
		}
	}
	slices.SortFunc(all, func(a, b block) int {
		if order := strings.Compare(a.page, b.page); order != 0 {
			return order
		}
		return a.line - b.line
	})
	return all
}

// elsewhere names the tests that read blocks from the text of a page: those in a
// language, and with some words in them, where such are named.
func elsewhere() []struct{ page, language, words, test string } {
	const stranger, balancers = "TestInstallAsAStranger", "TestBalancerPages"
	return []struct{ page, language, words, test string }{
		{"docs/tutorial.md", "", "", stranger},
		{"README.md", "sh", "go install", stranger},
		{"docs/plugins.md", "sh", "", stranger},
		{"docs/plugins.md", "hcl", `plugin "hello"`, stranger},
		{"docs/plugins.md", "hcl", `plugin "members"`, stranger},
		{"docs/how-to/php.md", "", "", "TestPagesFollow"},
		{"docs/how-to/screens.md", "", "", "TestPagesFollow"},
		{"docs/how-to/data-alone.md", "", "", "TestPagesFollow"},
		{"docs/how-to/ui5.md", "", "", "TestPagesFollow"},
		{"docs/how-to/development.md", "", "", "TestPagesFollow"},
		{"docs/how-to/totp.md", "", "", "TestPagesFollow"},
		{"docs/how-to/deactivated.md", "", "", "TestPagesFollow"},
		{"docs/how-to/users-table.md", "", "", "TestPagesFollow"},
		{"docs/how-to/step.md", "sh", "", "TestPagesFollow"},
		{"docs/how-to/step.md", "python", "", "TestPagesFollow"},
		{"docs/how-to/step.md", "html", "", "TestPagesFollow"},
		{"docs/how-to/step.md", "hcl", "", "TestPagesFollow"},
		{"docs/how-to/openid-connect.md", "sh", "", "TestPagesFollow"},
		{"docs/how-to/openid-connect.md", "js", "", "TestPagesFollow"},
		{"docs/how-to/openid-connect.md", "html", "", "TestPagesFollow"},
		{"docs/how-to/openid-connect.md", "hcl", "127.0.0.1:9000", "TestPagesFollow"},
		{"docs/operations/nginx.md", "nginx", "", balancers},
		{"docs/operations/caddy.md", "caddyfile", "", balancers},
		{"docs/operations/haproxy.md", "haproxy", "", balancers},
		{"docs/operations/traefik.md", "yaml", "", "TestBalancerPagesFitTheHost"},
		{"docs/operations/galera.md", "sh", "", "TestGaleraCheck"},
		{"docs/operations/service.md", "ini", "", "TestUnitIsTheDocumentedOne"},
		{"docs/odata-reference.md", "sql", "vestibule_", "TestCountedChanges"},
	}
}

// readHere returns the blocks in a language that no other test reads.
func readHere(t *testing.T, language string) []block {
	t.Helper()
	var all []block
	for _, b := range blocks(t) {
		if b.language == language && b.readBy() == "" {
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no page has a block in %s", language)
	}
	return all
}

// readBy returns the other test that reads a block, if there is one.
func (b block) readBy() string {
	for _, e := range elsewhere() {
		if e.page == b.page && (e.language == "" || e.language == b.language) && strings.Contains(b.text, e.words) {
			return e.test
		}
	}
	return ""
}
