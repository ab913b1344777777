package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// A newPassword holds a new password, typed twice.
type newPassword struct{ password, confirmation string }

// fields are the fields of a form with a new password. An empty one is too short.
func (n *newPassword) fields() []form.Field {
	return []form.Field{
		{Name: "password", Into: &n.password, Secret: true, Optional: true},
		{Name: "password_confirmation", Into: &n.confirmation, Secret: true, Optional: true},
	}
}

// checkNew returns the fault of a new password that the rules refuse.
func (p *Pipeline) checkNew(in newPassword, user User) error {
	if in.password != in.confirmation {
		return fault.Invalid("password", "password_confirmation_mismatch")
	}
	login, _ := user.Columns[p.LoginField].(string)
	if code := p.checkPassword(user.Password, in.password, user.Email, user.Name, login); code != "" {
		return fault.Invalid("password", code)
	}
	return nil
}

// hashAsked hashes a new password of the user for the client that has sent it.
func (p *Pipeline) hashAsked(r *http.Request, user User, plain string) (string, error) {
	request := RequestOf(r.Context())
	began := time.Now()
	hash, err := p.hasher.Hash(r.Context(), request.Network, user.Password, plain)
	request.SpendHashing(began)
	return hash, busyFault(err)
}

// ChangePassword answers POST /auth/account/password: it sets the password of a person who has just proved who they are,
// gives the session a new id, and ends all others.
func (p *Pipeline) ChangePassword() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		who, err := p.fresh(w, r)
		if err != nil {
			return err
		}
		if p.PasswordOff {
			return &fault.Fault{Code: fault.PasswordSignInOff}
		}
		in, err := readNewPassword(r)
		if err != nil {
			return err
		}
		user, err := p.stillThere(r.Context(), who.UserID)
		if err != nil {
			return err
		}
		if err := p.checkNew(in, user); err != nil {
			return err
		}
		// Each change sends a mail, and adds a row to the table of audit.
		if err := p.takeAttempt(r, Counter{Kind: countOwnPassword, Login: user.ID}, p.Attempts, "password"); err != nil {
			return err
		}
		if user.Password, err = p.hashAsked(r, user, in.password); err != nil {
			return err
		}
		cookies, err := p.changePassword(r, who, user)
		if err != nil {
			return err
		}
		setCookies(w, cookies)
		p.knowOwner(w, r, user)
		noContent(w)
		return nil
	})
}

func readNewPassword(r *http.Request) (newPassword, error) {
	f, err := form.Read(r)
	if err != nil {
		return newPassword{}, err
	}
	var in newPassword
	err = f.Texts(in.fields()...)
	return in, err
}

// changePassword writes the password of user, which is hashed, and returns the cookies of the session under its new id.
func (p *Pipeline) changePassword(r *http.Request, who Principal, user User) ([]*http.Cookie, error) {
	var begun Session
	var cookies []*http.Cookie
	change := credentialChange{
		event:    "password_change",
		happened: func(ctx context.Context) (bool, error) { return p.hasBegun(ctx, begun) },
		apply: func(ctx context.Context, _ User) (string, error) {
			s, err := p.lockSession(ctx, who.Session, user.ID)
			if err != nil {
				return "", err
			}
			if err := p.replacePassword(ctx, user.ID, user.Password, p.Site.Locale(r), p.Site.Base(r), browserName(r.UserAgent())); err != nil {
				return "", err
			}
			next := s
			next.Device = nil // which has ended with all others
			begun, cookies, err = p.Sessions.Renew(ctx, r, s, next)
			return p.LoginName(user), err
		},
	}
	var err error
	for range maxAsks {
		if err = p.changeCredential(r, who, change); !errors.Is(err, ErrSessionGone) {
			break
		}
	}
	if errors.Is(err, ErrSessionGone) {
		return nil, overtaken(err)
	}
	if err != nil {
		return nil, err
	}
	RequestOf(r.Context()).note(p.principal(begun, WaySession))
	if p.readDeviceCookie(r).selector != nil {
		cookies = append(cookies, p.deviceCookie("", -1))
	}
	return cookies, nil
}

// lockSession returns the session of the user as it is stored, with what another tab has kept in it since, and keeps others
// from writing to it or ending it before the transaction ends. It ends the devices of the user first: locks are taken in
// the order user, devices, sessions.
func (p *Pipeline) lockSession(ctx context.Context, loaded Session, userID string) (Session, error) {
	if err := p.Devices.DeleteUser(ctx, userID); err != nil {
		return Session{}, err
	}
	s, err := p.Sessions.Reload(ctx, loaded)
	if err == nil && !s.SignedIn() {
		err = ErrNotFound
	}
	if err != nil {
		return Session{}, err
	}
	return s, p.Sessions.Update(ctx, s)
}

// overtaken is the fault of a change for which the session was written to by other requests at the same moment.
func overtaken(cause error) error {
	return &fault.Fault{Code: fault.Unavailable, RetryAfter: retryAfter, Cause: cause}
}
