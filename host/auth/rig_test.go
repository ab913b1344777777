package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const (
	adaEmail    = "ada@example.com"
	adaPassword = "engine-of-analysis-1843"
	newPassword = "note-g-of-the-translator-7"

	sessionName, deviceName = "vestibule_session", "vestibule_remember"
)

// adaHash is made once: hashing is slow on purpose.
var adaHash = sync.OnceValues(func() (string, error) {
	return password.New(password.Options{}).Hash(context.Background(), "", "", adaPassword)
})

// rig is a pipeline over a SQLite store with one person.
type rig struct {
	*testing.T
	*auth.Pipeline
	db  *store.DB
	now time.Time
	ada auth.User
	// events are those that the pipeline reported.
	events []string
}

// newRig lets change alter the options before the pipeline is made of them.
func newRig(t *testing.T, change func(*auth.Options)) *rig {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{T: t, now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return r.now }
	db = db.With(store.Settings{Now: clock})
	r.db = db
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	hash, err := adaHash()
	if err != nil {
		t.Fatal(err)
	}
	if r.ada, err = db.AddUser(t.Context(), adaEmail, "Ada", hash); err != nil {
		t.Fatal(err)
	}
	guests := session.NewGuests(db.GuestKeys(), false, clock)
	if err := guests.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := auth.Options{
		Tx: db, Users: db.Users(), Throttle: db.Throttle(), Resets: db.ResetTokens(), Devices: db.Devices(),
		Mailer:   mailer{db.Outbox()},
		Sessions: session.New(db.Sessions(), session.Options{Guests: guests, Now: clock}),
		Site:     site{}, Now: clock, Audit: func(event string) { r.events = append(r.events, event) },
	}
	if change != nil {
		change(&o)
	}
	r.Pipeline = auth.New(o)
	if err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// askOne makes a pipeline ask one dispenser.
func askOne(o *auth.Options, dispenser func() pluginsdk.Dispenser) {
	o.Dispensers = func() []string { return []string{"one"} }
	o.Dispenser = func(string) pluginsdk.Dispenser { return dispenser() }
}

// post sends fields as JSON with the cookies.
func (r *rig) post(h http.Handler, fields map[string]any, cookies ...*http.Cookie) answer {
	r.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		r.Fatal(err)
	}
	req := httptest.NewRequest("POST", "/", strings.NewReader(string(body)))
	req.Header.Set("Content-Type", "application/json")
	return r.serve(h, req, cookies...)
}

func (r *rig) serve(h http.Handler, req *http.Request, cookies ...*http.Cookie) answer {
	r.Helper()
	for _, c := range cookies {
		req.AddCookie(c)
	}
	req = req.WithContext(auth.WithRequest(req.Context(), &auth.Request{ID: "request", Client: "192.0.2.1", Network: "192.0.2.1"}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	a := answer{T: r.T, status: w.Code, header: w.Header(), cookies: map[string]*http.Cookie{}, body: strings.TrimSpace(w.Body.String())}
	var body struct{ Message string }
	_ = json.Unmarshal(w.Body.Bytes(), &body) // a redirect has none
	a.message = body.Message
	for _, c := range w.Result().Cookies() {
		a.cookies[c.Name] = c
	}
	return a
}

func (r *rig) login(plain string, remember bool, cookies ...*http.Cookie) answer {
	r.Helper()
	return r.post(r.Login(), map[string]any{"login": adaEmail, "password": plain, "remember": remember}, cookies...)
}

// visit asks who a browser with the cookies is.
func (r *rig) visit(cookies ...*http.Cookie) (auth.Principal, answer) {
	r.Helper()
	var who auth.Principal
	a := r.serve(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var err error
		if who, err = r.Authenticate(w, req); err != nil {
			r.Error(err)
		}
	}), httptest.NewRequest("GET", "/", nil), cookies...)
	return who, a
}

// count returns how many rows a table has.
func (r *rig) count(table string) int {
	r.Helper()
	var n int
	if err := r.db.Reader().Get(&n, "SELECT COUNT(*) FROM vestibule_"+table); err != nil {
		r.Fatal(err)
	}
	return n
}

// An answer is what a handler answered.
type answer struct {
	*testing.T
	status  int
	message string
	body    string
	header  http.Header
	cookies map[string]*http.Cookie
}

func (a answer) want(status int, message string) {
	a.Helper()
	if a.status != status || a.message != message {
		a.Errorf("answer %d %q, want %d %q", a.status, a.message, status, message)
	}
}

// site is a web site at http://localhost whose clients all come from one address.
type site struct{}

func (site) Path(route string) (string, bool) {
	path, ok := site{}.Routes()[route]
	return path, ok
}

func (site) Routes() map[string]string {
	return map[string]string{"home": "/", "dashboard": "/dashboard"}
}
func (site) Base(*http.Request) string   { return "http://localhost" }
func (site) Locale(*http.Request) string { return "en" }

// mailer queues mail under the pipeline's own words.
type mailer struct{ store.Outbox }

func (o mailer) QueueReset(ctx context.Context, userID, locale, _ string) error {
	return o.Queue(ctx, outbox.Item{UserID: userID, Purpose: "reset", Locale: locale})
}

func (o mailer) QueueChanged(ctx context.Context, userID, locale, _, device string) error {
	return o.Queue(ctx, outbox.Item{UserID: userID, Purpose: "changed", Locale: locale, Device: device})
}

func (o mailer) QueueNotice(ctx context.Context, kind auth.Notice, userID, locale, device string) error {
	return o.Queue(ctx, outbox.Item{UserID: userID, Purpose: string(kind), Locale: locale, Device: device})
}

func (o mailer) QueueTexts(ctx context.Context, name string, texts map[string]string, userID, locale, base string) error {
	return o.Queue(ctx, outbox.Item{UserID: userID, Purpose: name, Locale: locale, Base: base, Sealed: fmt.Sprint(texts)})
}

// reads counts how often a session is read.
type reads struct {
	auth.Sessions
	n int
}

func (s *reads) Load(r *http.Request) (auth.Session, error) {
	s.n++
	return s.Sessions.Load(r)
}

// Admission, the guard and the handler of one request ask for its session, which is read once.
func TestASessionIsReadOncePerRequest(t *testing.T) {
	var sessions *reads
	r := newRig(t, func(o *auth.Options) { sessions = &reads{Sessions: o.Sessions}; o.Sessions = sessions })
	session, _ := r.kept()
	for range 2 {
		sessions.n = 0
		req := httptest.NewRequest("GET", "/", nil)
		req.AddCookie(session)
		req = req.WithContext(auth.WithRequest(req.Context(), new(auth.Request)))
		counted, err := r.Counted(req)
		who, failed := r.Authenticate(httptest.NewRecorder(), req)
		if err != nil || failed != nil || counted.UserID != r.ada.ID || who.UserID != r.ada.ID || sessions.n != 1 {
			t.Errorf("%q and %q after %d reads, %v, %v", counted.UserID, who.UserID, sessions.n, err, failed)
		}
	}
}
