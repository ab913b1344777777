package host_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"golang.org/x/crypto/argon2"
)

// A raceEngine is a database to race on.
type raceEngine struct {
	open func(ctx context.Context) (*store.DB, error)
	// waits is a query for the number of statements that wait for a lock; empty where
	// whoever writes waits for whoever is in a transaction.
	waits string
}

func raceEngines() map[string]func(t *testing.T) raceEngine {
	return map[string]func(t *testing.T) raceEngine{
		"sqlite": func(t *testing.T) raceEngine {
			dsn := "file:" + filepath.Join(t.TempDir(), "host.db") + "?_pragma=synchronous(OFF)"
			return raceEngine{func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, dsn) }, ""}
		},
		"postgres": func(t *testing.T) raceEngine {
			dsn := dbtest.Postgres(t) + "&deadlock_timeout=20ms"
			return raceEngine{
				func(ctx context.Context) (*store.DB, error) { return postgres.Open(ctx, dsn) },
				`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
			}
		},
		"mysql": func(t *testing.T) raceEngine {
			dsn := dbtest.MySQL(t)
			return raceEngine{
				func(ctx context.Context) (*store.DB, error) { return mysql.Open(ctx, dsn) },
				`SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Innodb_row_lock_current_waits'`,
			}
		},
	}
}

// A raceRig is two hosts on one database, each with the commands beside it, and a
// pool of the test's own.
type raceRig struct {
	*testing.T
	engine raceEngine
	ground *store.DB
	clock  *clock
	hosts  [2]struct {
		host    *host.Host
		handler http.Handler
		admin   *host.Admin
	}
	// What a session and a device keep while the intent org_setup is open.
	data, intent []byte
	// settled is what a session keeps once the intent loop has ended, and heldData and
	// heldIntent are what a session and a device keep while a redirect holds.
	settled              []byte
	heldData, heldIntent []byte
	// askedData holds the values of a settled session whose person has asked for a step, and
	// askedIn the id of the session that the step belongs to.
	askedData, askedIn []byte
	scenes             int
}

func newRaceRig(t *testing.T, engine raceEngine) *raceRig {
	t.Helper()
	r := &raceRig{T: t, engine: engine, clock: newClock()}
	r.ground = r.open().With(store.Settings{Now: r.clock.Now})
	r.must(errOf(r.ground.Migrate(t.Context())))
	for _, column := range []string{"effect", "told"} {
		r.must(errOf(r.ground.Writer().Exec(`ALTER TABLE users ADD ` + column + ` VARCHAR(40)`)))
	}
	for i := range r.hosts {
		o := host.Options{
			Store: stepped(t, r.open()), Now: r.clock.Now, OrgSetup: effects{}, Identities: []host.Identity{{Name: "company", Provider: racingProvider{}}, {Name: "other", Provider: racingProvider{}}, {Name: "third", Provider: racingProvider{}}},
			Auth:  host.AuthOptions{Rules: auth.Rules{PasswordHash: password.Keep, OwnTokens: true, Recent: 10_000 * time.Hour}}, // hashing takes most of the time, and each pair makes the clock go on
			OData: nothing(t),
			Routes: []host.Route{
				{Name: "home", Path: "/", Redirect: "/somewhere", Guard: host.GuardNone},
				{Name: "dashboard", Path: "/dashboard", Redirect: "/dash-page"},
			},
		}
		h, err := host.New(o)
		r.must(err)
		h.AskDispensers([]string{"first", "orgs", "last"}, racingDispenser)
		h.OfferStep(map[string]string{"orgs": "Organisation"})
		handler, err := h.Handler()
		r.must(err)
		admin, err := host.NewAdmin(o)
		r.must(err)
		r.hosts[i].host, r.hosts[i].handler, r.hosts[i].admin = h, handler, admin
	}
	r.learn()
	return r
}

// nothing is a query endpoint with a guarded set that is empty.
func nothing(t *testing.T) *host.ODataOptions {
	t.Helper()
	source, err := memory.New(memory.Config{Sets: []memory.Set{{Name: "Nothing", Rows: []order{}}}})
	if err != nil {
		t.Fatal(err)
	}
	return &host.ODataOptions{Model: source.Model(), Source: source}
}

func (r *raceRig) open() *store.DB {
	r.Helper()
	db, err := r.engine.open(r.Context())
	r.must(err)
	r.Cleanup(func() { _ = db.Close() })
	return db
}

func (r *raceRig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// learn signs a user in once, to copy what a session and a device then hold.
func (r *raceRig) learn() {
	r.Helper()
	s := r.scene(false)
	if got := s.signIn(r.Context(), 0); got != done {
		r.Fatalf("sign in: %s", got)
	}
	r.must(r.ground.Reader().Get(&r.data, r.bind(`SELECT data FROM vestibule_sessions WHERE user_id = ? AND device NOT IN (?, ?)`),
		s.user, s.laptop.selector, s.phone.selector))
	r.must(r.ground.Reader().Get(&r.intent, r.bind(`SELECT intent FROM vestibule_remember_tokens WHERE user_id = ? AND selector NOT IN (?, ?)`),
		s.user, s.laptop.selector, s.phone.selector))
	s = r.scene(false) // whose laptop knows its intent
	w := s.send(r.Context(), 0, "POST", "/auth/intents/org-setup", `{"legal_form":1,"org_name":"nothing",`+
		`"company_size":"solo","function":"developer","marketing_consent":false}`, http.Header{"Cookie": {s.laptop.sessionCookie()}})
	if w.Code != 200 {
		r.Fatalf("settle: %d %s", w.Code, w.Body)
	}
	r.must(r.ground.Reader().Get(&r.settled, r.bind(`SELECT data FROM vestibule_sessions WHERE hash = ?`), s.laptop.hash))
	r.clock.Advance(time.Minute) // a session that is confirmed later differs
	s = r.scene(false)
	if w := s.send(r.Context(), 0, "POST", "/auth/login", s.credentials(), http.Header{"X-Hold": {"1"}}); w.Code != 200 {
		r.Fatalf("sign in to a step that holds: %d %s", w.Code, w.Body)
	}
	r.must(r.ground.Reader().Get(&r.heldIntent, r.bind(`SELECT intent FROM vestibule_remember_tokens WHERE user_id = ? AND selector NOT IN (?, ?)`),
		s.user, s.laptop.selector, s.phone.selector))
	r.must(r.ground.Reader().Get(&r.heldData, r.bind(`SELECT data FROM vestibule_sessions WHERE user_id = ? AND device NOT IN (?, ?)`),
		s.user, s.laptop.selector, s.phone.selector))
	s = r.scene(false)
	if w := s.send(r.Context(), 0, "POST", "/auth/account/steps/orgs", "", http.Header{"Cookie": {s.phone.sessionCookie()}}); w.Code != 200 {
		r.Fatalf("ask for a step: %d %s", w.Code, w.Body)
	}
	r.must(r.ground.Reader().Get(&r.askedData, r.bind(`SELECT data FROM vestibule_sessions WHERE hash = ?`), s.phone.hash))
	r.askedIn = s.phone.sessionID()
	if !bytes.Contains(r.askedData, r.askedIn) {
		r.Fatalf("the step does not name its session: %q", r.askedData)
	}
	for _, op := range operations() {
		if got := op.run(r.scene(op.disabled), r.Context(), 0); got != done {
			r.Fatalf("%s alone: %s", op.name, got)
		}
	}
}

func (r *raceRig) bind(query string) string { return r.ground.Reader().Rebind(query) }

// effects is a plugin whose effects are a column of the user and a session value, both
// the name that the form has.
type effects struct{}

func (effects) Dispense(_ context.Context, u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
	code, posted := r.Form.Text("code")
	switch {
	case r.Asked && posted && !u.Columns.Has("effect"):
		return pluginsdk.Done().With(pluginsdk.SetUser("effect", code).Replacing(nil)), nil
	case r.Asked && posted:
		return pluginsdk.Redirect("/held").Hold().Failed("used"), nil
	case r.Asked:
		return pluginsdk.Redirect("/held").Hold(), nil
	case r.Session.Has("orgs/effect"):
		return pluginsdk.Done(), nil
	case posted && !u.Columns.Has("effect"):
		return pluginsdk.Done().With(pluginsdk.SetUser("effect", code).Replacing(nil), pluginsdk.SetSession("orgs/effect", code)), nil
	case posted:
		return pluginsdk.Redirect("/held").Hold().Failed("used"), nil
	case r.Held != "" || r.Headers["x-hold"] != "":
		return pluginsdk.Redirect("/held").Hold(), nil
	}
	return pluginsdk.OrgSetup(u.Name), nil
}

func (effects) Handle(_ context.Context, _ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Result, error) {
	name, _ := r.Form.Text("org_name")
	return pluginsdk.Satisfied().With(pluginsdk.SetUser("effect", name), pluginsdk.SetSession("orgs/effect", name)), nil
}

// racingDispenser returns one of three dispensers. The one in the middle decides, those
// around it pass on, and the last one keeps in the session what it sees of the effects of
// the one before it.
func racingDispenser(name string) pluginsdk.Dispenser {
	if name == "orgs" {
		return effects{}
	}
	return pluginsdk.DispenserFunc(func(_ context.Context, u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		effect, has := u.Columns.Text("effect")
		if name == "first" || !has || r.Session.Has("last/effect") {
			return pluginsdk.Done(), nil
		}
		return pluginsdk.Done().With(pluginsdk.SetSession("last/effect", effect)), nil
	})
}

// A known browser has a session and a device.
type known struct {
	id, hash, selector, verifier []byte
	// older is the verifier before, whose grace is not over.
	older []byte
}

func (k known) sessionCookie() string {
	return sessionName + "=" + base64.RawURLEncoding.EncodeToString(k.id)
}

// sessionID is the id that the session has for others.
func (k known) sessionID() []byte { return []byte(auth.Session{Key: k.hash}.ID()) }

func (k known) deviceCookie(verifier []byte) string {
	return deviceName + "=" + base64.RawURLEncoding.EncodeToString(append(bytes.Clone(k.selector), verifier...))
}

// A scene is a person with a laptop, a phone, a tablet and a desk, all signed in and kept so,
// the phone settled, the tablet held, the desk settled with a step that was asked for, with a
// link to set a new password, with a machine token, and with an event that waits for a
// listener. Each case has its own.
type scene struct {
	*raceRig
	number        int
	user, email   string
	laptop, phone known
	tablet, desk  known // in scenes of operations, not yet where they are learned
	token         string
	machine       string // the machine token
	event         string // the key of an event that waits for a listener

	mu      sync.Mutex
	cookies []string // session cookies that the actors were given
	made    []string // machine tokens that they made

	answers passkeyAnswers
}

// passkeyAnswers are what the person's authenticator has signed before the race: for a sign-in, and for another passkey of
// the phone's session, each with the cookie that keeps its challenge.
type passkeyAnswers struct {
	signIn, create             json.RawMessage
	signInCookie, createCookie string

	// The states with which the laptop was sent to "company", and the phone to "third" and to "other", once for each host.
	stateText, stateCookie  string
	linkTexts, againTexts   [2]string
	linkCookie, againCookie string
}

// A racingProvider identifies everybody as the person whom its private bytes name.
type racingProvider struct{}

func (racingProvider) Begin(context.Context, pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	return pluginsdk.Authorization{}, errors.New("not in a race")
}

func (racingProvider) Finish(_ context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	return pluginsdk.Identified(pluginsdk.Identity{Subject: string(r.Private)}), nil
}

// identities gives the person an identity, and sends the laptop and the phone to the providers.
func (s *scene) identities(ctx context.Context) error {
	key, err := s.ground.Secret(ctx, "identities", digest([]byte("key of states")))
	if err != nil {
		return err
	}
	states, err := identity.NewStates(key)
	if err != nil {
		return err
	}
	subject := fmt.Sprintf("ada-%d", s.number)
	away := func(cookie string, purpose identity.Purpose, bound identity.Binding) (string, string) {
		state, text := identity.NewState()
		return text, states.Keep(cookie, identity.Pending{Purpose: purpose, State: state, Private: []byte(subject), Begun: s.clock.Now()}, bound)
	}
	cookie := ""
	s.answers.stateText, cookie = away("", identity.SignIn, identity.Binding{Name: "company"})
	s.answers.stateCookie = "vestibule_identity=" + cookie
	twice := func(name string) (texts [2]string, cookie string) {
		for i := range texts {
			texts[i], cookie = away(cookie, identity.Join, identity.Binding{Name: name, Session: s.phone.hash, UserID: s.user})
		}
		return texts, "vestibule_identity=" + cookie
	}
	s.answers.linkTexts, s.answers.linkCookie = twice("third")
	s.answers.againTexts, s.answers.againCookie = twice("other")
	for _, name := range []string{"company", "other"} {
		if err := s.ground.Identities().Add(ctx, identity.Identity{Name: name, Subject: subject, UserID: s.user, Created: s.clock.Now()}); err != nil {
			return err
		}
	}
	return nil
}

// passkeys gives the person a passkey and asks for the answers.
func (s *scene) passkeys(ctx context.Context) error {
	const origin = "http://localhost:8080"
	site, _ := passkey.NewSite(origin, "", "Testing")
	person := passkey.Person{Handle: digest(fmt.Appendf(nil, "handle %d", s.number))}
	key, err := s.ground.Secret(ctx, "passkeys", digest([]byte("key of challenges")))
	if err != nil {
		return err
	}
	a := passkeytest.New(origin)
	answered := func(ask func([]byte) (json.RawMessage, error), purpose passkey.Purpose, session []byte, options func([]byte) passkey.Options) (json.RawMessage, string) {
		challenge, cookie, err := passkey.NewChallenges(key).New("", purpose, session, s.clock.Now())
		s.must(err)
		text, err := json.Marshal(options(challenge))
		s.must(err)
		answer, err := ask(text)
		s.must(err)
		return answer, "vestibule_passkey=" + cookie
	}
	create := func(challenge []byte) passkey.Options { return site.CreateOptions(challenge, person, nil) }
	made, _ := answered(a.Create, passkey.Enrol, nil, create)
	parsed, err := passkey.ParseCreation(made)
	s.must(err)
	old, err := site.Create(parsed)
	s.must(err)
	s.answers.signIn, s.answers.signInCookie = answered(a.Get, passkey.SignIn, nil, func(challenge []byte) passkey.Options { return site.GetOptions(challenge, nil) })
	s.answers.create, s.answers.createCookie = answered(a.Create, passkey.Enrol, s.phone.hash, create)
	if _, err := s.ground.Passkeys().Handle(ctx, s.user, person.Handle); err != nil {
		return err
	}
	old.ID, old.UserID, old.Name, old.Created = fmt.Sprintf("passkey-%d", s.number), s.user, "old", s.clock.Now()
	return s.ground.Passkeys().Add(ctx, old, 20)
}

func (r *raceRig) scene(disabled bool) *scene {
	r.Helper()
	r.scenes++
	s := &scene{raceRig: r, number: r.scenes, email: fmt.Sprintf("ada-%d@example.com", r.scenes)}
	s.laptop, s.phone, s.tablet, s.token = s.browser("laptop"), s.browser("phone"), s.browser("tablet"), fmt.Sprintf("token-%d", r.scenes)
	s.desk = s.browser("desk")
	db := r.ground
	r.must(db.InTx(r.Context(), func(ctx context.Context) error {
		user, err := db.AddUser(ctx, s.email, "Ada", weakHash())
		if err != nil {
			return err
		}
		s.user = user.ID
		if err := errors.Join(s.passkeys(ctx), s.identities(ctx)); err != nil {
			return err
		}
		if err := db.Outbox().Announce(ctx, "password_reset", s.user, []string{"audit"}); err != nil {
			return err
		}
		if disabled {
			return db.SetDisabled(ctx, s.user, true)
		}
		if _, err := db.Users().EnsureDeviceSecret(ctx, s.user, "secret"); err != nil {
			return err
		}
		phone := s.settled
		if phone == nil { // not learned yet
			phone = s.data
		}
		if err := errors.Join(s.signedIn(ctx, s.laptop, s.data, s.intent), s.signedIn(ctx, s.phone, phone, s.intent)); err != nil {
			return err
		}
		if s.heldData != nil {
			if err := s.signedIn(ctx, s.tablet, s.heldData, s.heldIntent); err != nil {
				return err
			}
		}
		if s.askedData != nil {
			asked := bytes.ReplaceAll(s.askedData, s.askedIn, s.desk.sessionID())
			if err := s.signedIn(ctx, s.desk, asked, s.intent); err != nil {
				return err
			}
		}
		s.machine = machineToken(s.number)
		if err := db.Tokens().Create(ctx, auth.Token{
			ID: fmt.Sprintf("token-%d", s.number), Hash: digest([]byte(s.machine)), UserID: s.user, Name: "old",
			Created: r.clock.Now(), Expires: r.clock.Now().Add(time.Hour),
		}, 50); err != nil {
			return err
		}
		return db.ResetTokens().Issue(ctx, auth.ResetToken{Hash: digest([]byte(s.token)), UserID: s.user, Email: s.email, Created: r.clock.Now()})
	}))
	r.must(db.Reader().Get(&s.event, r.bind(`SELECT id FROM vestibule_outbox WHERE user_id = ?`), s.user))
	return s
}

func (s *scene) browser(name string) known {
	bytesOf := func(what string) []byte { return digest(fmt.Appendf(nil, "%s %s %d", name, what, s.number)) }
	k := known{id: bytesOf("id"), selector: bytesOf("selector")[:16], older: bytesOf("verifier")}
	k.hash = digest(k.id)
	m := hmac.New(sha256.New, k.older)
	m.Write([]byte("nonce"))
	k.verifier = m.Sum(nil)
	return k
}

// signedIn writes a browser's rows as a sign-in and a return a moment ago leave them.
func (s *scene) signedIn(ctx context.Context, k known, data, intent []byte) error {
	now := s.clock.Now()
	err := s.ground.Devices().Create(ctx, auth.Device{
		Selector: k.selector, UserID: s.user, Verifier: digest(k.verifier), Previous: digest(k.older), Nonce: []byte("nonce"),
		Binding: digest([]byte("secret")), Intent: intent, Created: now, Rotated: now, Expires: now.Add(time.Hour),
	})
	if err != nil {
		return err
	}
	state := auth.StateSettled
	if bytes.Contains(data, []byte("auth.intent")) {
		state = auth.StateOpen
	}
	return s.ground.Sessions().CreateSession(ctx, auth.SessionRow{
		Hash: k.hash, UserID: s.user, Device: k.selector, Data: data, State: string(state), Format: 1, Created: now, Seen: now, Expires: now.Add(time.Hour),
	})
}

// weakHash is a hash of Ada's password that is made in no time.
func weakHash() string {
	salt := []byte("salt of 16 bytes")
	key := argon2.IDKey([]byte(adaPassword), salt, 1, 8, 1, 32)
	text := base64.RawStdEncoding.EncodeToString
	return "$argon2id$v=19$m=8,t=1,p=1$" + text(salt) + "$" + text(key)
}

func digest(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// machineToken is a token of the right form: number is the random part of it.
func machineToken(number int) string {
	secret := binary.BigEndian.AppendUint64(make([]byte, 24), uint64(number))
	digits := func(n *big.Int, width int) string {
		text := n.Text(62)
		return strings.Repeat("0", width-len(text)) + text
	}
	return "vst_" + digits(new(big.Int).SetBytes(secret), 43) + digits(big.NewInt(int64(crc32.ChecksumIEEE(secret))), 6)
}

// request sends a request with cookies to a host and returns what became of it.
func (s *scene) request(ctx context.Context, on int, method, path, body string, cookies ...string) result {
	return statusResult(s.send(ctx, on, method, path, body, http.Header{"Cookie": cookies}))
}

// opensWith uses a machine token.
func (s *scene) opensWith(ctx context.Context, on int, token string) result {
	return statusResult(s.send(ctx, on, "GET", "/odata/Nothing", "", http.Header{"Authorization": {"Bearer " + token}}))
}

func (s *scene) send(ctx context.Context, on int, method, path, body string, header http.Header) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	req.Host = "localhost:8080" // where browsers have passkeys
	req.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:4711", on, s.number/256, s.number%256)
	maps.Copy(req.Header, header)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.hosts[on].handler.ServeHTTP(w, req)
	for _, c := range w.Result().Cookies() {
		if c.Name == sessionName && c.MaxAge >= 0 {
			s.given(c.Name + "=" + c.Value)
		}
	}
	return w
}

func statusResult(w *httptest.ResponseRecorder) result {
	switch {
	case w.Code < 400:
		return done
	case w.Code < 500:
		return refused
	}
	return result(fmt.Sprintf("failed: %d %s", w.Code, w.Body))
}

// given notes a session cookie that a browser was sent.
func (s *scene) given(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cookies = append(s.cookies, cookie)
}
