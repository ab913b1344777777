package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/clock"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// grace is how long after a rotation the verifier before it still works, for
// tabs and retries that were on their way with it.
const grace = 30 * time.Second

// deviceLife is how long a device lasts after its sign-in, however often it is used.
const deviceLife = 365 * 24 * time.Hour

const selectorSize, verifierSize = 16, 32

// A deviceToken is what a device's cookie holds.
type deviceToken struct{ selector, verifier []byte }

// readDeviceCookie returns the device token of the request; its selector is nil
// when there is none.
func (p *Pipeline) readDeviceCookie(r *http.Request) deviceToken {
	c, err := r.Cookie(p.deviceCookieName())
	if err != nil {
		return deviceToken{}
	}
	return parseDeviceToken(c.Value)
}

func parseDeviceToken(value string) deviceToken {
	b, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(b) != selectorSize+verifierSize {
		return deviceToken{}
	}
	return deviceToken{b[:selectorSize], b[selectorSize:]}
}

func (t deviceToken) String() string {
	return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(t.selector), t.verifier...))
}

func (p *Pipeline) deviceCookieName() string {
	if p.Secure {
		return "__Host-vestibule_remember"
	}
	return "vestibule_remember"
}

func (p *Pipeline) deviceCookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: p.deviceCookieName(), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: p.Secure,
	}
}

// newDevice keeps the browser signed in and returns the device's selector and
// cookie.
func (p *Pipeline) newDevice(ctx context.Context, r *http.Request, user User, s Session) ([]byte, *http.Cookie, error) {
	secret, err := p.Users.EnsureDeviceSecret(ctx, user.ID, token())
	if err != nil {
		return nil, nil, fmt.Errorf("bind the device: %w", err)
	}
	t := deviceToken{random(selectorSize), random(verifierSize)}
	now := p.Now()
	address := RequestOf(r.Context()).Client
	values, err := keptValues(s)
	if err != nil {
		return nil, nil, err
	}
	err = p.Devices.Create(ctx, Device{
		Selector: t.selector, UserID: user.ID, Verifier: digest(t.verifier), Binding: digest([]byte(secret)),
		Intent: keptStep(s), Values: values, UserAgent: words.Printable(r.UserAgent(), reserved.MaxLogin), Address: address,
		Created: s.Proved, Rotated: now, Expires: p.deviceEnds(s.Proved, now),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("keep the device: %w", err)
	}
	return t.selector, p.freshCookie(t, s.Proved), nil
}

// deviceEnds returns when a device ends that is used now: after the given time without
// another use, and a year after its sign-in at the latest.
func (p *Pipeline) deviceEnds(created, now time.Time) time.Time {
	return clock.Within(clock.Past(created, now).Add(deviceLife), now, p.Remember)
}

// freshCookie returns the cookie of a token that is handed out now.
func (p *Pipeline) freshCookie(t deviceToken, created time.Time) *http.Cookie {
	now := p.Now()
	return p.deviceCookie(t.String(), int(p.deviceEnds(created, now).Sub(now).Seconds()))
}

// endDevice ends a device and the sessions that belong to it.
func (p *Pipeline) endDevice(ctx context.Context, selector []byte) error {
	if err := p.Devices.Delete(ctx, selector); err != nil {
		return err
	}
	return p.Sessions.EndDevice(ctx, selector)
}

// resumeSession begins a new session for a guest whose browser presents a valid
// device token; the new cookies are set on w. It returns the zero Session
// otherwise.
func (p *Pipeline) resumeSession(w http.ResponseWriter, r *http.Request, guest Session) (Session, error) {
	t := p.readDeviceCookie(r)
	if t.selector == nil {
		return Session{}, nil
	}
	s, cookies, err := p.resumeFromDevice(r, guest, t)
	if err != nil {
		return Session{}, err
	}
	setCookies(w, cookies)
	return s, nil
}

// resumeFromDevice exchanges a device token for a session and the next token.
// When the token is not valid, the cookie is removed. When it was valid before
// the last rotation, the device ends, since a copy of the token may be in use
// elsewhere.
func (p *Pipeline) resumeFromDevice(r *http.Request, guest Session, t deviceToken) (Session, []*http.Cookie, error) {
	expired := []*http.Cookie{p.deviceCookie("", -1)}
	// Made-up tokens do not get as far as a transaction.
	named, err := p.Devices.Find(r.Context(), t.selector)
	if err != nil {
		return Session{}, expired, ignoreNotFound(err)
	}
	s, cookies, replayed := Session{}, expired, false
	err = p.Tx.Settle(r.Context(), func(ctx context.Context) error {
		// Settle repeats this if the answer to a commit was lost; s is then the session of the try before.
		if done, err := p.hasBegun(ctx, s); err != nil || done {
			return err
		}
		s, cookies = Session{}, expired
		device, err := p.lockDevice(ctx, t, named.UserID)
		if errors.Is(err, ErrNotFound) { // it must not come back with its user
			return p.endDevice(ctx, t.selector)
		}
		if err != nil {
			return err
		}
		next, valid, err := p.rotate(ctx, r, device, t)
		if err != nil {
			return ignoreNotFound(err)
		}
		if !valid {
			replayed = true
			return p.endDevice(ctx, t.selector)
		}
		if s, err = p.sessionOf(device); err != nil {
			return err
		}
		s.Intended = cmp.Or(guest.Intended, s.Intended) // what was asked for now comes first
		var renewed []*http.Cookie
		s, renewed, err = p.Sessions.Renew(ctx, r, guest, s)
		cookies = append(renewed, p.freshCookie(next, device.Created))
		return err
	})
	if err != nil {
		return Session{}, nil, err
	}
	switch {
	case s.SignedIn():
		RequestOf(r.Context()).note(p.principal(s, WayDevice))
		p.audit(r, "resumed", "user", named.UserID)
	case replayed: // by an earlier try, if the answer to its commit was lost
		p.audit(r, "replay", "user", named.UserID)
	}
	return s, cookies, nil
}

// sessionOf returns the session that a device begins: with the step that was open, the
// page that the person meant to go to, and the plugins' values. Without an open step the
// dispenser, if there is one, is to be asked before the session is settled: much may have
// changed since it was last. The same is true of a step that this release cannot read, as
// after a return to an older one: it is not known to be done.
func (p *Pipeline) sessionOf(device Device) (Session, error) {
	s := Session{UserID: device.UserID, Device: device.Selector, Proved: device.Created, Proof: proofDevice}
	var err error
	if s.Values, err = restoreValues(device.Values); err != nil {
		return s, err
	}
	if device.Intent == nil {
		s.Unasked = len(p.Dispensers()) > 0
		return s, nil
	}
	open := new(OpenIntent)
	if err := json.Unmarshal(device.Intent, open); err != nil || open.Ends() {
		s.Unasked = true
	} else {
		s.Intent = open
	}
	s.Intended = restoreIntended(device.Intent)
	return s, nil
}

// lockDevice returns the live device of the user that a token names, or
// ErrNotFound. The rows of the user and of the device stay locked, so that a
// reset, a disabling or a sign-out waits for the session that may follow, and
// ends it.
func (p *Pipeline) lockDevice(ctx context.Context, t deviceToken, userID string) (Device, error) {
	user, err := p.Users.Lock(ctx, userID)
	if err != nil {
		return Device{}, err
	}
	// Another tab or a reset may have changed the device before these locks were
	// taken.
	device, err := p.Devices.Lock(ctx, t.selector)
	if err != nil {
		return Device{}, err
	}
	if !p.isLive(device, user) {
		return Device{}, ErrNotFound
	}
	return device, nil
}

// isLive reports whether a device is the user's and can begin a session.
func (p *Pipeline) isLive(device Device, user User) bool {
	now := p.Now()
	over := !now.Before(device.Expires) || !now.Before(device.Created.Add(deviceLife)) || device.UserID != user.ID
	return !over && user.MaySignIn() && user.DeviceSecret != "" && equal(device.Binding, digest([]byte(user.DeviceSecret)))
}

// rotate replaces the verifier that the token holds, and reports whether it was
// valid. Parallel requests with the same verifier get the same successor, which
// therefore is derived from it and from a nonce that only the server knows.
func (p *Pipeline) rotate(ctx context.Context, r *http.Request, device Device, t deviceToken) (deviceToken, bool, error) {
	old, now := digest(t.verifier), p.Now()
	if device.Previous != nil && equal(old, device.Previous) && now.Sub(device.Rotated) <= grace {
		return deviceToken{t.selector, derive(t.verifier, device.Nonce)}, true, p.putGraceRight(ctx, device, now)
	}
	if !equal(old, device.Verifier) {
		return deviceToken{}, false, nil
	}
	next := device
	next.Nonce = random(16)
	successor := derive(t.verifier, next.Nonce)
	next.Previous, next.Verifier = old, digest(successor)
	next.Rotated, next.Expires = now, p.deviceEnds(device.Created, now)
	next.UserAgent = words.Printable(r.UserAgent(), reserved.MaxLogin)
	next.Address = RequestOf(r.Context()).Client
	rotated, err := p.Devices.Rotate(ctx, next, old)
	if err == nil && !rotated {
		err = ErrNotFound // the device ended meanwhile
	}
	return deviceToken{t.selector, successor}, true, err
}

// putGraceRight lets the grace end that a clock which ran ahead has begun: it begins now,
// and not anew with each use of the verifier before.
func (p *Pipeline) putGraceRight(ctx context.Context, device Device, now time.Time) error {
	if !clock.Ahead(device.Rotated, now) {
		return nil
	}
	device.Rotated = now
	rotated, err := p.Devices.Rotate(ctx, device, device.Verifier)
	if err == nil && !rotated {
		err = ErrNotFound // the device ended meanwhile
	}
	return err
}

func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func derive(verifier, nonce []byte) []byte {
	m := hmac.New(sha256.New, verifier)
	m.Write(nonce)
	return m.Sum(nil)
}

func digest(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

func equal(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
