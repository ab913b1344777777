package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/securecookie"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
)

// What is kept of a guest is kept for guestLifetime. A key is changed after
// keyLifetime; it signs once it is keyDelay old, so that every host has read it.
const (
	guestLifetime = time.Hour
	keyLifetime   = 30 * 24 * time.Hour
	keyDelay      = 10 * time.Minute
)

// Guests keeps the intended URL of a guest in a signed cookie: guests have no row,
// so that strangers cannot fill the database. It is safe for concurrent use.
type Guests struct {
	name   string
	secure bool
	now    func() time.Time
	ring   *keyring.Ring[*securecookie.SecureCookie]
}

// NewGuests returns guests whose cookie is named vestibule_guest, with the prefix
// "__Host-" when people reach the host over https. now is the clock; nil means
// time.Now.
func NewGuests(keys keyring.Keys, secure bool, now func() time.Time) *Guests {
	g := &Guests{name: "vestibule_guest", secure: secure, now: now}
	if secure {
		g.name = "__Host-" + g.name
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.ring = keyring.New(keys, keyring.Rules[*securecookie.SecureCookie]{
		Every: keyLifetime, Notice: keyDelay, Settled: keyLifetime,
		Make: func() ([]byte, error) {
			secret := make([]byte, 32)
			_, err := rand.Read(secret)
			return secret, err
		},
		Open: func(k keyring.Key) (*securecookie.SecureCookie, error) {
			// The codec's own limit of age goes by the machine's clock.
			return securecookie.New(k.Secret, nil).MaxAge(0).SetSerializer(securecookie.NopEncoder{}), nil
		},
	}, g.now)
	return g
}

// Refresh reads the keys, and changes them every 30 days. Call it before the first
// request, and then every few minutes.
func (g *Guests) Refresh(ctx context.Context) error {
	if err := g.ring.Refresh(ctx); err != nil {
		return fmt.Errorf("refresh the keys of guests: %w", err)
	}
	return nil
}

// Keep returns the cookie that keeps the page for an hour. It writes nothing.
func (g *Guests) Keep(page string) (*http.Cookie, error) {
	key, err := g.ring.Signing()
	if err != nil {
		return nil, fmt.Errorf("sign the page that a guest asked for: %w", err)
	}
	value, err := key.Encode(g.name, []byte(strconv.FormatInt(g.now().Unix(), 10)+" "+page))
	if err != nil {
		return nil, fmt.Errorf("sign the page that a guest asked for: %w", err)
	}
	return g.cookie(value, int(guestLifetime.Seconds())), nil
}

// Page returns the page that the request's cookie keeps, empty for none.
func (g *Guests) Page(r *http.Request) string {
	c, err := r.Cookie(g.name)
	if err != nil {
		return ""
	}
	var signed []byte
	for _, k := range g.ring.All() {
		if k.Key.Decode(g.name, c.Value, &signed) == nil {
			break
		}
	}
	stamp, page, _ := strings.Cut(string(signed), " ")
	at, err := strconv.ParseInt(stamp, 10, 64)
	if age := g.now().Sub(time.Unix(at, 0)); err != nil || age >= guestLifetime || age < -guestLifetime {
		return ""
	}
	return page
}

// Expired returns the cookie that removes the request's; nil where it has none.
func (g *Guests) Expired(r *http.Request) *http.Cookie {
	if _, err := r.Cookie(g.name); err != nil {
		return nil
	}
	return g.cookie("", -1)
}

func (g *Guests) cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: g.name, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: g.secure,
	}
}
