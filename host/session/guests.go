package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/securecookie"
)

// A Key signs the cookies of guests.
type Key struct {
	Created time.Time
	// Secret is 32 random bytes.
	Secret []byte
}

// Keys keeps the keys that all hosts share. It is safe for concurrent use.
type Keys interface {
	// CurrentKeys returns the newest key and the one before it, if any, the newest
	// first. Where the newest is at least as old as every when fresh was made, or
	// there is none, fresh becomes the newest; of several hosts that try one does.
	CurrentKeys(ctx context.Context, fresh Key, every time.Duration) ([]Key, error)
}

// What is kept of a guest is kept for guestLifetime. A key is changed after
// keyLifetime; it signs once it is keyDelay old, so that every host has read it.
const (
	guestLifetime = time.Hour
	keyLifetime   = 30 * 24 * time.Hour
	keyDelay      = 10 * time.Minute
)

// ErrNoKeys is returned before the first [Guests.Refresh].
var ErrNoKeys = errors.New("the keys of guests were not read yet")

// Guests keeps the intended URL of a guest in a signed cookie: guests have no row,
// so that strangers cannot fill the database. It is safe for concurrent use.
type Guests struct {
	name   string
	secure bool
	now    func() time.Time
	keys   Keys
	ring   atomic.Pointer[ring]
}

// A ring holds the codecs of the keys: signs is that of new cookies, of the key secret.
type ring struct {
	signs  *securecookie.SecureCookie
	secret []byte
	all    []securecookie.Codec
	// derived are other secrets by their purpose.
	derived sync.Map
}

// NewGuests returns guests whose cookie is named vestibule_guest, with the prefix
// "__Host-" when people reach the host over https. now is the clock; nil means
// time.Now.
func NewGuests(keys Keys, secure bool, now func() time.Time) *Guests {
	g := &Guests{name: "vestibule_guest", secure: secure, now: now, keys: keys}
	if secure {
		g.name = "__Host-" + g.name
	}
	if g.now == nil {
		g.now = time.Now
	}
	return g
}

// Refresh reads the keys, and changes them every 30 days. Call it before the first
// request, and then every few minutes.
func (g *Guests) Refresh(ctx context.Context) error {
	fresh := Key{Created: g.now(), Secret: make([]byte, 32)}
	if _, err := rand.Read(fresh.Secret); err != nil {
		return fmt.Errorf("make a key for guests: %w", err)
	}
	keys, err := g.keys.CurrentKeys(ctx, fresh, keyLifetime)
	if err != nil {
		return fmt.Errorf("refresh the keys of guests: %w", err)
	}
	next := &ring{}
	for _, k := range keys {
		// The codec's own limit of age goes by the machine's clock.
		codec := securecookie.New(k.Secret, nil).MaxAge(0).SetSerializer(securecookie.NopEncoder{})
		next.all = append(next.all, codec)
		if next.signs == nil && g.now().Sub(k.Created) >= keyDelay {
			next.signs, next.secret = codec, k.Secret
		}
	}
	if next.signs == nil { // the oldest, which the others have read first
		next.signs, _ = next.all[len(next.all)-1].(*securecookie.SecureCookie)
		next.secret = keys[len(keys)-1].Secret
	}
	g.ring.Store(next)
	return nil
}

// Derived returns 32 secret bytes for another purpose, which are the same on all hosts that have read the keys, and
// others when the key of new cookies is another. They tell nothing of that key. All callers share them: nobody may write
// to them. nil comes before the first [Guests.Refresh].
func (g *Guests) Derived(purpose string) []byte {
	keys := g.ring.Load()
	if keys == nil {
		return nil
	}
	if made, ok := keys.derived.Load(purpose); ok {
		return made.([]byte) // as it is stored below
	}
	mac := hmac.New(sha256.New, keys.secret)
	_, _ = mac.Write([]byte("derived for " + purpose)) // a hash takes everything
	made := mac.Sum(nil)
	keys.derived.Store(purpose, made)
	return made
}

// Keep returns the cookie that keeps the page for an hour. It writes nothing.
func (g *Guests) Keep(page string) (*http.Cookie, error) {
	keys := g.ring.Load()
	if keys == nil {
		return nil, ErrNoKeys
	}
	value, err := keys.signs.Encode(g.name, []byte(strconv.FormatInt(g.now().Unix(), 10)+" "+page))
	if err != nil {
		return nil, fmt.Errorf("sign the page that a guest asked for: %w", err)
	}
	return g.cookie(value, int(guestLifetime.Seconds())), nil
}

// Page returns the page that the request's cookie keeps, empty for none.
func (g *Guests) Page(r *http.Request) string {
	c, err := r.Cookie(g.name)
	keys := g.ring.Load()
	if err != nil || keys == nil {
		return ""
	}
	var signed []byte
	if securecookie.DecodeMulti(g.name, c.Value, &signed, keys.all...) != nil {
		return ""
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
