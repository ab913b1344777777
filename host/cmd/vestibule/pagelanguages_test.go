package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// shown are the blocks that no test reads, and why.
func shown() map[string]string {
	return map[string]string{
		"CONTRIBUTING.md text":               "what git printed of a change that was made to try it",
		"docs/operations/limits.md text":     "a line of a log",
		"docs/operations/metrics.md text":    "lines of a log",
		"docs/operations.md yaml":            "TestAlertRules reads the rules that it names; the rest is addresses",
		"docs/operations/galera.md ini":      "systemd starts it",
		"docs/operations/postgresql.md yaml": "make -C internal cluster starts Patroni with it",
		"docs/operations/galera.md haproxy":  "make -C internal cluster starts HAProxy with it",
	}
}

// Each block of the documentation has a language, and a test that reads it, or a reason
// why none does.
func TestPagesHaveReaders(t *testing.T) {
	t.Parallel()
	here := map[string]bool{"hcl": true, "sh": true, "go": true, "html": true, "json": true, "js": true, "python": true, "sql": true, "text": true, "toml": true, "dockerfile": true, "xml": true}
	used, count := map[string]bool{}, map[string]int{}
	for _, b := range blocks(t) {
		key := b.page + " " + b.language
		switch by := b.readBy(); {
		case by != "":
			used[by] = true
			count["other tests"]++
		case shown()[key] != "":
			used[key] = true
			count["none"]++
		case here[b.language]:
			count["tests of pages"]++
		default:
			t.Errorf("%s:%d: no test reads a block in %q: give it a language, or a reader in this package", b.page, b.line, b.language)
		}
	}
	for key := range shown() {
		if !used[key] {
			t.Errorf("no page has a block %s: take it from the list", key)
		}
	}
	tests := sourcesOfTests(t)
	for _, e := range elsewhere() {
		if !used[e.test] || !strings.Contains(tests, "func "+e.test+"(") {
			t.Errorf("%s of %s is not read by %s", e.language, e.page, e.test)
		}
	}
	t.Logf("read by: %v", count)
}

// sourcesOfTests is the text of the tests that may read pages.
func sourcesOfTests(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range []string{"host", "host/cmd/vestibule", "internal/suites/cluster", "odata/sqlsource"} {
		names, _ := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// Each JSON of the documentation is JSON: a value, or several.
func TestPagesHaveJSON(t *testing.T) {
	t.Parallel()
	for _, b := range readHere(t, "json") {
		values := json.NewDecoder(strings.NewReader(b.text))
		for {
			var value map[string]any
			err := values.Decode(&value)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
				break
			}
		}
	}
}

// Each script of the documentation is one to its language: a module, or a part of one.
func TestPagesHaveScripts(t *testing.T) {
	t.Parallel()
	for _, language := range []struct{ name, program, variable, check string }{
		{"js", "node", "REQUIRE_NODE", `let bad = 0
for (const [where, text] of JSON.parse(require('fs').readFileSync(0))) {
  const source = text.replaceAll(/^(import .*|export )/gm, '')
  const tries = [source, '({' + source + '})'].map((t) => { try { new (async () => {}).constructor(t); return '' } catch (e) { return e.message } })
  if (!tries.includes('')) { console.log(where, tries); bad = 1 }
}
process.exit(bad)`},
		{"python", "python3", "REQUIRE_PYTHON", `import json, sys
for where, text in json.load(sys.stdin):
    compile(text, where, "exec")`},
	} {
		if _, err := exec.LookPath(language.program); err != nil {
			missingFor(t, language.variable, "no "+language.program)
		}
		var all [][2]string
		for _, b := range readHere(t, language.name) {
			all = append(all, [2]string{fmt.Sprintf("%s:%d", b.page, b.line), b.text})
		}
		given, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		flag := map[string]string{"js": "-e", "python": "-c"}[language.name]
		cmd := exec.Command(language.program, flag, language.check)
		cmd.Stdin = strings.NewReader(string(given))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", language.name, err, out)
		}
	}
}

// Each piece of HTML of the documentation ends what it begins, and what it has of JSON in
// attributes is some.
func TestPagesHaveHTML(t *testing.T) {
	t.Parallel()
	for _, b := range readHere(t, "html") {
		open := 0
		tokens := html.NewTokenizer(strings.NewReader(b.text))
		for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
			switch kind {
			case html.StartTagToken:
				open++
			case html.EndTagToken:
				open--
			}
			for _, attribute := range tokens.Token().Attr {
				if strings.HasPrefix(attribute.Val, "{") && !json.Valid([]byte(attribute.Val)) {
					t.Errorf("%s:%d: %s is no JSON", b.page, b.line, attribute.Key)
				}
			}
		}
		if open != 0 {
			t.Errorf("%s:%d: %d elements are not ended", b.page, b.line, open)
		}
	}
}

// Each piece of XML of the documentation is well-formed, and the modules of ours that it
// names are there.
func TestPagesHaveXML(t *testing.T) {
	t.Parallel()
	module := regexp.MustCompile(`'vestibule/([^']+)'`)
	for _, b := range readHere(t, "xml") {
		whole := xml.NewDecoder(strings.NewReader("<part>" + b.text + "</part>"))
		for {
			_, err := whole.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
				break
			}
		}
		for _, m := range module.FindAllStringSubmatch(b.text, -1) {
			if _, err := os.Stat(filepath.Join(root, "ui/ui5/src", m[1]+".js")); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
		}
	}
}

// The statements that make one's own table fit SQLite, too, where nothing else is there.
func TestPagesHaveSQL(t *testing.T) {
	t.Parallel()
	for _, b := range readHere(t, "sql") {
		file := filepath.Join(t.TempDir(), "own.db")
		change(t, file, "CREATE TABLE people (person_id INTEGER PRIMARY KEY, full_name, mail, pw_hash, token)")
		change(t, file, b.text)
		change(t, file, "SELECT id, name, email, password, remember_token FROM users")
	}
}

// The image that pages build upon is that of this version, and they put into it a plugin of ours.
func TestPagesBuildOnImages(t *testing.T) {
	t.Parallel()
	for _, b := range readHere(t, "dockerfile") {
		copied := regexp.MustCompile(`COPY plugins/(\w+) `).FindAllStringSubmatch(b.text, -1)
		if from := "FROM ghcr.io/vestibule-dev/vestibule:" + host.Version() + "\n"; !strings.HasPrefix(b.text, from) || len(copied) == 0 {
			t.Errorf("%s:%d: no plugin of ours in an image that begins with %s", b.page, b.line, from)
		}
		for _, m := range copied {
			if _, err := os.Stat(filepath.Join(root, "plugins", m[1])); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
		}
	}
}
