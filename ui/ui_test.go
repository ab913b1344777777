package ui_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(ui.FS(), name)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return string(data)
}

// assets are the files that the page asks for, as paths in dist.
func assets(t *testing.T) []string {
	t.Helper()
	return assetsOf(t, "index.html")
}

// accountAsset is the module with the account screen, which the app loads on demand.
func accountAsset(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`/ui/auth/(assets/account-[A-Z0-9]{8}\.js)`)
	for _, name := range assets(t) {
		if m := found.FindStringSubmatch(read(t, name)); m != nil {
			return m[1]
		}
	}
	t.Fatal("the app loads no account screen")
	return ""
}

// explorerParts returns the files that the explorer loads on demand.
func explorerParts(t *testing.T) []string {
	t.Helper()
	var parts []string
	for _, name := range assetsOf(t, "explorer.html") {
		for _, m := range regexp.MustCompile(`"/ui/auth/(assets/[a-z]+-[A-Z0-9]{8}\.(?:js|css))"`).FindAllStringSubmatch(read(t, name), -1) {
			parts = append(parts, m[1])
		}
	}
	if len(parts) == 0 {
		t.Fatal("the explorer loads nothing on demand")
	}
	return parts
}

// allAssets returns those of the page, of the error pages, of the explorer, and of
// what is loaded on demand.
func allAssets(t *testing.T) []string {
	t.Helper()
	return slices.Concat(assets(t), []string{accountAsset(t)}, assetsOf(t, "error.html"), assetsOf(t, "explorer.html"), explorerParts(t))
}

func assetsOf(t *testing.T, page string) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(read(t, page), -1) {
		if m[1] == "data:," || strings.Contains(m[1], "{{") {
			continue
		}
		name, ok := strings.CutPrefix(m[1], "/ui/auth/")
		if !ok {
			t.Errorf("the page asks for %s, which is not under /ui/auth/", m[1])
			continue
		}
		names = append(names, name)
	}
	return names
}

func TestDistIsComplete(t *testing.T) {
	want := append(allAssets(t), "index.html", "error.html", "explorer.html", "errors.json", "manifest.json", "i18n/messagebundle.properties",
		"i18n/messagebundle_en.properties", "i18n/messagebundle_de.properties")
	if err := fstest.TestFS(ui.FS(), want...); err != nil {
		t.Error(err)
	}
	for _, name := range allAssets(t) {
		if !regexp.MustCompile(`^assets/[a-z]+-[A-Z0-9]{8}\.(js|css)$`).MatchString(name) {
			t.Errorf("%s has no content hash in its name", name)
		}
	}
}

func TestNoOrphansInDist(t *testing.T) {
	used := map[string]bool{}
	for _, name := range allAssets(t) {
		used[name], used[name+".br"], used[name+".gz"] = true, true, true
	}
	names, err := fs.Glob(ui.FS(), "assets/*")
	if err != nil || len(names) != len(used) {
		t.Errorf("assets has %d files, the page accounts for %d (%v)", len(names), len(used), err)
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("%s: nothing asks for it", name)
		}
	}
}

func TestPrecompressedMatches(t *testing.T) {
	for _, name := range allAssets(t) {
		f, err := ui.FS().Open(name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			t.Fatalf("%s.gz: %v", name, err)
		}
		got, err := io.ReadAll(unpacked)
		if err != nil || string(got) != read(t, name) {
			t.Errorf("%s.gz is not %s compressed (%v)", name, name, err)
		}
		raw, br := len(read(t, name)), len(read(t, name+".br"))
		if br == 0 || br >= raw {
			t.Errorf("%s.br has %d bytes, %s %d", name, br, name, raw)
		}
	}
}

func TestManifest(t *testing.T) {
	var got map[string]string
	if err := json.Unmarshal([]byte(read(t, "manifest.json")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"name": "auth", "version": pluginsdk.Version, "core": host.CoreVersion(), "entry": "index.html"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The host fills the page by these marks; they occur once each.
func TestPageMarks(t *testing.T) {
	page := read(t, "index.html")
	for _, mark := range []string{
		`<script type="application/json" id="bootstrap">{}</script>`, `<html lang="en" dir="ltr">`, "<title>", `<noscript>`,
	} {
		if n := strings.Count(page, mark); n != 1 {
			t.Errorf("%s occurs %d times", mark, n)
		}
	}
	if strings.Contains(page, "%") {
		t.Error("a placeholder of the build is left in the page")
	}
}

// What the policy of the host forbids is not in the page or the scripts.
func TestNothingInline(t *testing.T) {
	page := read(t, "index.html") + read(t, "error.html")
	for _, m := range regexp.MustCompile(`<script([^>]*)>`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(m[1], "src=") && !strings.Contains(m[1], "application/json") {
			t.Errorf("inline script: %s", m[0])
		}
	}
	// The style of the error pages is allowed by its hash.
	if m := regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|https?:`).FindString(strings.Replace(page, "<style>", "", 1)); m != "" {
		t.Errorf("the page has %q", m)
	}
	if m := regexp.MustCompile(`%[a-z]+%`).FindString(read(t, "error.html")); m != "" {
		t.Errorf("the placeholder %s of the build is left in the error page", m)
	}
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|dev-events|sourceMappingURL`)
	for _, name := range allAssets(t) {
		if path.Ext(name) != ".js" {
			continue
		}
		if m := forbidden.FindString(read(t, name)); m != "" {
			t.Errorf("%s has %s", name, m)
		}
	}
}

// The budget of the explorer: 24 KB of script and style, compressed.
func TestExplorerSize(t *testing.T) {
	total := 0
	for _, name := range assetsOf(t, "explorer.html") {
		total += len(read(t, name+".gz"))
	}
	t.Logf("script and style: %d bytes", total)
	if total > 24*1024 {
		t.Errorf("over budget: %d bytes", total)
	}
}

// The budget of the first screen: 24 KB compressed, 4 requests with the logo. The module of the account screen is not
// loaded with it.
func TestBudget(t *testing.T) {
	total := len(read(t, "index.html")) // even uncompressed
	for _, name := range assets(t) {
		size := len(read(t, name+".gz"))
		t.Logf("%-28s %6d bytes, %6d br, %6d gz", name, len(read(t, name)), len(read(t, name+".br")), size)
		total += size
	}
	requests := 1 + len(assets(t)) + 1
	t.Logf("first screen: %d bytes at most, %d requests with the logo", total, requests)
	if total > 24*1024 || requests > 4 {
		t.Errorf("over budget: %d bytes, %d requests", total, requests)
	}
}
