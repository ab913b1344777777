package session_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// memory is a Backend in a map, and counts writes.
type memory struct {
	rows    map[string]session.Record
	writes  int
	touches int
}

func (m *memory) FindSession(_ context.Context, hash []byte) (session.Record, error) {
	r, ok := m.rows[string(hash)]
	if !ok {
		return r, session.ErrNotFound
	}
	return r, nil
}

func (m *memory) CreateSession(_ context.Context, r session.Record) error {
	m.writes++
	m.rows[string(r.Hash)] = r
	return nil
}

func (m *memory) UpdateSession(_ context.Context, r session.Record) error {
	old, ok := m.rows[string(r.Hash)]
	if !ok || old.Version != r.Version {
		return session.ErrNotFound
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
	m := &memory{rows: map[string]session.Record{}}
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
	quick, _ := visit(t, s, cookie)
	if _, err := s.End(t.Context(), quick); err != nil {
		t.Fatal(err)
	}
	slow.Values["a"] = "c"
	if err := s.Save(slowRequest, httptest.NewRecorder(), slow); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
	if len(m.rows) != 0 {
		t.Error("the session is back")
	}
}

func TestTouch(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["a"] = "b"
	cookie := save(t, s, sess, r)
	for _, step := range []struct {
		after   time.Duration
		touches int
	}{{30 * time.Second, 0}, {31 * time.Second, 1}, {59 * time.Second, 1}, {time.Second, 2}} {
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
	s, _ := newStore(&now)
	f.Fuzz(func(t *testing.T, data []byte) {
		sess, err := s.Restore(session.Record{Data: data})
		if (sess == nil) != (err != nil) {
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
		if _, err := s.New(r, s.Name()); err != nil {
			b.Fatal(err)
		}
	}
}
