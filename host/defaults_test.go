package host_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// A route and a query endpoint without a guard are for settled people.
func TestDefaultGuardIsSettled(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) {
		opts.Dispenser, opts.OrgSetup = o, o
		opts.Routes = append(opts.Routes, host.Route{Name: "plain", Path: "/plain", Redirect: "/in"})
		opts.OData = &host.ODataOptions{Model: &odata.Model{Namespace: "T", Container: "C"}, Source: noRows{}}
	})
	half := s.signedIn(t)
	if got := half.get("/plain").Header.Get("Location"); got != "/login" {
		t.Errorf("an unsettled person is led to %q", got)
	}
	half.do("GET", "/plain", "", "").want(t, 403, "unsettled")

	if a := half.get("/odata/?a=1"); a.StatusCode != 302 || a.Header.Get("Location") != "/login?redirect=%2Fodata%2F%3Fa%3D1" {
		t.Errorf("OData in a browser: %s to %q", a.Status, a.Header.Get("Location"))
	}
	for _, header := range [][]string{nil, {"Sec-Fetch-Mode", "cors", "Accept", "text/html,*/*"}} {
		a := half.do("GET", "/odata/", "", "", header...)
		var body struct {
			Error struct {
				Code       string
				InnerError struct{ Next envelope }
			}
		}
		if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.StatusCode != 403 || body.Error.Code != "unsettled" || body.Error.InnerError.Next.Kind != "org_setup" {
			t.Errorf("OData: %s %s, %v", a.Status, a.body, err)
		}
	}
	if a := s.browser(t).get("/odata/"); a.StatusCode != 401 {
		t.Errorf("OData, a guest: %s", a.Status)
	}
	half.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 200, "")
	half.do("GET", "/odata/", "", "").want(t, 200, "")
}

type noRows struct{ odata.Source }

func TestIsNavigation(t *testing.T) {
	for _, test := range []struct {
		header []string
		want   bool
	}{
		{nil, false},
		{[]string{"Accept", "*/*"}, false},
		{[]string{"Accept", "application/json"}, false},
		{[]string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}, true},
		{[]string{"Accept", "application/json, TEXT/HTML"}, true},
		{[]string{"Accept", "text/html;q=0, */*"}, false},
		{[]string{"Accept", "text/html;q=0.1, application/json"}, true},
		{[]string{"Sec-Fetch-Mode", "navigate", "Accept", "application/json"}, true},
		{[]string{"Sec-Fetch-Mode", "cors", "Accept", "text/html"}, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for i := 0; i+1 < len(test.header); i += 2 {
			r.Header.Set(test.header[i], test.header[i+1])
		}
		if got := web.IsNavigation(r); got != test.want {
			t.Errorf("%v: %v", test.header, got)
		}
	}
}

// The language that the page behind the sign-in was asked for in counts there as well,
// and without a name people read the sender's, or that of the site.
func TestScreensSpeakAsThePageWould(t *testing.T) {
	for _, test := range []struct{ name, from, site, want string }{
		{"the sender", "Acme <a@example.com>", "https://shop.example.com", "Acme"},
		{"a sender without a name", "a@example.com", "https://shop.example.com", "shop.example.com"},
		{"no sender", "", "https://shop.example.com:8443", "shop.example.com"},
		{"nothing", "", "", "Vestibule"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), func(o *host.Options) {
				o.UI.AppName, o.Mail.From = "", test.from
				if test.site != "" {
					o.Server.PublicURL, _ = url.Parse(test.site)
				}
			})
			b := s.browser(t)
			b.navigate("GET", "/dashboard?lang=de")
			var data struct {
				AppName string `json:"app_name"`
				Locale  string `json:"locale"`
			}
			if err := json.Unmarshal([]byte(b.get("/auth/bootstrap").body), &data); err != nil {
				t.Fatal(err)
			}
			if data.AppName != test.want {
				t.Errorf("the name is %q, want %q", data.AppName, test.want)
			}
			if test.site == "" && data.Locale != "de" { // over http no other site's cookie is kept
				t.Errorf("the language is %q after a page in German was asked for", data.Locale)
			}
		})
	}
}
