package session_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/keyring"
	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// shared is a keyring.Keys in memory.
type shared struct{ keys []keyring.Key }

func (s *shared) CurrentKeys(_ context.Context, fresh keyring.Key, every, _ time.Duration) ([]keyring.Key, error) {
	if len(s.keys) == 0 || fresh.Created.Sub(s.keys[0].Created) >= every {
		s.keys = append([]keyring.Key{fresh}, s.keys...)
	}
	return slices.Clone(s.keys[:min(2, len(s.keys))]), nil
}

// hosts are two hosts that share keys and a clock.
type hosts struct {
	*testing.T
	keys shared
	now  time.Time
	a, b *session.Guests
}

func newHosts(t *testing.T, secure bool) *hosts {
	h := &hosts{T: t, now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	h.a, h.b = session.NewGuests(&h.keys, secure, clock), session.NewGuests(&h.keys, secure, clock)
	h.refresh(h.a, h.b)
	return h
}

func (h *hosts) refresh(all ...*session.Guests) {
	h.Helper()
	for _, g := range all {
		if err := g.Refresh(h.Context()); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *hosts) keep(g *session.Guests, page string) *http.Cookie {
	h.Helper()
	c, err := g.Keep(page)
	if err != nil {
		h.Fatal(err)
	}
	return c
}

func page(g *session.Guests, c *http.Cookie) string {
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(c)
	return g.Page(r)
}

// A page is kept for an hour, with all that a path may have, and every host that
// shares the keys reads it.
func TestGuestPage(t *testing.T) {
	h := newHosts(t, false)
	for _, want := range []string{"/", "/a b?c=d%20e&f=<>;\"ä\"", "/" + strings.Repeat("x", 2047)} {
		c := h.keep(h.a, want)
		if size := len(c.Name) + len(c.Value); size > 4096 {
			t.Errorf("a cookie of %d bytes: browsers keep 4096", size)
		}
		if got := page(h.b, c); got != want {
			t.Errorf("%.40q, want %.40q", got, want)
		}
	}
	c := h.keep(h.a, "/page")
	h.now = h.now.Add(time.Hour - time.Second)
	if page(h.b, c) != "/page" {
		t.Error("forgotten within the hour")
	}
	h.now = h.now.Add(time.Second)
	if got := page(h.b, c); got != "" {
		t.Errorf("%q after an hour", got)
	}
}

func TestGuestCookie(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := newHosts(t, secure)
		c := h.keep(h.a, "/page")
		if c.Secure != secure || strings.HasPrefix(c.Name, "__Host-") != secure || !strings.HasSuffix(c.Name, "vestibule_guest") ||
			!c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 3600 || c.Domain != "" {
			t.Errorf("secure %v: cookie %v", secure, c)
		}
		r := httptest.NewRequest("GET", "/", nil)
		if h.a.Expired(r) != nil {
			t.Error("a cookie that is not there is removed")
		}
		r.AddCookie(c)
		if gone := h.a.Expired(r); gone == nil || gone.Name != c.Name || gone.MaxAge >= 0 {
			t.Errorf("removed by %v", gone)
		}
	}
}

// What the keys have not signed is no page.
func TestGuestCookieIsSigned(t *testing.T) {
	h := newHosts(t, false)
	c, other := h.keep(h.a, "/page"), newHosts(t, false).keep
	for name, value := range map[string]string{
		"empty": "", "garbage": "x", "cut short": c.Value[:len(c.Value)-2], "changed": "A" + c.Value[1:],
		"signed by other keys": other(newHosts(t, false).a, "/page").Value,
	} {
		if got := page(h.b, &http.Cookie{Name: c.Name, Value: value}); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := session.NewGuests(&h.keys, false, nil).Keep("/page"); err == nil {
		t.Error("signed without a key")
	}
}

// Keys change every 30 days. The new one signs when all hosts have read it, and the
// last one is accepted for as long as its cookies live.
func TestGuestKeysChange(t *testing.T) {
	h := newHosts(t, false)
	h.now = h.now.Add(30*24*time.Hour - time.Second)
	h.refresh(h.a, h.b)
	if len(h.keys.keys) != 1 {
		t.Fatalf("%d keys, want one", len(h.keys.keys))
	}
	h.now = h.now.Add(time.Second)
	before := h.keep(h.b, "/before")
	h.refresh(h.a) // b has not read the new key yet
	if len(h.keys.keys) != 2 || page(h.b, h.keep(h.a, "/page")) != "/page" {
		t.Errorf("%d keys; a host that has not read the new one must know what signs", len(h.keys.keys))
	}
	h.now = h.now.Add(10 * time.Minute)
	h.refresh(h.a, h.b)
	after := h.keep(h.a, "/after")
	h.keys.keys = h.keys.keys[:1] // the new one alone
	h.refresh(h.b)
	if page(h.b, after) != "/after" || page(h.a, before) != "/before" || page(h.b, before) != "" {
		t.Error("the new key signs, and the last one is accepted where it is known")
	}
}
