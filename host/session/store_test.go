package session_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// memory is a Backend in a map, and counts writes.
type memory struct {
	rows    map[string]auth.SessionRow
	writes  int
	touches int
}

func (m *memory) FindSession(_ context.Context, hash []byte) (auth.SessionRow, error) {
	r, ok := m.rows[string(hash)]
	if !ok {
		return r, auth.ErrSessionGone
	}
	return r, nil
}

func (m *memory) FindSessions(_ context.Context, hashes [][]byte) (found []auth.SessionRow, err error) {
	for _, hash := range hashes {
		if r, ok := m.rows[string(hash)]; ok {
			found = append(found, auth.SessionRow{Hash: r.Hash, UserID: r.UserID, Seen: r.Seen, Expires: r.Expires})
		}
	}
	return found, nil
}

func (m *memory) UserSessions(_ context.Context, userID string, now, idleSince time.Time, limit int) (found []auth.SessionRow, err error) {
	for _, r := range m.rows {
		if r.UserID == userID && r.Expires.After(now) && r.Seen.After(idleSince) && len(found) < limit {
			found = append(found, r)
		}
	}
	return found, nil
}

func (m *memory) CreateSession(_ context.Context, r auth.SessionRow) error {
	m.writes++
	m.rows[string(r.Hash)] = r
	return nil
}

func (m *memory) UpdateSession(_ context.Context, r auth.SessionRow) error {
	old, ok := m.rows[string(r.Hash)]
	if !ok || old.Version != r.Version {
		return auth.ErrSessionGone
	}
	m.writes++
	r.Version++
	m.rows[string(r.Hash)] = r
	return nil
}

func (m *memory) TouchSession(_ context.Context, hash []byte, seen time.Time) error {
	m.touches++
	r := m.rows[string(hash)]
	r.Seen = seen
	m.rows[string(hash)] = r
	return nil
}

func (m *memory) DeleteSession(_ context.Context, hash []byte) error {
	delete(m.rows, string(hash))
	return nil
}

func (m *memory) DeleteUserSessions(context.Context, string) error   { return nil }
func (m *memory) DeleteDeviceSessions(context.Context, []byte) error { return nil }
func (m *memory) DeleteExpiredSessions(context.Context, time.Time, time.Time, int) (int, error) {
	return 0, nil
}

func newStore(now *time.Time) (*session.Store, *memory) {
	m := &memory{rows: map[string]auth.SessionRow{}}
	return session.New(m, session.Options{Now: func() time.Time { return *now }}), m
}

// visit loads the session of a request with the cookie.
func visit(t *testing.T, s *session.Store, cookie string) (*sessions.Session, *http.Request) {
	t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: s.Name(), Value: cookie})
	}
	sess, err := s.Get(r, s.Name())
	if err != nil {
		t.Fatal(err)
	}
	return sess, r
}

func save(t *testing.T, s *session.Store, sess *sessions.Session, r *http.Request) string {
	t.Helper()
	w := httptest.NewRecorder()
	if err := s.Save(r, w, sess); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		return c.Value
	}
	return ""
}

// begin begins a session of a user in place of old, and returns its cookie.
func begin(t *testing.T, s *session.Store, r *http.Request, old auth.Session, user string) string {
	t.Helper()
	_, cookies, err := s.Renew(t.Context(), r, old, auth.Session{UserID: user})
	if err != nil {
		t.Fatal(err)
	}
	return cookies[0].Value
}

func TestValuesSurvive(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, _ := newStore(&now)
	sess, r := visit(t, s, "")
	want := map[string]any{
		"nil": nil, "no": false, "yes": true, "int": int64(-1 << 62), "float": 1.5, "text": "ä\x00", "bytes": []byte{0, 255}, "": "empty name",
	}
	for k, v := range want {
		sess.Values[k] = v
	}
	cookie := save(t, s, sess, r)
	again, _ := visit(t, s, cookie)
	got := map[string]any{}
	for k, v := range again.Values {
		if name, ok := k.(string); ok {
			got[name] = v
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNothingToRememberWritesNothing(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	if c := save(t, s, sess, r); c != "" || m.writes != 0 {
		t.Errorf("cookie %q, %d writes", c, m.writes)
	}
}

func TestLateSaveRevivesNothing(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	cookie := save(t, s, sess, r)
	slow, slowRequest := visit(t, s, cookie)
	quick, quickRequest := visit(t, s, cookie)
	quick.Options = &sessions.Options{MaxAge: -1}
	if c := save(t, s, quick, quickRequest); c != "" {
		t.Fatalf("cookie %q", c)
	}
	slow.Values["a"] = "c"
	if err := s.Save(slowRequest, httptest.NewRecorder(), slow); !errors.Is(err, auth.ErrSessionGone) {
		t.Errorf("error %v, want ErrSessionGone", err)
	}
	if len(m.rows) != 0 {
		t.Error("the session is back")
	}
}

// A visit is noted when the last one is older than a twentieth of the idle limit, or five
// minutes.
func TestTouch(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	cookie := save(t, s, sess, r)
	for _, step := range []struct {
		after   time.Duration
		touches int
	}{{299 * time.Second, 0}, {time.Second, 1}, {299 * time.Second, 1}, {time.Second, 2}} {
		now = now.Add(step.after)
		visit(t, s, cookie)
		if m.touches != step.touches {
			t.Errorf("after %v: %d touches, want %d", step.after, m.touches, step.touches)
		}
	}
	if m.writes != 1 {
		t.Errorf("%d writes: reading wrote", m.writes)
	}
}

func TestTouchUnderAShortIdleLimit(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := &memory{rows: map[string]auth.SessionRow{}}
	s := session.New(m, session.Options{Now: func() time.Time { return now }, Idle: 20 * time.Minute})
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	cookie := save(t, s, sess, r)
	now = now.Add(59 * time.Second)
	visit(t, s, cookie)
	if m.touches != 0 {
		t.Error("touched before a twentieth of the idle limit")
	}
	now = now.Add(time.Second)
	visit(t, s, cookie)
	if m.touches != 1 {
		t.Errorf("%d touches after a twentieth of the idle limit, want 1", m.touches)
	}
}

// A session that was seen while the clock ran a day ahead counts as seen now, and its idle
// limit begins now: it does not last the day longer.
func TestVisitsAheadCountAsNow(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	now = now.Add(24 * time.Hour)
	cookie := save(t, s, sess, r)
	now = now.Add(-24 * time.Hour)
	if got, _ := visit(t, s, cookie); got.IsNew || m.touches != 1 {
		t.Fatalf("new %v after %d touches, want the session, and the visit noted", got.IsNew, m.touches)
	}
	now = now.Add(2 * time.Hour)
	if got, _ := visit(t, s, cookie); !got.IsNew {
		t.Error("the session outlives its idle limit")
	}
}

func TestHashID(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, _ := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	cookie := save(t, s, sess, r)
	if hash, ok := session.HashID(cookie); !ok || bytes.Contains(hash, []byte(cookie)) || len(hash) != 32 {
		t.Errorf("hash %x, %v", hash, ok)
	}
	for _, bad := range []string{"", "a", cookie + "A", cookie[1:], strings.Repeat("=", 43), strings.Repeat(" ", 43), cookie[:42] + "="} {
		if _, ok := session.HashID(bad); ok {
			t.Errorf("%q was taken for a session id", bad)
		}
	}
}

// A cookie of any content is read without a panic, and at most one row is looked
// up for it.
func FuzzCookie(f *testing.F) {
	for _, seed := range []string{"", "a", strings.Repeat("A", 43), strings.Repeat("-", 43), "%00", strings.Repeat("é", 22)} {
		f.Add(seed)
	}
	now := time.Unix(1e9, 0)
	s, _ := newStore(&now)
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cookie", s.Name()+"="+value)
		sess, err := s.New(r, s.Name())
		if err != nil || !sess.IsNew {
			t.Errorf("%q: new %v, %v", value, sess.IsNew, err)
		}
	})
}

// Corrupt data is an error and never a panic.
func FuzzData(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 'a', 3, 2})
	f.Add([]byte{1, 'a', 5, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	f.Fuzz(func(t *testing.T, data []byte) {
		m.rows["7"] = auth.SessionRow{Hash: []byte("7"), UserID: "7", Data: data}
		sess, err := s.Reload(t.Context(), auth.Session{Key: []byte("7")})
		if sess.SignedIn() != (err == nil) {
			t.Errorf("session %v beside error %v", sess, err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	now := time.Unix(1e9, 0)
	s, _ := newStore(&now)
	r := httptest.NewRequest("GET", "/", nil)
	sess, err := s.New(r, s.Name())
	if err != nil {
		b.Fatal(err)
	}
	sess.Values["auth.intent"] = []byte(`{"id":"0123456789abcdef","envelope":{"kind":"redirect","version":"1","payload":{"target":"/dashboard"}}}`)
	w := httptest.NewRecorder()
	if err := s.Save(r, w, sess); err != nil {
		b.Fatal(err)
	}
	r.AddCookie(w.Result().Cookies()[0])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Load(r); err != nil {
			b.Fatal(err)
		}
	}
}

// A session that is renewed keeps its values under a new id, and the row of the
// old id is gone.
func TestRenewEndsTheOldRow(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	old := save(t, s, sess, r)
	_, r = visit(t, s, old)
	loaded, err := s.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	cookie := begin(t, s, r, loaded, "7")
	if again, _ := visit(t, s, old); !again.IsNew || len(m.rows) != 1 {
		t.Errorf("the old id still has a session, %d rows", len(m.rows))
	}
	again, r := visit(t, s, cookie)
	if loaded, err = s.Load(r); err != nil || loaded.UserID != "7" || again.Values["a"] != "b" {
		t.Errorf("renewed as %+v with %v, %v", loaded, again.Values, err)
	}
}

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		after []time.Duration
		lives bool
	}{
		"just before the idle limit":     {[]time.Duration{2*time.Hour - time.Second}, true},
		"at the idle limit":              {[]time.Duration{2 * time.Hour}, false},
		"just before the absolute limit": {append(repeat(time.Hour, 23), time.Hour-time.Second), true},
		"at the absolute limit":          {repeat(time.Hour, 24), false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1e9, 0)
			s, _ := newStore(&now)
			sess, r := visit(t, s, "")
			sess.Values["a"] = "b"
			cookie := save(t, s, sess, r)
			for _, d := range test.after {
				now = now.Add(d)
				sess, _ = visit(t, s, cookie)
			}
			if sess.IsNew == test.lives {
				t.Errorf("lives: %v, want %v", !sess.IsNew, test.lives)
			}
		})
	}
}

func repeat(d time.Duration, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = d
	}
	return out
}

// Of two requests that loaded the same session, the second to save is told, and
// the first's values stay.
func TestSecondSaveIsRefused(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, _ := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	cookie := save(t, s, sess, r)
	first, firstRequest := visit(t, s, cookie)
	second, secondRequest := visit(t, s, cookie)
	first.Values["a"], second.Values["a"] = "first", "second"
	save(t, s, first, firstRequest)
	if err := s.Save(secondRequest, httptest.NewRecorder(), second); !errors.Is(err, auth.ErrSessionGone) {
		t.Errorf("error %v, want ErrSessionGone", err)
	}
	if again, _ := visit(t, s, cookie); again.Values["a"] != "first" {
		t.Errorf("kept %v", again.Values["a"])
	}
	save(t, s, first, firstRequest) // its own next save is no conflict
}

// A person who may have no sessions any more loses the row at the next touch, and
// not before: reading the session alone asks nobody.
func TestAlive(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := &memory{rows: map[string]auth.SessionRow{}}
	asked, alive := 0, true
	s := session.New(m, session.Options{
		Now: func() time.Time { return now },
		Alive: func(_ context.Context, id string) (bool, error) {
			asked++
			return alive && id == "7", nil
		},
	})
	_, r := visit(t, s, "")
	cookie := begin(t, s, r, auth.Session{}, "7")
	for _, step := range []struct {
		alive, lives bool
		asked, rows  int
	}{{true, true, 1, 1}, {false, false, 2, 0}} {
		alive = step.alive
		now = now.Add(5 * time.Minute)
		sess, _ := visit(t, s, cookie)
		if sess.IsNew == step.lives || asked != step.asked || len(m.rows) != step.rows {
			t.Errorf("alive %v: new %v, asked %d times, %d rows", alive, sess.IsNew, asked, len(m.rows))
		}
	}
}

// With Living a session ends at its next visit once its user may have none, and those of
// open connections with it; Alive is asked at each visit, and a guest's session of nobody.
func TestLiving(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := &memory{rows: map[string]auth.SessionRow{}}
	alive, together := true, 0
	s := session.New(m, session.Options{
		Now:   func() time.Time { return now },
		Alive: func(_ context.Context, id string) (bool, error) { return alive && id == "7", nil },
		Living: func(_ context.Context, ids []string) (map[string]bool, error) {
			if together++; !slices.Equal(ids, []string{"7"}) {
				t.Errorf("asked about %q", ids)
			}
			return map[string]bool{"7": alive}, nil
		},
	})
	var keys [][]byte
	var cookies []string
	for _, user := range []string{"7", "7", ""} {
		_, r := visit(t, s, "")
		cookie := begin(t, s, r, auth.Session{}, user)
		key, _ := session.HashID(cookie)
		keys, cookies = append(keys, key), append(cookies, cookie)
	}
	for _, alive = range []bool{true, false} {
		writes := m.touches
		got, err := s.Alive(t.Context(), keys)
		if want := []bool{alive, alive, true}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
		sess, _ := visit(t, s, cookies[0])
		guest, _ := visit(t, s, cookies[2])
		if sess.IsNew == alive || guest.IsNew || m.touches != writes {
			t.Errorf("alive %v: ended %v, the guest's %v, %d touches", alive, sess.IsNew, guest.IsNew, m.touches-writes)
		}
	}
	if together != 2 || len(m.rows) != 2 {
		t.Errorf("asked %d times, %d rows", together, len(m.rows))
	}
}

func TestCookie(t *testing.T) {
	for name, secure := range map[string]bool{"vestibule_session": false, "__Host-vestibule_session": true} {
		s := session.New(&memory{rows: map[string]auth.SessionRow{}}, session.Options{Secure: secure})
		sess, r := visit(t, s, "")
		sess.Values["a"] = "b"
		w := httptest.NewRecorder()
		if err := s.Save(r, w, sess); err != nil {
			t.Fatal(err)
		}
		c := w.Result().Cookies()[0]
		if c.Name != name || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 {
			t.Errorf("cookie %+v", c)
		}
		if gone, err := s.End(t.Context(), auth.Session{}); err != nil || gone.Name != name || gone.MaxAge >= 0 || gone.Value != "" {
			t.Errorf("expired cookie %+v", gone)
		}
	}
}

// Which sessions last is told for many at once, in their order, by the same limits as
// for a visit, and without a touch.
func TestAliveTogether(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := &memory{rows: map[string]auth.SessionRow{}}
	s := session.New(m, session.Options{Now: func() time.Time { return now }, Idle: time.Hour, Absolute: 3 * time.Hour})
	keys := map[string][]byte{"none": []byte("none")}
	for name, age := range map[string][2]time.Duration{"fresh": {0, 0}, "idle": {2 * time.Hour, time.Hour}, "over": {3 * time.Hour, 0}, "nearly over": {3*time.Hour - 1, time.Hour - 1}} {
		keys[name] = []byte(name)
		m.rows[name] = auth.SessionRow{Hash: keys[name], Expires: now.Add(3*time.Hour - age[0]), Seen: now.Add(-age[1])}
	}
	got, err := s.Alive(t.Context(), [][]byte{keys["none"], keys["fresh"], keys["idle"], keys["fresh"], keys["over"], keys["nearly over"]})
	if want := []bool{false, true, false, true, false, true}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	if !m.rows["nearly over"].Seen.Equal(now.Add(1 - time.Hour)) {
		t.Error("the session was touched")
	}
}
