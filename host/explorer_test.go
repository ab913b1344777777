package host_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// explored is a site with the real front end and an empty query endpoint behind a guard.
func explored(t *testing.T, guard edm.Guard, change func(*host.Options)) *testSite {
	t.Helper()
	return newSite(t, sqliteStore(t), func(o *host.Options) {
		o.UI.App, o.UI.AppName = ui.FS(), `A "name" </script>`
		o.OData = &host.ODataOptions{Model: &odata.Model{Namespace: "T", Container: "C", Guard: guard}, Source: noRows{}}
		if change != nil {
			change(o)
		}
	})
}

// The logo of the theme comes beside the script of the page, which shows it.
func TestExplorersLogoComesEarly(t *testing.T) {
	const light, dark = `</assets/ci/logo-full.svg>; rel=preload; as=image`, `</assets/ci/logo-full-dark.svg>; rel=preload; as=image`
	for _, c := range []struct{ logos, want []string }{
		{nil, nil},
		{[]string{"logo-full.svg"}, []string{light}},
		{[]string{"logo-full.svg", "logo-full-dark.svg"}, []string{light + `; media="(prefers-color-scheme: light)"`, dark + `; media="(prefers-color-scheme: dark)"`}},
	} {
		dir := t.TempDir()
		for _, logo := range c.logos {
			path := filepath.Join(dir, "assets/ci", logo)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("<svg/>"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		s := explored(t, edm.GuardNone, func(o *host.Options) { o.Server.PublicDir = dir })
		if got := s.browser(t).navigate("GET", "/odata/").Header.Values("Link"); len(got) == 0 || !slices.Equal(got[1:], c.want) {
			t.Errorf("beside the page come %q, want %q", got, c.want)
		}
	}
}

// A browser that goes to /odata/ gets a page behind the guard of the endpoint, and
// everything else the service document.
func TestExplorerIsForBrowsers(t *testing.T) {
	s := explored(t, edm.GuardSettled, nil)
	guest, ada := s.browser(t), s.signedIn(t)
	if a := guest.navigate("GET", "/odata/"); a.StatusCode != 302 || a.Header.Get("Location") != "/login" {
		t.Errorf("a guest: %s to %q", a.Status, a.Header.Get("Location"))
	}
	if a := guest.do("GET", "/odata/", "", ""); a.StatusCode != 401 {
		t.Errorf("a program of a guest: %s", a.Status)
	}
	a := ada.navigate("GET", "/odata/?lang=de")
	page := a.StatusCode == 200 && strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") && strings.Contains(a.body, `<html lang="de"`)
	if !page || a.Header.Get("Cache-Control") != "no-store" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page: %s %v\n%s", a.Status, a.Header, a.body)
	}
	early := strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Link"), "<"), ">; rel=preload; as=fetch; crossorigin")
	if got := ada.do("GET", early, "", ""); got.StatusCode != 200 || early != "/odata/$metadata?$format=json&sap-language=de" {
		t.Errorf("what is loaded beside the page is %q: %s", early, got.Status)
	}
	if !strings.Contains(a.body, `"signed_in":true`) || strings.Count(a.body, "</script>") != 2 {
		t.Errorf("the page's data are not in their place:\n%s", a.body)
	}
	for _, asset := range regexp.MustCompile(`/ui/auth/assets/[^"]+`).FindAllString(a.body, -1) {
		if got := guest.do("GET", asset, "", ""); got.StatusCode != 200 {
			t.Errorf("%s: %s", asset, got.Status)
		}
	}
	for name, got := range map[string]answer{
		"a program":         ada.do("GET", "/odata/", "", ""),
		"a script":          ada.do("GET", "/odata/", "", "", "Sec-Fetch-Mode", "cors", "Accept", "application/json, text/html;q=0.5"),
		"a format asked":    ada.navigate("GET", "/odata/?$format=json"),
		"a document":        ada.navigate("GET", "/odata/$metadata?$format=json"),
		"a form of a site":  ada.navigate("POST", "/odata/"),
		"a set that is not": ada.navigate("GET", "/odata/Nothing"),
	} {
		if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s gets %s %s", name, got.Status, kind)
		}
	}
	open := explored(t, edm.GuardNone, nil)
	if a := open.browser(t).navigate("GET", "/odata/"); a.StatusCode != 200 || !strings.Contains(a.body, `"signed_in":false`) {
		t.Errorf("an open endpoint: %s\n%s", a.Status, a.body)
	}
}

// A host whose screens are its own has the explorer of the built-in app, and one without
// any screens the list of links that the service has for browsers.
func TestExplorerStandsIn(t *testing.T) {
	own := explored(t, edm.GuardNone, func(o *host.Options) { o.UI.App, o.UI.Errors = testApp(), ui.FS() })
	a := own.browser(t).navigate("GET", "/odata/")
	script := regexp.MustCompile(`<script type="module" src="([^"]+)"`).FindStringSubmatch(a.body)
	if script == nil || own.browser(t).do("GET", script[1], "", "").StatusCode != 200 {
		t.Errorf("screens of the host's own: %s\n%s", a.Status, a.body)
	}
	none := explored(t, edm.GuardNone, func(o *host.Options) { o.UI.App = nil })
	if a := none.browser(t).navigate("GET", "/odata/"); a.StatusCode != 200 || strings.Contains(a.body, "<script") {
		t.Errorf("no screens: %s\n%s", a.Status, a.body)
	}
}

// The OpenAPI document names the cookie of the session as it is sent, and tokens.
func TestOpenAPINamesTheCookie(t *testing.T) {
	ada := explored(t, edm.GuardSettled, nil).signedIn(t)
	var doc struct {
		Paths map[string]struct {
			Post struct{ Security []map[string][]string }
		}
		Components struct {
			SecuritySchemes map[string]struct{ Name, Scheme string }
		}
	}
	a := ada.do("GET", "/odata/openapi.json", "", "")
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
		t.Fatalf("%s: %v", a.Status, err)
	}
	ways, cookie := doc.Components.SecuritySchemes, doc.Components.SecuritySchemes["session"].Name
	if asked := doc.Paths["/$batch"].Post.Security; len(asked) != 2 || ways["token"].Scheme != "bearer" {
		t.Errorf("callers come in by %+v, and $batch asks for %v", ways, asked)
	}
	if value := ada.cookie(cookie); cookie == "" || value == "" {
		t.Errorf("the browser has no cookie %q", cookie)
	}
}
