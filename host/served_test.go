package host

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/gorilla/mux"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// The host finds the same row for a path as the router, with the same variables.
func TestRowsAreFoundAsTheRouterFindsThem(t *testing.T) {
	var rows []row
	for _, one := range []struct {
		path string
		find finding
	}{
		{"/auth/intents/{kind}", at},
		{"/auth/account", at},
		{"/auth/{a}/x{b}", at},
		{"/only/{digits:[0-9]+}", at},
		{"/ui/", below},
		{"/files/{name}/", below},
		{"/no/{name", at},
		{"no-slash", at},
		{"/dash.board", at},
		{"/dash.board/", below},
		{"/ü", at},
		{"/", below},
	} {
		answer := func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "%s %q %q %q %q %q", one.path, r.PathValue("kind"), r.PathValue("a"), r.PathValue("b"), r.PathValue("digits"), r.PathValue("name"))
		}
		rows = append(rows, row{web.Route{Name: one.path}, one.path, one.find, http.HandlerFunc(answer), guardOwn, false})
	}
	public, log := &url.URL{Scheme: "https", Host: "app.example.com"}, hclog.NewNullLogger()
	m := web.NewMiddleware(web.NewSite(web.SiteOptions{PublicURL: public}), nil, log, telemetry.New(), web.NewLimits(web.LimitOptions{}, log, func(string) {}), nil)
	router := mux.NewRouter().SkipClean(true)
	none := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("none")) })
	router.NotFoundHandler = none
	own := register(router, rows[:len(rows)-1], m, func(next http.Handler) http.Handler { return next }).handler(none)
	found := map[string]bool{}
	for _, path := range []string{
		"/auth/intents/org-setup", "/auth/intents/", "/auth/intents/a/b", "/auth/account", "/auth/account/", "/auth/accounts", "/auth/y/xz", "/auth/y/x",
		"/only/12", "/only/a1", "/ui", "/ui/", "/ui/a/b", "/files/a/", "/files/a/b", "/files/a", "/no/{name", "/dash.board", "/dashxboard", "/dash.board/x",
		"/ü", "/%C3%BC", "/", "//", "/auth/intents/a%2Fb", "/dash.board%0A", "*",
	} {
		get := func(h http.Handler) string {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			if u, err := url.ParseRequestURI(path); err == nil {
				r.URL, r.RequestURI = u, path
			} else {
				r.URL.Path = path
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Body.String()
		}
		want := get(router)
		if got := get(own); got != want {
			t.Errorf("%s: found %s, the router %s", path, got, want)
		}
		found[want] = true
	}
	if len(found) < 10 {
		t.Errorf("the paths found %q alone", slices.Sorted(maps.Keys(found)))
	}
}
