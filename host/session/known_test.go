package session_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// named is a request with a cookie.
func named(s *session.Store, cookie string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: s.Name(), Value: cookie})
	return r
}

// A remembered session is presumed until a visit would have to be noted, or it is over, and opens nothing.
func TestKnownSessions(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, m := newStore(&now)
	sess, r := visit(t, s, "")
	sess.Values["name"] = "Ada"
	cookie := save(t, s, sess, r)
	if _, ok := s.Presume(named(s, cookie)); ok {
		t.Error("presumed before anybody remembered")
	}
	sess, _ = visit(t, s, cookie)
	s.Remember(sess)
	rec, ok := s.Presume(named(s, cookie))
	if !ok || rec.Version != 1 {
		t.Fatal("not remembered:", ok, rec.Version)
	}
	for name, other := range map[string]string{"none": "", "no cookie of ours": "x", "another": strings.Repeat("A", 43)} {
		if _, ok := s.Presume(named(s, other)); ok {
			t.Error(name, "is presumed")
		}
	}

	clear(m.rows)
	if got, _ := visit(t, s, cookie); !got.IsNew {
		t.Error("presumed, and not read")
	}

	now = now.Add(time.Minute)
	if _, ok := s.Presume(named(s, cookie)); ok {
		t.Error("presumed when the visit is to be noted")
	}
	now = now.Add(-time.Minute)
	s.Forget(named(s, cookie))
	if _, ok := s.Presume(named(s, cookie)); ok {
		t.Error("presumed when forgotten")
	}
}

// What is remembered has bounds.
func TestKnownSessionsAreBounded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, _ := newStore(&now)
	var cookies []string
	for range 20_000 {
		sess, r := visit(t, s, "")
		sess.Values["name"] = "Ada"
		cookies = append(cookies, save(t, s, sess, r))
		s.Remember(sess)
	}
	known := 0
	for _, cookie := range cookies {
		if _, ok := s.Presume(named(s, cookie)); ok {
			known++
		}
	}
	if known > 2*8<<10 || known < 3<<10 {
		t.Errorf("%d are remembered", known)
	}
	sess, r := visit(t, s, "")
	sess.Values["much"] = strings.Repeat("x", 1<<10)
	cookie := save(t, s, sess, r)
	s.Remember(sess)
	if _, ok := s.Presume(named(s, cookie)); ok {
		t.Error("a session with much in it is remembered")
	}
}
