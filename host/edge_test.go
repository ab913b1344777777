package host_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// One application behind two routes believes a header on both: the host takes the names
// of all routes out of every request, in every spelling, and puts in those of the route.
func TestHeaderNamesOfAllRoutesAreTakenOut(t *testing.T) {
	app := mirror(t)
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = []host.Route{
			{Name: "home", Path: "/", Proxy: app, Headers: map[string]string{"Remote-User": "email"}},
			{Name: "dashboard", Path: "/dashboard", Proxy: app, Headers: map[string]string{"X-Who": "id"}},
			{Name: "register", Path: "/register", Proxy: app, Guard: host.GuardNone},
		}
	})
	forged := []string{"Remote-User", "evil@example.com", "Remote_User", "evil@example.com", "REMOTE.USER", "evil@example.com", "x_who", "evil@example.com", "X-Who", "evil@example.com"}
	guest := s.browser(t).get("/register", forged...)
	guest.want(t, 200, "")
	if strings.Contains(guest.body, "evil") {
		t.Errorf("a guest's header reaches the application:\n%s", guest.body)
	}
	b := s.signedIn(t)
	for path, want := range map[string]string{"/": "Remote-User: " + adaEmail, "/dashboard": "X-Who: " + s.user.ID, "/register": ""} {
		a := b.get(path, forged...)
		a.want(t, 200, "")
		if strings.Contains(a.body, "evil") || !strings.Contains(a.body, want) || strings.Contains(a.body, "Remote-User") != strings.HasPrefix(want, "Remote-User") {
			t.Errorf("%s, want %q:\n%s", path, want, a.body)
		}
	}
}

// foldedPaths are spellings of paths at or below /front/admin and /front/tasks to a server
// that ignores case, dots and blanks at the end of segments, or that decodes more than once,
// with what is ambiguous in them.
func foldedPaths() map[string]string {
	return map[string]string{
		"/front/Admin": "letter_case", "/front/ADMIN/users": "letter_case", "/front/aDMIN/": "letter_case",
		"/front/%41dmin": "letter_case", "/front/adm%C4%B1n": "letter_case", "/front/ta%C5%BFks": "letter_case", "/front/tas%E2%84%AAs/1": "letter_case",
		"/front/admin.": "trailing_dot_or_blank", "/front/admin./users": "trailing_dot_or_blank", "/front/admin%20": "trailing_dot_or_blank", "/front/ADMIN%20./users": "trailing_dot_or_blank",
		"/front/admin%09": "trailing_dot_or_blank", "/front/admin%C2%A0": "trailing_dot_or_blank", "/front/x/..%20/admin": "trailing_dot_or_blank",
		"/front/admin%23": "encoded_mark", "/front/admin%23x/y": "encoded_mark", "/front/admin%3Fx=1": "encoded_mark",
		"/front/%2541dmin": "encoded_twice", "/front/%252561dmin": "encoded_twice", "/front/Admin;x=1": "parameter", "/front/x/%2e%2e/Admin": "dot_segment", "/front//Admin": "letter_case",
	}
}

// A path that is another one to a server which folds it is refused where it leads to
// another guard.
func TestFoldedPaths(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		frontAndApp(t)(o)
		o.Routes = append(o.Routes,
			host.Route{Name: "tasks", Path: "/front/tasks", Proxy: o.Routes[len(o.Routes)-1].Proxy},
			host.Route{Name: "page", Path: "/front/Page", Redirect: "/x"})
	})
	for path, want := range foldedPaths() {
		for _, method := range []string{"GET", "POST"} {
			resp, body := s.raw(t, method+" "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\nContent-Length: 0\n\n")
			if resp.StatusCode != 400 || !strings.Contains(body, `"message":"malformed_request","errors":{"path":["`+want+`"]}`) {
				t.Errorf("%s %s: %s %s", method, path, resp.Status, body)
			}
		}
	}
	for path, status := range map[string]int{
		"/front/Administrators": 200, "/front/Admins/x": 200, "/front/x/Admin": 200, "/front/Main-0A1B.js": 200, "/front/a%20b.": 200, "/front/Gr%C3%B6%C3%9Fe": 200, "/front/%23": 200,
		"/front/page": 400, "/front/Page": 401, "/front/PAGE": 400, // the route itself may have capitals
		"/front/admin": 401, "/front/admin/Users": 401, "/app/X": 401, "/Dashboard": 404, "/LOGIN": 404, "/FRONT/admin": 404, "/front./admin": 404, // lead nowhere as they are
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d: %s", path, resp.Status, status, body)
		}
	}
}

// Where the folded path leads to the same guard, or to what the host itself answers,
// nothing is refused.
func TestFoldedPathsOfOneGuard(t *testing.T) {
	app := mirror(t)
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.OData = nothing(t)
		o.Routes = []host.Route{
			{Name: "home", Path: "/", Proxy: app, Guard: host.GuardNone},
			{Name: "dashboard", Path: "/dashboard", Proxy: app},
			{Name: "reports", Path: "/dashboard/reports", Proxy: app},
			{Name: "api", Path: "/dashboard/api", Proxy: app, Tokens: true},
		}
	})
	b := s.signedIn(t)
	for path, status := range map[string]int{
		"/Login": 200, "/Auth/Verify": 200, "/OData/Products": 200, "/Healthz.": 200, "/dashboard/Reports/1": 200, "/dashboard/reports./1": 200,
		"/Dashboard": 400, "/dashboard/API": 400, // a machine token opens this one
	} {
		if a := b.get(path); a.StatusCode != status || status == 200 && !strings.HasPrefix(a.body, "GET "+path) {
			t.Errorf("%s: %s, want %d: %.200s", path, a.Status, status, a.body)
		}
	}
}

// The same holds on a router of the embedding program, whose own routes count by the
// guard of the host that they are behind.
func TestFoldedPathsOnAnotherRouter(t *testing.T) {
	s := newSite(t, sqliteStore(t), frontAndApp(t))
	router := mux.NewRouter().SkipClean(true)
	says := func(w http.ResponseWriter, r *http.Request, _ host.Principal) { fmt.Fprint(w, "own ", r.URL.Path) }
	router.Host("other.example").Handler(http.NotFoundHandler())
	router.PathPrefix("/front/Own").HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	router.Path("/front/{name}/Settings").Handler(s.host.Guard(host.GuardSettled, says))
	router.Path("/front/same").Handler(s.host.Guard(host.GuardNone, says))
	router.PathPrefix("/mine").Handler(s.host.Guard(host.GuardNone, says))
	if err := s.host.Mount(router); err != nil {
		t.Fatal(err)
	}
	router.PathPrefix("/mine/secret").Handler(s.host.Guard(host.GuardSettled, says)) // never reached: /mine comes first
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	s.Server = server
	for path, status := range map[string]int{
		"/front/Admin": 400, "/front/admin%20": 400, "/front/own": 400, "/front/OWN/x": 400, "/front/Own": 418,
		"/front/a/settings": 400, "/front/A/SETTINGS": 400, "/front/a/Settings": 401, "/front/A/Settings/x": 200,
		"/front/Same": 200, "/front/Administrators": 200, "/Mine/x": 404, "/mine/Secret": 200, "/mine/../front/Admin": 400, "/mine/x/..;/front": 200,
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d: %.100s", path, resp.Status, status, body)
		}
	}
}

// A program's own handler behind a guard of the host is not reached by a spelling of the
// path of another guard.
func TestFoldedPathsOfGuardedHandlers(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	router := mux.NewRouter().SkipClean(true)
	says := func(w http.ResponseWriter, r *http.Request, _ host.Principal) { fmt.Fprint(w, "own ", r.URL.Path) }
	router.PathPrefix("/shop/admin").Handler(s.host.Guard(host.GuardSettled, says))
	router.PathPrefix("/shop").Handler(s.host.Guard(host.GuardNone, says))
	if err := s.host.Mount(router); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	s.Server = server
	for path, status := range map[string]int{
		"/shop/Admin": 400, "/shop/x/..;/admin": 400, "/shop/admin": 401, "/shop/Basket": 200, "/shop/a%2Fb": 200,
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d: %.100s", path, resp.Status, status, body)
		}
	}
}

// Routes of the program that are found by more than the path are found by it for every
// reading of the path.
func TestFoldedPathsOfRoutesByQuery(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	router := mux.NewRouter().SkipClean(true)
	says := func(w http.ResponseWriter, r *http.Request, _ host.Principal) { fmt.Fprint(w, "own ", r.URL.Path) }
	router.Path("/shop/admin").Queries("tab", "{tab}").Handler(s.host.Guard(host.GuardSettled, says))
	router.PathPrefix("/shop").Handler(s.host.Guard(host.GuardNone, says))
	if err := s.host.Mount(router); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	s.Server = server
	for path, status := range map[string]int{
		"/shop/admin?tab=1": 401, "/shop/Admin?tab=1": 400, "/shop/x/..;/admin?tab=1": 400, "/shop/admin": 200, "/shop/Admin": 200, "/shop/Basket?tab=1": 200,
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d: %.100s", path, resp.Status, status, body)
		}
	}
}

// A program may cut the path between its router and the guard, or before its router.
func TestFoldedPathsBehindStripPrefix(t *testing.T) {
	for cut, wrap := range map[string]func(inner bool, h http.Handler) http.Handler{
		"behind the router": func(inner bool, h http.Handler) http.Handler {
			if !inner {
				return h
			}
			return http.StripPrefix("/shop", h)
		},
		"before the router": func(inner bool, h http.Handler) http.Handler {
			if inner {
				return h
			}
			return http.StripPrefix("/all", h)
		},
	} {
		s := newSite(t, sqliteStore(t), nil)
		says := func(w http.ResponseWriter, r *http.Request, _ host.Principal) { fmt.Fprint(w, "own ", r.URL.Path) }
		router := mux.NewRouter().SkipClean(true)
		router.PathPrefix("/shop/admin").Handler(wrap(true, s.host.Guard(host.GuardSettled, says)))
		router.PathPrefix("/shop").Handler(wrap(true, s.host.Guard(host.GuardNone, says)))
		if err := s.host.Mount(router); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(wrap(false, router))
		t.Cleanup(server.Close)
		s.Server = server
		prefix := map[bool]string{true: "/all"}[cut == "before the router"]
		for path, status := range map[string]int{
			"/shop/admin": 401, "/shop/Admin": 400, "/shop/x/..;/admin": 400, "/shop/x/%2e%2e/admin": 400, "/shop/Basket": 200, "/shop/a%20b.": 200,
		} {
			resp, body := s.raw(t, "GET "+prefix+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
			if resp.StatusCode != status {
				t.Errorf("cut %s, %s: %s, want %d: %.100s", cut, path, resp.Status, status, body)
			}
		}
	}
}

// What a held step opens is not left by a spelling that a server folds.
func TestHeldStepAndFoldedPaths(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	cookie := "\nCookie: " + sessionName + "=" + b.cookie(sessionName)
	for path, open := range map[string]bool{
		"/app/terms/..%20/orders": false, "/app/terms/.%20./orders": true, "/app/terms/x/..%20/..%20/orders": false, "/app/terms/..%20%2Forders": false, "/app/terms/%252e%252e%2520/orders": false,
		"/app/terms%23/../orders": false, "/app/Terms": false, "/app/terms.": false, "/app/terms%20": false,
		"/app/terms/Page.": true, "/app/terms/a%23b": true, "/app/terms/A%20": true,
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close"+cookie+"\n\n")
		if reached := strings.HasPrefix(body, "GET "); reached != open {
			t.Errorf("%s reached the application: %v: %s %.80s", path, reached, resp.Status, body)
		}
	}
}

// What a held step opens may have dots and blanks at the end of segments itself.
func TestHeldStepOfAPathWithDots(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	g.answers(pluginsdk.Redirect("/app/Acme Inc./terms").Hold("/app/v1."), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for path, open := range map[string]bool{
		"/app/Acme%20Inc./terms": true, "/app/Acme%20Inc./terms/de.": true, "/app/v1.": true, "/app/v1./x.css": true,
		"/app/v1": false, "/app/V1./x": false, "/app/v1./../orders": false, "/app/v1./..%20/orders": false, "/app/acme%20inc./terms": false,
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\nCookie: "+sessionName+"="+b.cookie(sessionName)+"\n\n")
		if reached := strings.HasPrefix(body, "GET "); reached != open {
			t.Errorf("%s reached the application: %v: %s %.80s", path, reached, resp.Status, body)
		}
	}
}

// The path of a route may have capitals, dots and blanks at the end of segments itself.
func TestFoldedPathsOfARouteWithDots(t *testing.T) {
	app := mirror(t)
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = []host.Route{
			{Name: "home", Path: "/", Proxy: app, Guard: host.GuardNone},
			{Name: "inc", Path: "/Acme Inc.", Proxy: app},
			{Name: "inner", Path: "/Acme Inc./Open", Proxy: app, Guard: host.GuardNone},
		}
	})
	for path, status := range map[string]int{
		"/Acme%20Inc.": 401, "/Acme%20Inc./x": 401, "/Acme%20Inc./X.": 401, "/Acme%20Inc./Open/x": 200,
		"/acme%20inc./x": 400, "/Acme%20Inc/x": 400, "/ACME%20INC": 400, "/Acme%20Inc./open": 400, "/Acme%20Incorporated": 200,
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d: %.200s", path, resp.Status, status, body)
		}
	}
}

// Nobody is sent to a page that the host refuses.
func TestIntendedPagesOfThePolicy(t *testing.T) {
	s := newSite(t, sqliteStore(t), frontAndApp(t))
	settled := s.signedIn(t)
	if got := s.signedIn(t).get("/login?redirec%74=%2Ffront%2FAdmin").Header.Get("Location"); got != "/dashboard" {
		t.Errorf("with an encoded name the query leads to %q", got)
	}
	for page, want := range map[string]string{
		"/front/Admin": "/dashboard", "/front/admin%20?a=1": "/dashboard", "/front/..;/app": "/dashboard",
		"/front/admin": "/front/admin", "/front/Main?Q=Admin#X": "/front/Main?Q=Admin#X", "/Elsewhere": "/Elsewhere",
	} {
		query := "/login?lang=de&redirect=" + url.QueryEscape(page)
		s.clock.Advance(11 * time.Second) // or the third time to one target is a circle
		if got := settled.get(query).Header.Get("Location"); got != want {
			t.Errorf("%s leads to %q when signed in, want %q", page, got, want)
		}
		b := s.browser(t)
		b.get(query).want(t, 200, "")
		if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != want {
			t.Errorf("%s leads to %q after the sign-in, want %q", page, got, want)
		}
	}
}

// Forward auth refuses what a route would, and any spelling that changes more of the
// first segment than the case of its letters.
func TestVerifyFoldsPaths(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), frontAndApp(t))
	guest := s.visitor(t)
	for path := range foldedPaths() {
		if strings.Contains(path, "ta") {
			continue // no route of this site
		}
		if a := guest.verify("?guard=none", path); a.StatusCode != 400 {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
	for path, status := range map[string]int{
		"/other./x": 400, "/other%20/x": 400, "/other%23/x": 400, "/other%3fx/y": 400, "/other/..%20/x": 400, "/other%252fx": 400,
		"/Other/X": 200, "/other/X.": 200, "/other/a%20b": 200, "/.well-known/x": 200, "/Gr%C3%B6%C3%9Fe/x": 200, "/front/Administrators": 200,
	} {
		if a := guest.verify("?guard=none", path); a.StatusCode != status {
			t.Errorf("%s: %s, want %d: %s", path, a.Status, status, a.body)
		}
	}
}

// Each sign of a WebSocket is enough for forward auth to judge a request by its origin.
func TestVerifyJudgesWebSocketsByOrigin(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), nil)
	ada := s.visitor(t).signIn(false)
	for name, sign := range map[string][]string{
		"ws": {"X-Forwarded-Proto", "ws"}, "WSS": {"X-Forwarded-Proto", "WSS"}, "key": {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}, "version": {"Sec-WebSocket-Version", "13"},
		"protocol": {"Sec-WebSocket-Protocol", "x"}, "upgrade alone": {"Upgrade", "WebSocket"}, "HEAD": {"X-Forwarded-Proto", "wss", "X-Forwarded-Method", "HEAD"},
		"another spelling": {"Sec_WebSocket_Key", "dGhlIHNhbXBsZSBub25jZQ=="},
	} {
		for origin, status := range map[string]int{"https://evil.example": 403, "null": 403, "https://app.example.com": 200, "": 200} {
			a := ada.verify("", "/app/socket", append([]string{"Origin", origin}, sign...)...)
			if a.StatusCode != status || status != 200 && identityOf(a)["X-Vestibule-User"] != "missing" {
				t.Errorf("%s, origin %q: %s, want %d", name, origin, a.Status, status)
			}
			if a := ada.verify("?guard=none", "/app/socket", append([]string{"Origin", origin}, sign...)...); a.StatusCode != 200 || (identityOf(a)["X-Vestibule-User"] != "") != (status == 200) {
				t.Errorf("%s, guard none, origin %q: %s with %v", name, origin, a.Status, identityOf(a))
			}
		}
	}
	if a := ada.verify("", "/app/page", "Origin", "https://evil.example"); a.StatusCode != 200 {
		t.Errorf("a GET that is no WebSocket: %s", a.Status)
	}
}

// A proxy overwrites the headers that it copies, by their own names: the answer has those
// of all routes, and another spelling is refused.
func TestVerifyTakesHeadersOfAllRoutesOut(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes, host.Route{Name: "app", Path: "/app", Proxy: mirror(t), Headers: map[string]string{"Remote-User": "email", "X-Tenant": "id"}})
	})
	ada := s.visitor(t).signIn(false)
	a := ada.verify("", "/other", "Remote-User", "admin@example.com", "X-Vestibule-User", "1", "X-Vestibule-Partner", "x")
	a.want(t, 200, "")
	for _, name := range []string{"Remote-User", "X-Tenant"} {
		if values := a.Header.Values(name); !slices.Equal(values, []string{""}) {
			t.Errorf("%s is %q, want it there and empty", name, values)
		}
	}
	for _, name := range []string{
		"X_Vestibule_User", "X.Vestibule.User", "X-Vestibule_Email", "XVestibuleName", "X-Vestibule-User-", "X-Vestibule_Assertion", "X-Vesti-Bule-Step", "X_Vestibule_Partner",
		"Remote_User", "remote.user", "RemoteUser", "X_Tenant",
	} {
		for _, guard := range []string{"", "?guard=none"} {
			a := ada.verify(guard, "/other", name, "1")
			a.want(t, 400, "header_alias")
			if identityOf(a)["X-Vestibule-User"] != "missing" {
				t.Errorf("%s: an identity with a refusal", name)
			}
		}
	}
}

// A service worker of one application does not get the sign-in, or another application,
// below it.
func TestServiceWorkersStayOnTheirRoute(t *testing.T) {
	app := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, scope := range r.URL.Query()["scope"] {
			w.Header().Add("Service-Worker-Allowed", scope)
		}
	}))
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = []host.Route{
			{Name: "home", Path: "/", Proxy: app, Guard: host.GuardNone},
			{Name: "dashboard", Path: "/dashboard", Redirect: "/"},
			{Name: "app", Path: "/app", Proxy: app, Guard: host.GuardNone},
			{Name: "stripped", Path: "/strip", Proxy: app, Guard: host.GuardNone, StripPrefix: true},
		}
	})
	b := s.browser(t)
	for _, tt := range []struct {
		path, scope string
		want        []string
	}{
		{"/app/static/sw.js", "/", []string{"/app/"}},
		{"/app/static/sw.js", "/app/", []string{"/app/"}},
		{"/app/static/sw.js", "/app/inner/", []string{"/app/inner/"}},
		{"/app/sw.js", "/app", []string{"/app/"}}, // would hold for /application, too
		{"/app/sw.js", "/app/../", []string{"/app/"}},
		{"/app/sw.js", "/app/%2e%2e/", []string{"/app/"}},
		{"/app/sw.js", "/app/\t../", []string{"/app/"}},
		{"/app/sw.js", `/app/\..`, []string{"/app/"}},
		{"/app/sw.js", "../", []string{"/app/"}},
		{"/app/sw.js", "https://app.example.com/", []string{"/app/"}},
		{"/app/sw.js", "/app/x&scope=/", []string{"/app/x"}},
		{"/strip/static/sw.js", "/", []string{"/strip/"}},
		{"/strip/static/sw.js", "/inner/", []string{"/strip/inner/"}},
		{"/static/sw.js", "/", nil},
		{"/app/sw.js", "", nil},
	} {
		query := "?"
		for i, scope := range strings.Split(tt.scope, "&scope=") {
			if tt.scope != "" {
				query += map[bool]string{true: "&"}[i > 0] + "scope=" + url.QueryEscape(scope)
			}
		}
		a := b.get(tt.path + query)
		if got := a.Header.Values("Service-Worker-Allowed"); a.StatusCode != 200 || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q becomes %q, want %q", tt.path, tt.scope, got, tt.want)
		}
	}
}

// A script at the path of the route itself lies beside the route, so that a browser would
// let its worker control the whole site.
func TestServiceWorkerAtTheRouteItself(t *testing.T) {
	app := upstream(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = []host.Route{
			{Name: "app", Path: "/app", Proxy: app, Guard: host.GuardNone},
			{Name: "inner", Path: "/strip/inner", Proxy: app, Guard: host.GuardNone, StripPrefix: true},
		}
	})
	b := s.browser(t)
	for path, want := range map[string]string{
		"/app": "/app/", "/app?sw.js": "/app/", "/%61pp": "/app/", "/strip/inner": "/strip/inner/", "/app/": "", "/app/sw.js": "",
	} {
		a := b.get(path, "Service-Worker", "script")
		if got := a.Header.Get("Service-Worker-Allowed"); a.StatusCode != 200 || got != want {
			t.Errorf("%s: %s, the scope %q, want %q", path, a.Status, got, want)
		}
		if got := b.get(path).Header.Values("Service-Worker-Allowed"); got != nil {
			t.Errorf("%s, no worker: %q", path, got)
		}
	}
}

// An embedding program learns at once that nobody can be sent to what it names.
func TestRedirectOriginsAreOrigins(t *testing.T) {
	db := sqliteStore(t)
	for origin, ok := range map[string]bool{
		"https://crm.example.com": true, "http://127.0.0.1:3000": true,
		"javascript:": false, "crm.example.com": false, "https://": false, "https://a.example/x": false, "https://a.example/": false, "ftp://a.example": false, "": false,
	} {
		_, err := host.New(host.Options{Store: db, Auth: host.AuthOptions{RedirectOrigins: []string{origin}}})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "is no origin: write scheme and host") {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

// HTTP/2 carries a method that is no token. It gets no further than the host.
func TestMethodsAreTokens(t *testing.T) {
	s := withProxies(t, mirror(t), nil)
	server := httptest.NewUnstartedServer(s.Config.Handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	for method, want := range map[string]string{"G\u00e9T": "400", "GET /x": "400", "G\tT": "400", "PURGE": "200", "M-SEARCH": "200"} {
		if got := h2Status(t, server, method, "/open/x"); got != want {
			t.Errorf("%q: %s, want %s", method, got, want)
		}
	}
}

// h2Status sends a request by hand, since no client sends such methods.
func h2Status(t *testing.T, server *httptest.Server, method, path string) (status string) {
	t.Helper()
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", server.Listener.Addr().String()}, {":path", path}} {
		if err := encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
			return headers.PseudoValue("status")
		}
		if reset, ok := frame.(*http2.RSTStreamFrame); ok {
			return reset.ErrCode.String()
		}
	}
}
