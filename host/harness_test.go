package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"golang.org/x/crypto/bcrypt"
)

// eachEngine runs a story on every database, side by side: much of it waits.
func eachEngine(t *testing.T, story func(t *testing.T, open func() *store.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dsn := filepath.Join(t.TempDir(), "host.db")
		story(t, opener(t, func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, dsn) }))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := dbtest.Postgres(t)
		story(t, opener(t, func(ctx context.Context) (*store.DB, error) { return postgres.Open(ctx, dsn) }))
	})
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		dsn := dbtest.MySQL(t)
		story(t, opener(t, func(ctx context.Context) (*store.DB, error) { return mysql.Open(ctx, dsn) }))
	})
}

func opener(t *testing.T, open func(context.Context) (*store.DB, error)) func() *store.DB {
	return func() *store.DB {
		t.Helper()
		db, err := open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// A clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logs collects what a host logs.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A site under test: a running host with one user, ada@example.com.
type testSite struct {
	*httptest.Server
	host  *host.Host
	admin *host.Admin
	db    *store.DB
	clock *clock
	log   *logs
	mails string
	user  host.User
}

const (
	adaEmail    = "ada@example.com"
	adaPassword = "engine-of-analysis-1843"
)

// adaHash is a hash of Ada's password as hosts make them, for tests about what hashing
// takes: it is slow on purpose.
var adaHash = sync.OnceValue(func() string {
	hash, err := password.New(password.Options{}).Hash(context.Background(), "", "", adaPassword)
	if err != nil {
		panic(err)
	}
	return hash
})

func testApp() fstest.MapFS {
	page := `<!doctype html><html lang="en" dir="ltr"><head><title>t</title></head><body>` +
		`<script type="application/json" id="bootstrap">{}</script></body></html>`
	return fstest.MapFS{
		"index.html":              {Data: []byte(page)},
		"manifest.json":           {Data: []byte(`{"name":"auth","version":"2.0.0","core":"2","entry":"index.html"}`)},
		"assets/main-0a1b2c3d.js": {Data: []byte("console.log(1)")},
	}
}

// newSite starts a host over db, on which Ada can sign in without much hashing; change may
// adjust its options.
func newSite(t testing.TB, db *store.DB, change func(*host.Options)) *testSite {
	t.Helper()
	s := &testSite{clock: newClock(), log: &logs{}, mails: t.TempDir()}
	o := host.Options{
		Store: db, Now: s.clock.Now,
		Auth:   host.AuthOptions{Rules: auth.Rules{PasswordHash: password.Keep}}, // so that Ada's stays cheap
		Logger: hclog.New(&hclog.LoggerOptions{Output: s.log, Level: hclog.Debug}),
		Mail:   host.MailOptions{Transport: "file", Dir: s.mails, From: "Vestibule <no-reply@example.com>"},
		UI:     host.UIOptions{App: testApp(), AppName: "Testing"},
		Routes: []host.Route{
			{Name: "home", Path: "/", Redirect: "/somewhere", Guard: host.GuardNone},
			{Name: "dashboard", Path: "/dashboard", Redirect: "/dash-page"},
		},
	}
	if change != nil {
		change(&o)
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := h.Handler()
	if err != nil {
		t.Fatal(err)
	}
	if s.admin, err = host.NewAdmin(o); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	s.host, s.db, s.Server = h, h.Store(), httptest.NewServer(handler)
	t.Cleanup(s.Close)
	s.user, err = s.admin.FindUser(t.Context(), adaEmail)
	if err != nil {
		s.user, err = s.db.AddUser(t.Context(), adaEmail, "Ada", weakHash())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A browser keeps cookies and does not follow redirects.
type browser struct {
	*http.Client
	t    *testing.T
	base string
}

func (s *testSite) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, base: s.URL, Client: &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// with returns the browser for a subtest, whose t it fails.
func (b *browser) with(t *testing.T) *browser { return &browser{b.Client, t, b.base} }

// An answer with its body read.
type answer struct {
	*http.Response
	body string
}

func (b *browser) do(method, path, contentType, body string, header ...string) answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{resp, string(data)}
}

// get goes to a page as a browser does; headers replace those of the browser.
func (b *browser) get(path string, header ...string) answer {
	b.t.Helper()
	return b.do("GET", path, "", "", append([]string{"Accept", "text/html,*/*;q=0.8"}, header...)...)
}

func (b *browser) post(path string, body any, header ...string) answer {
	b.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do("POST", path, "application/json", string(data), header...)
}

func (b *browser) login(login, password string, remember bool) answer {
	b.t.Helper()
	return b.post("/auth/login", map[string]any{"login": login, "password": password, "remember": remember})
}

func (b *browser) cookie(name string) string {
	u, _ := url.Parse(b.base)
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// forget drops a cookie, as the end of a browser session does.
func (b *browser) forget(name string) {
	u, _ := url.Parse(b.base)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: name, Path: "/", MaxAge: -1}})
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// want fails unless the answer has the status and, where given, the message.
func (a answer) want(t *testing.T, status int, message string) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s", a.Request.Method, a.Request.URL.Path, a.StatusCode, status, a.body)
	}
	if message == "" {
		return
	}
	if got := a.json(t)["message"]; got != message {
		t.Fatalf("message %v, want %q: %s", got, message, a.body)
	}
}

// envelope is an intent as a front end receives it.
type envelope struct {
	Kind, Version string
	Payload       map[string]string
}

// Target is where a redirect leads.
func (e envelope) Target() string { return e.Payload["target"] }

// next returns the intent in an answer.
func (a answer) next(t *testing.T) envelope {
	t.Helper()
	var v struct{ Next envelope }
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v.Next
}

// sqliteStore opens a new SQLite database, for stories in which the engine does
// not matter.
func sqliteStore(t *testing.T) *store.DB {
	t.Helper()
	dsn := filepath.Join(t.TempDir(), "host.db")
	return opener(t, func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, dsn) })()
}

// sorted returns a copy of list in order.
func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// bcryptOf hashes cheaply, with the prefix that another program writes.
func bcryptOf(t *testing.T, password, prefix string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return prefix + string(hash[4:])
}

// throttled names the counter of a login.
func throttled(login string) auth.Counter {
	return auth.Counter{Kind: "login", Login: login, Client: "192.0.2.1"}
}

func (b *browser) setCookie(name, value string) {
	u, _ := url.Parse(b.base)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// tokenIn returns the token of the link in a mail, empty when there is none.
func tokenIn(mail string) string {
	u, err := url.Parse(linkPattern.FindString(mail))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Path, "/password/reset/")
}
