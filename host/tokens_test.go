package host_test

import (
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"golang.org/x/net/websocket"
)

const bobEmail = "bob@example.com"

// An order belongs to somebody, and nobody else sees it.
type order struct {
	ID    int64
	Owner string
}

// withOrders lets a site serve 25 orders of Ada's, 3 of Bob's, and an application
// behind the routes /app, which takes tokens, /reports, which does as well, /open,
// which does for everybody, and /plain, which takes none.
func withOrders(t *testing.T, o *host.Options) {
	t.Helper()
	var rows []order
	for i := range 28 {
		owner := adaEmail
		if i%9 == 4 {
			owner = bobEmail
		}
		rows = append(rows, order{int64(i + 1), owner})
	}
	source, err := memory.New(memory.Config{Guard: edm.GuardSettled, Sets: []memory.Set{
		{Name: "Orders", Rows: rows, Filter: "Owner eq @user_email"},
		{Name: "News", Rows: []order{{1, "all"}}, Guard: "none"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.OData = &host.ODataOptions{Model: source.Model(), Source: source, Options: odata.Options{Limits: odata.Limits{PageSize: 10}}}
	app := mirror(t)
	o.Routes = append(o.Routes,
		host.Route{Name: "app", Path: "/app", Proxy: app, Tokens: true},
		host.Route{Name: "reports", Path: "/reports", Proxy: app, Tokens: true, Guard: host.GuardSession},
		host.Route{Name: "open", Path: "/open", Proxy: app, Tokens: true, Guard: host.GuardNone},
		host.Route{Name: "plain", Path: "/plain", Proxy: app},
	)
}

// tokenSite is a site with orders, and Bob beside Ada.
func tokenSite(t *testing.T, change func(*host.Options)) *testSite {
	t.Helper()
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		withOrders(t, o)
		if change != nil {
			change(o)
		}
	})
	if _, err := s.db.AddUser(t.Context(), bobEmail, "Bob", weakHash()); err != nil {
		t.Fatal(err)
	}
	return s
}

// token makes a token of somebody's.
func (s *testSite) token(t testing.TB, email string, in host.TokenRequest) (host.Token, string) {
	t.Helper()
	if in.Name == "" {
		in.Name = "excel"
	}
	token, text, err := s.admin.AddToken(t.Context(), email, in)
	if err != nil {
		t.Fatal(err)
	}
	return token, text
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

func basic(user, password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
}

// program asks as a program does, without a cookie, for JSON.
func (s *testSite) program(t *testing.T, method, path string, header ...string) answer {
	t.Helper()
	return s.browser(t).do(method, path, "", "", append([]string{"Accept", "application/json"}, header...)...)
}

// No line of the log holds a machine token, wherever in a request it is.
func TestNoMachineTokenInAnyLogLine(t *testing.T) {
	traced := &logs{}
	s := tokenSite(t, func(o *host.Options) {
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: traced, Level: hclog.Trace})
		o.OData.Options.Timeout = time.Nanosecond // so that what was asked for is logged
	})
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	for _, path := range []string{
		"/odata/" + text, "/odata/Orders('" + text + "')", "/odata/Orders?$filter=Owner%20eq%20'" + text + "'", "/odata/Orders/?" + text + "=1",
		"/odata/%76" + text[1:], "/%2576" + text[1:], "/app/" + text, "/plain/x%2F" + text, "/auth/tokens/" + text, "/login?redirect=/" + text, "/" + text,
		"/" + text + "/%00", "/" + text + "//..", "/auth/intents/" + text,
	} {
		for _, header := range [][]string{{"Accept", "application/json", "Referer", s.URL + path}, append(bearer(text), "Accept", "text/html")} {
			b.do("GET", path, "", "", header...)
			b.do("POST", path, "application/json", `{"x":"`+text+`"}`, header...)
		}
	}
	log := traced.String()
	if !strings.Contains(log, "vst_***") || !strings.Contains(log, "cause=") {
		t.Fatalf("the log lacks lines:\n%s", log)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, text[1:40]) {
			t.Errorf("a token is in the log: %s", line)
		}
	}
}

// What a request may look like that a token opens the query endpoint with, and what it
// may not.
func TestMachineTokenOpensTheQueryEndpoint(t *testing.T) {
	s := tokenSite(t, nil)
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	_, bobs := s.token(t, bobEmail, host.TokenRequest{})
	_, routed := s.token(t, adaEmail, host.TokenRequest{Route: "app"})
	changed := []byte(text)
	changed[20] ^= 1
	orders := "/odata/Orders/$count"
	for name, test := range map[string]struct {
		path   string
		header []string
		status int
		body   string
	}{
		"bearer":                       {orders, bearer(text), 200, "25"},
		"bearer of another person":     {orders, bearer(bobs), 200, "3"},
		"small letters":                {orders, []string{"Authorization", "bearer " + text}, 200, "25"},
		"more blanks":                  {orders, []string{"Authorization", "BEARER \t " + text}, 200, "25"},
		"basic, no name":               {orders, basic("", text), 200, "25"},
		"basic, any name":              {orders, basic("ada", text), 200, "25"},
		"basic, another person's name": {orders, basic(bobEmail, text), 200, "25"},
		"basic, name beyond ASCII":     {orders, basic("Jürgen", text), 200, "25"},
		"no token":                     {orders, nil, 401, "unauthenticated"},
		"empty bearer":                 {orders, []string{"Authorization", "Bearer "}, 401, "unauthenticated"},
		"in the query":                 {orders + "?access_token=" + text, nil, 401, "unauthenticated"},
		"in a header of its own":       {orders, []string{"X-Api-Key", text}, 401, "unauthenticated"},
		"as the name":                  {orders, basic(text, ""), 401, "unauthenticated"},
		"without a scheme":             {orders, []string{"Authorization", text}, 401, "unauthenticated"},
		"another scheme":               {orders, []string{"Authorization", "Token " + text}, 401, "unauthenticated"},
		"a letter changed":             {orders, bearer(string(changed)), 401, "unauthenticated"},
		"cut short":                    {orders, bearer(text[:30]), 401, "unauthenticated"},
		"with more behind":             {orders, bearer(text + "x"), 401, "unauthenticated"},
		"a route's":                    {orders, bearer(routed), 401, "unauthenticated"},
		"bad, at an open set":          {"/odata/News/$count", bearer(text[:30]), 401, "unauthenticated"},
		"good, at an open set":         {"/odata/News/$count", bearer(text), 200, "1"},
		"a row of another's":           {"/odata/Orders(5)", bearer(text), 404, ""},
		"a batch":                      {"/odata/$metadata", bearer(text), 200, ""},
		"sign-in endpoints":            {"/auth/intents/current", bearer(text), 401, "unauthenticated"},
		"a route that takes none":      {"/plain", bearer(text), 401, "unauthenticated"},
		"a page":                       {"/dashboard", bearer(text), 401, "unauthenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.program(t, "GET", test.path, test.header...)
			if a.StatusCode != test.status || !strings.Contains(a.body, test.body) {
				t.Errorf("%d %s, want %d %s", a.StatusCode, a.body, test.status, test.body)
			}
			if a.StatusCode < 400 && a.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("a challenge: %v", a.Header)
			}
			if len(a.Cookies()) > 0 {
				t.Errorf("cookies %v", a.Cookies())
			}
			if cc := a.Header.Get("Cache-Control"); a.StatusCode == 200 && strings.HasPrefix(test.path, orders) && !strings.Contains(cc, "private") && cc != "no-store" {
				t.Errorf("Cache-Control %q", cc)
			}
		})
	}
	var rows int
	if err := s.db.Reader().Get(&rows, "SELECT COUNT(*) FROM vestibule_sessions"); err != nil || rows != 0 {
		t.Errorf("%d sessions, %v", rows, err)
	}
	if log := s.log.String(); strings.Contains(log, text[8:30]) || strings.Contains(log, routed[8:30]) {
		t.Error("a token stands in the log")
	}
}

// A token wins over the cookie of somebody else, and a bad one is not made good by it.
func TestMachineTokenWinsOverCookies(t *testing.T) {
	s := tokenSite(t, nil)
	token, text := s.token(t, bobEmail, host.TokenRequest{})
	b := s.signedIn(t)
	count := func(want int, body string, header ...string) {
		t.Helper()
		a := b.do("GET", "/odata/Orders/$count", "", "", header...)
		if a.StatusCode != want || !strings.Contains(a.body, body) {
			t.Errorf("%v: %d %s, want %d %s", header, a.StatusCode, a.body, want, body)
		}
	}
	count(200, "25")
	count(200, "3", bearer(text)...)
	if err := s.admin.RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	count(401, "unauthenticated", bearer(text)...)
	count(200, "25", "Authorization", "Bearer ")
	count(200, "25", "Authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")
	count(200, "25", basic("ada", "some other password")...)
}

// With several Authorization headers nobody knows which counts.
func TestMachineTokenBesideAnotherCredential(t *testing.T) {
	s := tokenSite(t, nil)
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	for _, lines := range []string{
		"Authorization: Bearer " + text + "\nAuthorization: Basic eDp5",
		"Authorization: Basic eDp5\nAuthorization: Bearer " + text,
		"Authorization: Bearer " + text + "\nAuthorization: Bearer " + text,
	} {
		if a, body := s.raw(t, "GET /odata/Orders HTTP/1.1\nHost: $HOST\nConnection: close\n"+lines+"\n\n"); a.StatusCode != 401 {
			t.Errorf("%s: %d %s", lines, a.StatusCode, body)
		}
		if _, body := s.raw(t, "GET /plain HTTP/1.1\nHost: $HOST\nConnection: close\n"+lines+"\n\n"); strings.Contains(body, "vst_") {
			t.Errorf("%s: %s", lines, body)
		}
	}
}

// What ends a token, at once and for good.
func TestMachineTokenEnds(t *testing.T) {
	eachEngineSite(t, func(t *testing.T, s *testSite) {
		opens := func(text string) bool {
			a := s.program(t, "GET", "/odata/Orders/$count", bearer(text)...)
			if a.StatusCode != 200 && a.StatusCode != 401 {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
			return a.StatusCode == 200
		}
		disable := func(disabled bool) error { return s.admin.SetDisabled(t.Context(), adaEmail, disabled) }
		for _, end := range []struct {
			name string
			act  func(host.Token) error
		}{
			{"lifetime", func(t host.Token) error { s.clock.Advance(t.Expires.Sub(s.clock.Now())); return nil }},
			{"revoked", func(token host.Token) error { return s.admin.RevokeToken(t.Context(), token.ID) }},
			{"user passwd", func(host.Token) error { return s.admin.SetPassword(t.Context(), adaEmail, newPassword) }},
			{"reset", func(host.Token) error { s.resetPassword(t); return nil }},
			{"disabled", func(host.Token) error { return disable(true) }},
			{"disabled and enabled again", func(host.Token) error {
				if err := disable(true); err != nil {
					return err
				}
				return disable(false)
			}},
			{"deleted by the application", func(host.Token) error {
				_, err := s.db.Writer().Exec("DELETE FROM users WHERE email = 'ada@example.com'")
				return err
			}},
		} {
			if err := disable(false); err != nil {
				t.Fatal(err)
			}
			token, text := s.token(t, adaEmail, host.TokenRequest{})
			if !opens(text) {
				t.Errorf("%s: a new token opens nothing", end.name)
			}
			if err := end.act(token); err != nil {
				t.Fatalf("%s: %v", end.name, err)
			}
			if opens(text) {
				t.Errorf("%s: the token still opens something", end.name)
			}
		}
	})
}

// Ending sessions is not ending tokens.
func TestMachineTokenOutlivesSessions(t *testing.T) {
	s := tokenSite(t, nil)
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	b := s.signedIn(t)
	if err := s.admin.RevokeUser(t.Context(), adaEmail); err != nil {
		t.Fatal(err)
	}
	b.get("/auth/intents/current").want(t, 401, "")
	s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 200, "")
}

// A token of a route opens that route alone, and reads unless it may write.
func TestMachineTokenOfARoute(t *testing.T) {
	s := tokenSite(t, nil)
	tokens := map[string]string{"none": ""}
	for name, in := range map[string]host.TokenRequest{
		"odata": {}, "app": {Route: "app"}, "app, writing": {Route: "app", Write: true}, "reports": {Route: "reports"},
		"open": {Route: "open"}, "plain": {Route: "plain", Write: true},
	} {
		_, tokens[name] = s.token(t, adaEmail, in)
	}
	tests := []struct {
		token, method, path string
		status              int
		user                bool
	}{
		{"app", "GET", "/app", 200, true},
		{"app", "HEAD", "/app", 200, false}, // without a body to see it in
		{"app", "GET", "/app/deep?x=1", 200, true},
		{"app", "POST", "/app", 401, false},
		{"app", "DELETE", "/app/1", 401, false},
		{"app", "OPTIONS", "/app/1", 401, false},
		{"app", "GET", "/reports", 401, false},
		{"app", "GET", "/open", 401, false},
		{"app, writing", "GET", "/app", 200, true},
		{"app, writing", "POST", "/app", 200, true},
		{"app, writing", "DELETE", "/app/1", 200, true},
		{"app, writing", "POST", "/reports", 401, false},
		{"reports", "GET", "/reports", 200, true},
		{"open", "GET", "/open", 200, true},
		{"odata", "GET", "/app", 401, false},
		{"odata", "GET", "/open", 401, false},
		{"plain", "GET", "/plain", 401, false},
		{"none", "GET", "/app", 401, false},
		{"none", "GET", "/open", 200, false},
	}
	for _, test := range tests {
		t.Run(test.token+" "+test.method+" "+test.path, func(t *testing.T) {
			var header []string
			if text := tokens[test.token]; text != "" {
				header = bearer(text)
			}
			a := s.program(t, test.method, test.path, header...)
			if a.StatusCode != test.status {
				t.Fatalf("%d %s, want %d", a.StatusCode, a.body, test.status)
			}
			if got := strings.Contains(a.body, "X-Vestibule-Email: "+adaEmail); got != test.user {
				t.Errorf("tells who it is: %v, want %v: %s", got, test.user, a.body)
			}
			if strings.Contains(a.body, "vst_") || strings.Contains(a.body, "Authorization") {
				t.Errorf("the application sees the token: %s", a.body)
			}
		})
	}
}

// No application sees a token of ours, and every other credential as it came.
func TestMachineTokenIsTakenFromApplications(t *testing.T) {
	s := tokenSite(t, nil)
	_, text := s.token(t, adaEmail, host.TokenRequest{Route: "app"})
	dead := text[:len(text)-1] + "0"
	b := s.signedIn(t)
	for name, test := range map[string]struct{ value, sent string }{
		"none":                     {"", ""},
		"another's bearer":         {"Bearer eyJ.e30.x", "Bearer eyJ.e30.x"},
		"empty bearer":             {"Bearer", "Bearer"},
		"another's basic":          {"Basic eDp5", "Basic eDp5"},
		"odd basic":                {"Basic ***", "Basic ***"},
		"digest":                   {`Digest username="vst_"`, `Digest username="vst_"`},
		"prefix in the middle":     {"Bearer x-vst_1", "Bearer x-vst_1"},
		"ours":                     {"Bearer " + text, ""},
		"ours, no good":            {"Bearer " + dead, ""},
		"ours, cut":                {"Bearer vst_1", ""},
		"ours, basic":              {basic("x", text)[1], ""},
		"ours, basic, no padding":  {strings.TrimRight(basic("x", text)[1], "="), ""},
		"ours, basic, URL letters": {strings.ReplaceAll(basic("\xff\xfe?", text)[1], "/", "_"), ""},
		"ours, unknown scheme":     {"ApiKey " + text, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var header []string
			if test.value != "" {
				header = []string{"Authorization", test.value}
			}
			a := b.do("GET", "/plain", "", "", header...)
			want := ""
			if test.sent != "" {
				want = "Authorization: " + test.sent + "\r\n"
			}
			if a.StatusCode != 200 || !strings.Contains(a.body, "X-Vestibule-User: ") {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
			if want == "" && strings.Contains(a.body, "Authorization") || !strings.Contains(a.body, want) {
				t.Errorf("sent on: %s; want %q", a.body, want)
			}
		})
	}
}

// Bad tokens are counted by client on a counter of their own, which neither a good one
// nor a password minds.
func TestBadMachineTokensAreCounted(t *testing.T) {
	s := tokenSite(t, func(o *host.Options) { o.Auth.ClientAttempts = 3 })
	_, good := s.token(t, adaEmail, host.TokenRequest{})
	ask := func(header ...string) answer { return s.program(t, "GET", "/odata/Orders/$count", header...) }
	for range 10 { // not counted
		ask().want(t, 401, "")
		ask("Authorization", "Bearer ").want(t, 401, "")
		ask("Authorization", "Bearer").want(t, 401, "")
		ask(basic("", "")...).want(t, 401, "")
		ask(basic("ada", "wrong")...).want(t, 401, "")
	}
	for range 3 {
		ask(bearer("vst_"+strings.Repeat("0", 49))...).want(t, 401, "")
	}
	a := ask(bearer("vst_nonsense")...)
	if a.StatusCode != 429 || a.Header.Get("Retry-After") != "60" || !strings.Contains(a.body, `"code":"too_many_attempts"`) {
		t.Errorf("the fourth: %d %v %s", a.StatusCode, a.Header, a.body)
	}
	a = s.program(t, "GET", "/app", bearer("vst_nonsense")...)
	if a.StatusCode != 429 || a.Header.Get("Retry-After") != "60" || !strings.Contains(a.body, "auth_throttle|60|1") {
		t.Errorf("at a route: %d %v %s", a.StatusCode, a.Header, a.body)
	}
	ask(bearer(good)...).want(t, 200, "")
	ask("Authorization", "Bearer ").want(t, 401, "")
	s.signedIn(t)
	counters, err := s.admin.Counters(t.Context(), 10)
	if err != nil || len(counters) != 1 || counters[0].Kind != "token" || counters[0].Count != 5 {
		t.Errorf("counters %+v, %v", counters, err)
	}
	s.clock.Advance(time.Minute)
	ask(bearer("vst_nonsense")...).want(t, 401, "")
}

// What a 401 asks for, and whom it asks for a password.
func TestMachineTokenChallenge(t *testing.T) {
	const bearerOnly, both = `Bearer realm="Vestibule"`, `Bearer realm="Vestibule"|Basic realm="Vestibule", charset="UTF-8"`
	plain, secure := tokenSite(t, nil), tokenSite(t, func(o *host.Options) { o.Server.PublicURL = address(t, "https://app.example.com") })
	public, local := tokenSite(t, func(o *host.Options) { o.Server.PublicURL = address(t, "http://app.example.com") }),
		tokenSite(t, func(o *host.Options) { o.Server.PublicURL = address(t, "http://localhost:8080") })
	for name, test := range map[string]struct {
		site   *testSite
		path   string
		header []string
		want   string
	}{
		"a program on loopback":      {plain, "/odata/", nil, both},
		"a program on https":         {secure, "/odata/Orders", nil, both},
		"loopback by its public URL": {local, "/odata/Orders", nil, both},
		"plain http":                 {public, "/odata/", nil, bearerOnly},
		"a route":                    {plain, "/app", nil, both},
		"a route, plain http":        {public, "/app/x", nil, bearerOnly},
		"a bad token":                {plain, "/odata/", bearer("vst_x"), both},
		"a bad token at a route":     {plain, "/app", bearer("vst_x"), both},
		"a script's fetch":           {plain, "/odata/", []string{"Sec-Fetch-Mode", "cors"}, bearerOnly},
		"a script elsewhere":         {plain, "/odata/", []string{"Origin", "https://evil.example"}, bearerOnly},
		"a cookie":                   {plain, "/odata/", []string{"Cookie", "a=b"}, bearerOnly},
		"an old script":              {plain, "/odata/", []string{"X-Requested-With", "XMLHttpRequest"}, bearerOnly},
		"a page":                     {plain, "/odata/", []string{"Accept", "text/html,application/xhtml+xml"}, bearerOnly},
		"a page in capitals":         {plain, "/odata/", []string{"Accept", "TEXT/HTML"}, bearerOnly},
		"a route without tokens":     {plain, "/plain", nil, ""},
		"the sign-in":                {plain, "/auth/intents/current", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := test.site.program(t, "GET", test.path, test.header...)
			if got := strings.Join(a.Header.Values("WWW-Authenticate"), "|"); a.StatusCode != 401 || got != test.want {
				t.Errorf("%d %q, want 401 %q", a.StatusCode, got, test.want)
			}
		})
	}
}

// What an application says about its own credentials stays as it is.
func TestMachineTokenChallengeIsNotTheApplications(t *testing.T) {
	app := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="wiki"`)
		w.WriteHeader(401)
	}))
	s := tokenSite(t, func(o *host.Options) {
		o.Routes = append(o.Routes, host.Route{Name: "wiki", Path: "/wiki", Proxy: app, Tokens: true})
	})
	_, text := s.token(t, adaEmail, host.TokenRequest{Route: "wiki"})
	a := s.program(t, "GET", "/wiki", bearer(text)...)
	if got := a.Header.Values("WWW-Authenticate"); a.StatusCode != 401 || len(got) != 1 || got[0] != `Basic realm="wiki"` {
		t.Errorf("%d %q", a.StatusCode, got)
	}
}

// The last use is noted to the minute, and not at every request.
func TestMachineTokenLastUse(t *testing.T) {
	s := tokenSite(t, nil)
	token, text := s.token(t, adaEmail, host.TokenRequest{})
	used := func() time.Time {
		list, err := s.db.Tokens().List(t.Context(), token.UserID, 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].Used
	}
	if !used().IsZero() {
		t.Errorf("before the first use: %v", used())
	}
	s.clock.Advance(59*time.Second + 999*time.Millisecond)
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		after time.Duration
		want  time.Time
	}{{0, noon}, {time.Millisecond, noon.Add(time.Minute)}, {59 * time.Second, noon.Add(time.Minute)}, {time.Hour, noon.Add(61 * time.Minute)}} {
		s.clock.Advance(step.after)
		s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 200, "")
		if got := used(); !got.Equal(step.want) {
			t.Errorf("used %v, want %v", got, step.want)
		}
	}
	if _, err := s.db.Writer().Exec("CREATE TRIGGER no_writes BEFORE UPDATE ON vestibule_tokens BEGIN SELECT RAISE(FAIL, 'written'); END"); err != nil {
		t.Fatal(err)
	}
	s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 200, "")
	if strings.Contains(s.log.String(), "last use of a token not noted") {
		t.Error("a second use in the minute was written")
	}
	s.clock.Advance(time.Minute)
	s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 200, "") // that it cannot be written is no harm
	if !strings.Contains(s.log.String(), "last use of a token not noted") {
		t.Error("the next minute was not written")
	}
}

// A WebSocket that a token opened ends with it.
func TestWebSocketEndsWithItsToken(t *testing.T) {
	s := tokenSite(t, func(o *host.Options) {
		o.Routes = append(o.Routes, host.Route{Name: "live", Path: "/live", Proxy: sockets(t), Tokens: true})
	})
	for name, end := range map[string]func(host.Token) error{
		"revoked": func(token host.Token) error { return s.admin.RevokeToken(t.Context(), token.ID) },
		"expired": func(token host.Token) error { s.clock.Advance(token.Expires.Sub(s.clock.Now())); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			token, text := s.token(t, adaEmail, host.TokenRequest{Route: "live"})
			c, err := s.browser(t).dial("/live/ws", s.URL, "Authorization", "Bearer "+text)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			received(t, c)
			if err := end(token); err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			var got string
			var timeout net.Error
			if err := websocket.Message.Receive(c, &got); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("still open: %q, %v", got, err)
			}
		})
	}
}

// A token that cannot be looked up opens nothing, and is nobody's fault.
func TestMachineTokenInAnOutage(t *testing.T) {
	s := tokenSite(t, nil)
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if a := s.program(t, "GET", "/odata/Orders", bearer(text)...); a.StatusCode != 503 {
		t.Errorf("a good one: %d %s", a.StatusCode, a.body)
	}
	if a := s.program(t, "GET", "/app", bearer(text)...); a.StatusCode < 500 {
		t.Errorf("at a route: %d %s", a.StatusCode, a.body)
	}
	// Its checksum tells without the database.
	if a := s.program(t, "GET", "/odata/Orders", bearer(text[:len(text)-1]+"_")...); a.StatusCode != 401 {
		t.Errorf("a wrong one: %d %s", a.StatusCode, a.body)
	}
}

func address(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// eachEngineSite runs a story with orders on every database.
func eachEngineSite(t *testing.T, story func(t *testing.T, s *testSite)) {
	t.Helper()
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), func(o *host.Options) { withOrders(t, o) })
		story(t, s)
	})
}

// resetPassword sets a new password for Ada by a link.
func (s *testSite) resetPassword(t *testing.T) {
	t.Helper()
	link, _, err := s.admin.ResetLink(t.Context(), adaEmail)
	if err != nil {
		t.Fatal(err)
	}
	s.browser(t).post("/auth/reset-password", resetBody(tokenIn(link), newPassword)).want(t, 200, "")
}
