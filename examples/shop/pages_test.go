package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// page is what a test wants to know of a page.
type page struct {
	links  []string       // href, src, action: as written
	langs  map[string]int // texts by language
	faults []string
}

func parse(t *testing.T, file string) page {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	root, err := html.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	p := page{langs: map[string]int{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "style" || n.Data == "script" && n.FirstChild != nil {
			p.faults = append(p.faults, "inline "+n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				p.faults = append(p.faults, "attribute "+a.Key)
			case a.Key == "href" || a.Key == "src" || a.Key == "action":
				p.links = append(p.links, a.Val)
			case a.Key == "lang" && n.Data != "html":
				p.langs[a.Val]++
			}
		}
	}
	return p
}

// The host sends a policy under which nothing inline runs and nothing comes from
// elsewhere; what breaks it would fail without a word on the page.
func TestPagesFitTheContentPolicy(t *testing.T) {
	files, err := filepath.Glob("site/*.html")
	if err != nil || len(files) != 7 {
		t.Fatalf("%v (%v)", files, err)
	}
	// What the host answers itself, and the routes of config.hcl.
	known := []string{"/", "/login", "/logout", "/dashboard", "/terms", "/privacy", "/cookies", "/ui/steps/steps.css", "/ui/steps/steps.js"}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			p := parse(t, file)
			for _, fault := range p.faults {
				t.Error(fault)
			}
			for _, link := range p.links {
				if slices.Contains(known, link) || strings.HasPrefix(link, "/odata/") {
					continue
				}
				if _, err := os.Stat(filepath.Join("public", filepath.FromSlash(link))); err != nil || !strings.HasPrefix(link, "/") {
					t.Errorf("link to %q: %v", link, err)
				}
			}
			if p.langs["en"] == 0 || p.langs["en"] != p.langs["de"] || len(p.langs) != 2 {
				t.Errorf("texts by language: %v", p.langs)
			}
		})
	}
	if !slices.Contains(parse(t, "site/dashboard.html").links, "/logout") {
		t.Error("the dashboard has no way out")
	}
	if _, err := os.Stat("public/assets/ci/logo-full.svg"); err != nil {
		t.Errorf("the sign-in page has no logo: %v", err)
	}
}

// A form of a step sends nothing before its module has loaded: a file takes no POST, and what was typed would be lost.
func TestStepsAreSentByTheirModuleAlone(t *testing.T) {
	steps := 0
	for _, pattern := range []string{"site/*.html", "../*/*.html", "../../docs/how-to/step.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v (%v)", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "/ui/steps/") {
				continue
			}
			steps++
			for _, form := range regexp.MustCompile(`<form[^>]*>`).FindAllString(string(text), -1) {
				if !strings.Contains(form, `method="dialog"`) && !strings.Contains(form, `action="/logout"`) {
					t.Errorf("%s: %s", file, form)
				}
			}
			if !strings.Contains(string(text), "<noscript>") {
				t.Errorf("%s says nothing without scripts", file)
			}
		}
	}
	if steps != 5 {
		t.Errorf("found %d pages of steps", steps)
	}
}
