package main

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scanners finds a token with what docs/how-to/tokens.md gives to scanners of secrets.
func (h *helper) scanners() {
	h.t.Helper()
	pattern := strings.TrimSpace(h.only("docs/how-to/tokens.md", "text"))
	rule := regexp.MustCompile(`regex = '''(.*)'''`).FindStringSubmatch(h.only("docs/how-to/tokens.md", "toml"))
	for _, expression := range []string{pattern, rule[1]} {
		if found := regexp.MustCompile(expression).FindString("key = " + h.token + ";"); found != h.token {
			h.t.Errorf("docs/how-to/tokens.md: %s finds %q", expression, found)
		}
	}
	if python, err := exec.LookPath("python3"); err == nil {
		wrong := h.token[:len(h.token)-1] + map[bool]string{true: "b", false: "a"}[strings.HasSuffix(h.token, "a")]
		code := h.only("docs/how-to/tokens.md", "python") + "\nimport sys\nprint(is_token(sys.argv[1]), is_token(sys.argv[2]))"
		out, err := exec.Command(python, "-c", code, h.token, wrong).CombinedOutput()
		if err != nil || string(out) != "True False\n" {
			h.t.Errorf("docs/how-to/tokens.md: is_token of a token and another text: %v\n%s", err, out)
		}
	}
}

// policy compares the sign-in page's policy with the one in docs/frontend.md.
func (h *helper) policy() {
	h.t.Helper()
	resp, err := http.Get(h.base + "/login")
	h.check(err)
	h.check(resp.Body.Close())
	want := strings.Join(strings.Fields(h.only("docs/frontend.md", "text")), " ")
	if got := resp.Header.Get("Content-Security-Policy"); got != want {
		h.t.Errorf("docs/frontend.md has the policy\n%s\nand the host\n%s", want, got)
	}
}

// only returns the text of the one block of a page in a language.
func (h *helper) only(page, language string) string {
	h.t.Helper()
	var text []string
	for _, b := range readHere(h.t, language) {
		if b.page == page {
			text = append(text, b.text)
		}
	}
	if len(text) != 1 {
		h.t.Fatalf("%s has %d blocks in %s, want one", page, len(text), language)
	}
	return text[0]
}

// What docs/configuration.md shows of findings is what check says of such mistakes.
func TestPagesShowFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFile(t, dir, "config.hcl", "route \"home\" {\n  path = \"/\"\n}\nserver {\n  adress = \"127.0.0.1:8080\"\n}\n")
	if err := os.Mkdir(filepath.Join(dir, "conf.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "conf.d/mail.hcl", "mail {\n  transport = \"smpt\"\n}\n")
	cmd := exec.Command("vestibule", "check")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "VESTIBULE_ODATA__PAGINATION__MAX=many")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("check finds nothing")
	}
	places := regexp.MustCompile(`:\d+:\d+:`)
	said := places.ReplaceAllString(string(out), ":")
	h := &helper{t: t}
	for line := range strings.Lines(h.only("docs/configuration.md", "text")) {
		if !strings.Contains(said, places.ReplaceAllString(line, ":")) {
			t.Errorf("docs/configuration.md shows\n%sand check says\n%s", line, out)
		}
	}
}

// filters sends each filter that docs/odata.md gives as an example.
func (h *helper) filters() {
	h.t.Helper()
	_, table, _ := strings.Cut(document(h.t, "odata.md"), "| You want | `$filter` |")
	table, _, _ = strings.Cut(table, "\n\n")
	found := regexp.MustCompile("(?m)^\\| [^|]+ \\| `(.+)` \\|$").FindAllStringSubmatch(table, -1)
	if len(found) < 9 {
		h.t.Errorf("docs/odata.md has %d filters, want more", len(found))
	}
	for _, m := range found {
		resp, err := http.Get(h.base + "/odata/Products?$top=1&$filter=" + url.QueryEscape(m[1]))
		h.check(err)
		h.check(resp.Body.Close())
		if resp.StatusCode != http.StatusOK {
			h.t.Errorf("docs/odata.md: %s is %d", m[1], resp.StatusCode)
		}
	}
}
