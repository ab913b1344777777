package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
)

// maxListed is how many sessions, and how many devices, the account lists: the last used ones.
const maxListed = 500

// shownAccount is the answer of GET /auth/account. What is absent is null.
type shownAccount struct {
	User shownUser `json:"user"`
	// Recent is for how many seconds the session still counts as recent, 0 for one that does not.
	Recent int `json:"recent"`
	// Password reports whether the person has a password to sign in with.
	Password   bool            `json:"password"`
	Passkeys   []shownPasskey  `json:"passkeys"`
	Identities []shownIdentity `json:"identities"`
	Devices    []shownDevice   `json:"devices"`
	Sessions   []shownSession  `json:"sessions"`
	Tokens     bool            `json:"tokens"`
	Steps      []offeredStep   `json:"steps"`
}

type shownUser struct {
	ID    string  `json:"id"`
	Name  *string `json:"name"`
	Email *string `json:"email"`
}

// shownDevice is a device as its person sees it.
type shownDevice struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	LastUsed time.Time `json:"last_used"`
	Browser  *string   `json:"browser"`
}

// shownSession is a session as its person sees it.
type shownSession struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"last_seen"`
	// Current marks the session of the request.
	Current bool    `json:"current"`
	Browser *string `json:"browser"`
}

// Account answers GET /auth/account: who is signed in, what they sign in with, and where they are signed in.
func (p *Pipeline) Account() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		user, err := p.stillThere(r.Context(), who.UserID)
		if err != nil {
			return err
		}
		shown, err := p.showAccount(r.Context(), who, user)
		if err != nil {
			return err
		}
		if shown.Passkeys, err = p.ownPasskeys(r, user.ID); err != nil {
			return err
		}
		if shown.Identities, err = p.showIdentities(r.Context(), user); err != nil {
			return err
		}
		fault.WriteJSON(w, http.StatusOK, shown)
		return nil
	})
}

func (p *Pipeline) showAccount(ctx context.Context, who Principal, user User) (shownAccount, error) {
	out := shownAccount{
		User:   shownUser{ID: user.ID, Name: orNull(user.Name), Email: orNull(user.Email)},
		Recent: p.recentFor(who.Session), Password: !p.PasswordOff && password.Usable(user.Password),
		Passkeys: []shownPasskey{}, Devices: []shownDevice{}, Sessions: []shownSession{},
		Tokens: p.Rules.OwnTokens, Steps: p.offeredSteps(),
	}
	devices, err := p.ownDevices(ctx, user)
	if err != nil {
		return out, err
	}
	for _, d := range devices {
		out.Devices = append(out.Devices, shownDevice{deviceID(d), p.shownTime(d.Created), p.shownTime(d.Rotated), orNull(browserName(d.UserAgent))})
	}
	sessions, err := p.Sessions.List(ctx, user.ID, maxListed)
	if err != nil {
		return out, err
	}
	for _, s := range sessions {
		out.Sessions = append(out.Sessions, shownSession{
			rowID(s), p.shownTime(s.Created), p.shownTime(s.Seen), bytes.Equal(s.Hash, who.Session.Key), orNull(browserName(s.UserAgent)),
		})
	}
	return out, nil
}

// ownDevices returns the devices of a user that can still begin a session, the last used ones first.
func (p *Pipeline) ownDevices(ctx context.Context, user User) ([]Device, error) {
	all, err := p.Devices.List(ctx, user.ID, maxListed)
	if err != nil {
		return nil, err
	}
	var live []Device
	for _, d := range all {
		if p.isLive(d, user) {
			live = append(live, d)
		}
	}
	return live, nil
}

// orNull returns nil for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// shownTime returns when something has happened, for an answer.
func (p *Pipeline) shownTime(at time.Time) time.Time {
	return clock.Past(at, p.Now()).UTC().Truncate(time.Second)
}

// rowID names a stored session as [Session.ID] does.
func rowID(r SessionRow) string { return Session{Key: r.Hash}.ID() }

// deviceID names a device to its person. The device's cookie cannot be guessed from it, nor can anybody end the device
// with it who is not signed in.
func deviceID(d Device) string {
	sum := sha256.Sum256(append([]byte("vestibule device\x00"), d.Selector...))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// EndOwnSession answers DELETE /auth/account/sessions/{id}: it ends a session of the person's own, and the device that
// would begin it again.
func (p *Pipeline) EndOwnSession() http.Handler {
	return p.endOwn("session_end", func(ctx context.Context, user User, id string) (Session, error) {
		sessions, err := p.Sessions.List(ctx, user.ID, maxListed)
		for _, s := range sessions {
			if rowID(s) == id {
				return Session{Key: s.Hash, Device: s.Device}, err
			}
		}
		return Session{}, err
	})
}

// EndOwnDevice answers DELETE /auth/account/devices/{id}: it ends a device of the person's own with its sessions.
func (p *Pipeline) EndOwnDevice() http.Handler {
	return p.endOwn("device_end", func(ctx context.Context, user User, id string) (Session, error) {
		devices, err := p.ownDevices(ctx, user)
		for _, d := range devices {
			if deviceID(d) == id {
				return Session{Device: d.Selector}, err
			}
		}
		return Session{}, err
	})
}

// endOwn ends what find returns by the id in the path: a session, its device, or both. find returns the zero Session
// for an id that the user has nothing under.
func (p *Pipeline) endOwn(event string, find func(ctx context.Context, user User, id string) (Session, error)) http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		id := r.PathValue("id")
		var ended Session
		err = p.Tx.Settle(r.Context(), func(ctx context.Context) error {
			// The user first: locks are taken in the order user, devices, sessions.
			user, err := p.Users.Lock(ctx, who.UserID)
			if err != nil {
				return err
			}
			found, err := find(ctx, user, id)
			if err != nil || found.Key == nil && found.Device == nil {
				return err // what an earlier try ended is not found again
			}
			ended = found
			if ended.Device != nil {
				if err := p.endDevice(ctx, ended.Device); err != nil {
					return err
				}
			}
			_, err = p.Sessions.End(ctx, ended)
			return err
		})
		switch {
		case errors.Is(err, ErrNotFound):
			return &fault.Fault{Code: fault.Unauthenticated, Cause: err}
		case err != nil:
			return err
		case ended.Key == nil && ended.Device == nil:
			return &fault.Fault{Code: fault.NotFound}
		}
		if err := p.forgetEnded(w, r, who.Session, ended); err != nil {
			return err
		}
		p.audit(r, event, "user", who.UserID, "id", id)
		noContent(w)
		return nil
	})
}

// forgetEnded removes the browser's cookies where the person has ended the session that they asked with.
func (p *Pipeline) forgetEnded(w http.ResponseWriter, r *http.Request, own, ended Session) error {
	if !bytes.Equal(own.Key, ended.Key) && (own.Device == nil || !bytes.Equal(own.Device, ended.Device)) {
		return nil
	}
	cookie, err := p.Sessions.End(r.Context(), own)
	if err != nil {
		return err
	}
	setCookies(w, []*http.Cookie{cookie, p.deviceCookie("", -1)})
	return nil
}

// noContent answers that what was asked for is done.
func noContent(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// AccountScreen reports whether a request for /login gets the account screen, and returns the session with it: that is
// for people who are settled. Everybody else is redirected to /login, and returns to the screen after the last step.
func (p *Pipeline) AccountScreen(w http.ResponseWriter, r *http.Request) (Session, bool, error) {
	who, err := p.Authenticate(w, r)
	if err != nil {
		return Session{}, false, err
	}
	if who.SignedIn() && who.Settled {
		return who.Session, true, nil
	}
	login := "/login"
	if page := keepable(r.URL.RequestURI()); page != "" && who.Session.Unasked {
		login += "?redirect=" + url.QueryEscape(page) // each tab comes back to its own
	} else if err := p.KeepIntended(w, r, who.Session, page); err != nil {
		return Session{}, false, err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, login, http.StatusFound)
	return Session{}, false, nil
}
