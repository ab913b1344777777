package auth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The cookie vestibule_known tells accounts which browsers have signed in to them. It
// opens nothing: a browser that is known goes on where strangers' guesses have used up
// what everybody has. It is signed with one secret that all hosts share and that never
// changes, because a person may come back after a year; so no row is kept of a browser.
//
// Two things end it before its year is over. A changed password ends that the browser is
// known, since whoever signed in with the old one may be the thief. It does not end that
// the browser has passed a held step: the owner sets a new password because of the thief,
// and must not lose the second factor by that.
const (
	knownLifetime = 365 * 24 * time.Hour
	knownSecret   = "known"
	// maxKnown is how many accounts one browser is known to, the last ones first, and
	// maxPassed how many steps of each it has passed.
	maxKnown  = 4
	maxPassed = 8
)

// The parts of an entry, in bytes.
const (
	entryVersion = 1
	partSize     = 16
	passedSize   = 8
	entrySize    = 1 + 4*partSize + 8
)

// A knownEntry is what the cookie says of one account. All but the id of the browser are
// keyed digests: the cookie names nobody.
type knownEntry struct {
	// browser is random, and stays the same while the account keeps the entry.
	browser []byte
	// user, login and password are digests of the user's id, of the login name and of the
	// stored hash when the person signed in; the last two are zero if they did not.
	user, login, password []byte
	at                    time.Time
	// passed are digests of the targets of held steps.
	passed [][]byte
}

// known is what a request's cookie says, and the key of its signatures.
type known struct {
	key     []byte
	entries []knownEntry
}

// readKnown returns what the request's cookie says. It reads the secret only if there is
// a cookie.
func (p *Pipeline) readKnown(r *http.Request) (known, error) {
	cookies := r.CookiesNamed(p.knownCookieName())
	if len(cookies) == 0 || p.Secrets == nil {
		return known{}, nil
	}
	key, err := p.knownKey(r.Context())
	if err != nil {
		return known{}, err
	}
	k := known{key: key}
	for _, text := range strings.SplitN(cookies[0].Value, ".", maxKnown+1) {
		if e, ok := k.parse(text); ok && len(k.entries) < maxKnown && p.Now().Sub(e.at) < knownLifetime {
			k.entries = append(k.entries, e)
		}
	}
	return k, nil
}

func (p *Pipeline) knownKey(ctx context.Context) ([]byte, error) {
	key, err := p.Secrets.Secret(ctx, knownSecret, random(32))
	if err != nil {
		return nil, fmt.Errorf("read the key of known browsers: %w", err)
	}
	return key, nil
}

// byLogin returns the entry of the account that the person signed in to with this login
// name, nil if there is none.
func (k known) byLogin(folded string) *knownEntry {
	return k.find(func(e knownEntry) bool { return hmac.Equal(e.login, k.digest("login", folded, partSize)) })
}

// byUser returns the entry of the user, nil if there is none.
func (k known) byUser(id string) *knownEntry {
	return k.find(func(e knownEntry) bool { return hmac.Equal(e.user, k.digest("user", id, partSize)) })
}

func (k known) find(is func(knownEntry) bool) *knownEntry {
	if i := slices.IndexFunc(k.entries, is); i >= 0 {
		return &k.entries[i]
	}
	return nil
}

// signedIn reports whether the browser has signed in to the user's account since the
// password was changed.
func (k known) signedIn(user User) bool {
	e := k.byUser(user.ID)
	return e != nil && hmac.Equal(e.password, k.digest("password", user.Password, partSize))
}

// passedBy returns the id of the browser if it has passed the step of the user that holds
// at target, and otherwise "".
func (k known) passedBy(userID, target string) string {
	e := k.byUser(userID)
	if e == nil || !e.has(k.digest("step", target, passedSize)) {
		return ""
	}
	return hex.EncodeToString(e.browser)
}

func (e knownEntry) has(step []byte) bool {
	return slices.ContainsFunc(e.passed, func(p []byte) bool { return hmac.Equal(p, step) })
}

// withSignIn returns what the cookie says after the user has signed in.
func (k known) withSignIn(user User, folded string, now time.Time) known {
	return k.with(user.ID, now, func(e *knownEntry) {
		e.at = now
		e.login, e.password = k.digest("login", folded, partSize), k.digest("password", user.Password, partSize)
	})
}

// withPassed returns what the cookie says after the user has passed the step that held
// at target.
func (k known) withPassed(userID, target string, now time.Time) known {
	return k.with(userID, now, func(e *knownEntry) {
		step := k.digest("step", target, passedSize)
		if e.has(step) {
			return
		}
		e.passed = append([][]byte{step}, e.passed...)
		e.passed = e.passed[:min(len(e.passed), maxPassed)]
	})
}

// with changes the entry of the user, which comes first then.
func (k known) with(userID string, now time.Time, change func(*knownEntry)) known {
	mine := knownEntry{
		browser: random(partSize), user: k.digest("user", userID, partSize),
		login: make([]byte, partSize), password: make([]byte, partSize), at: now,
	}
	if e := k.byUser(userID); e != nil {
		mine = *e
	}
	change(&mine)
	next := known{key: k.key, entries: []knownEntry{mine}}
	for _, e := range k.entries {
		if !bytes.Equal(e.user, mine.user) && len(next.entries) < maxKnown {
			next.entries = append(next.entries, e)
		}
	}
	return next
}

// knowBrowser returns the cookie after change, nil if it cannot be made. What it is for
// has succeeded already, so a failure is only logged.
func (p *Pipeline) knowBrowser(r *http.Request, k known, change func(known) known) *http.Cookie {
	if p.Secrets == nil {
		return nil
	}
	if k.key == nil {
		var err error
		if k.key, err = p.knownKey(r.Context()); err != nil {
			p.Logger.Warn("the browser is not known at the next sign-in", "request_id", RequestOf(r.Context()).ID, "cause", err)
			return nil
		}
	}
	return &http.Cookie{
		Name: p.knownCookieName(), Value: change(k).String(), Path: "/", MaxAge: int(knownLifetime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: p.Secure,
	}
}

func (p *Pipeline) knownCookieName() string {
	if p.Secure {
		return "__Host-vestibule_known"
	}
	return "vestibule_known"
}

// String returns the value of the cookie.
func (k known) String() string {
	texts := make([]string, len(k.entries))
	for i, e := range k.entries {
		b := slices.Concat([]byte{entryVersion}, e.browser, e.user, e.login, e.password)
		b = binary.BigEndian.AppendUint64(b, uint64(e.at.Unix()))
		b = append(b, bytes.Join(e.passed, nil)...)
		texts[i] = base64.RawURLEncoding.EncodeToString(append(b, k.digest("cookie", string(b), sha256.Size)...))
	}
	return strings.Join(texts, ".")
}

// parse returns the entry that a text holds if its signature is ours.
func (k known) parse(text string) (knownEntry, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	signed := len(b) - sha256.Size
	if err != nil || signed < entrySize || signed > entrySize+maxPassed*passedSize || (signed-entrySize)%passedSize != 0 {
		return knownEntry{}, false
	}
	b, mac := b[:signed], b[signed:]
	if b[0] != entryVersion || !hmac.Equal(mac, k.digest("cookie", string(b), sha256.Size)) {
		return knownEntry{}, false
	}
	part := func(i int) []byte { return b[1+i*partSize : 1+(i+1)*partSize] }
	e := knownEntry{browser: part(0), user: part(1), login: part(2), password: part(3)}
	e.at = time.Unix(int64(binary.BigEndian.Uint64(b[1+4*partSize:])), 0) //nolint:gosec // written by String
	for step := range slices.Chunk(b[entrySize:], passedSize) {
		e.passed = append(e.passed, step)
	}
	return e, true
}

// digest returns the first size bytes of the keyed digest of a text for one purpose.
func (k known) digest(purpose, text string, size int) []byte {
	m := hmac.New(sha256.New, k.key)
	m.Write([]byte(purpose + "\x00" + text))
	return m.Sum(nil)[:size]
}
