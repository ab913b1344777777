package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// Login answers POST /auth/login: it checks the password, asks the dispenser for
// the first intent, and starts the session, all or nothing.
func (p *Pipeline) Login() http.Handler { return p.serve(p.byPassword(p.login)) }

type credentials struct {
	login, password string
	remember        bool
}

func (p *Pipeline) login(w http.ResponseWriter, r *http.Request) error {
	in, err := readCredentials(r)
	if err != nil {
		return err
	}
	a, err := p.takeLogin(r, in.login)
	if err != nil {
		return err
	}
	user, step, cookies, err := p.signIn(r, in, a)
	if errors.Is(err, errChanged) {
		// The hash that the password was compared with is no longer the user's:
		// another sign-in has renewed it, or the password was changed. Look again.
		p.refundAttempt(r, a.account)
		user, step, cookies, err = p.signIn(r, in, a)
	}
	if errors.Is(err, errChanged) {
		return fault.Invalid("login", "credentials_do_not_match")
	}
	if err != nil {
		return err
	}
	setCookies(w, cookies)
	if c := p.knowBrowser(r, a.known, func(k known) known { return k.withSignIn(user, folded(in.login), p.Now()) }); c != nil {
		http.SetCookie(w, c)
	}
	p.audit(r, "login", "user", user.ID, "intent", step.intent.Kind())
	fault.WriteJSON(w, http.StatusOK, map[string]any{"message": "login_success", "next": step.intent.Envelope()})
	return nil
}

// errChanged is returned when a user's row changed after the password was
// compared, so that its result is no longer valid.
var errChanged = errors.New("the user was changed in the meantime")

// signIn checks the password, asks for the first intent and starts the session.
func (p *Pipeline) signIn(r *http.Request, in credentials, a *attempt) (User, step, []*http.Cookie, error) {
	user, err := p.authenticate(r, in, a)
	if isBusy(err) {
		err = p.refundLogin(r, a, err)
	}
	if err != nil {
		return user, step{}, nil, err
	}
	guest, err := p.load(r)
	if err != nil {
		return user, step{}, nil, err
	}
	next := Session{UserID: user.ID, Proved: p.Now(), Proof: proofPassword}
	if !guest.SignedIn() || guest.UserID == user.ID {
		next.Intended = guest.Intended
	}
	first, cookies, err := p.begin(r, in.remember, user, guest, next, a)
	if err != nil && !errors.Is(err, errChanged) {
		err = p.refundLogin(r, a, err)
	}
	return user, first, cookies, err
}

// begin asks for the first intent and starts the session; again, with fresh columns,
// where an effect is to replace a value that a column no longer has.
func (p *Pipeline) begin(r *http.Request, remember bool, user User, guest, next Session, a *attempt) (step, []*http.Cookie, error) {
	var failure, err error
	if a.link, err = p.pendingLink(r); err != nil {
		return step{}, nil, err
	}
	for range maxAsks {
		first, err := p.dispense(r, user, next, question{before: a.before})
		if err != nil {
			return first, nil, err
		}
		cookies, err := p.start(r, remember, user, guest, next, first, a)
		if errors.Is(err, identity.ErrSpent) { // another tab has signed in with it
			a.link, failure = nil, err
			continue
		}
		if !onceMore(err) {
			return first, cookies, err
		}
		fresh, lost := p.Users.FindByID(r.Context(), user.ID)
		if errors.Is(lost, ErrNotFound) || lost == nil && fresh.Password != user.Password {
			return first, nil, errChanged
		}
		if lost != nil {
			return first, nil, lost
		}
		user, failure = fresh, err
	}
	return step{}, nil, contested(failure)
}

func readCredentials(r *http.Request) (credentials, error) {
	f, err := form.Read(r)
	if err != nil {
		return credentials{}, err
	}
	var in credentials
	if in.remember, err = f.Flag("remember"); err != nil {
		return credentials{}, err
	}
	err = f.Texts(form.Field{Name: "login", Into: &in.login}, form.Field{Name: "password", Into: &in.password, Secret: true})
	return in, err
}

// authenticate returns the user whose password was given.
func (p *Pipeline) authenticate(r *http.Request, in credentials, a *attempt) (User, error) {
	start := time.Now()
	user, err := p.findUser(r.Context(), p.LoginField, in.login)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return User{}, err
	}
	return p.verify(r, user, in, a, start)
}

// verify returns the user if the password is right; a user without an ID is one whom nobody
// knows. All failures give the same answer and cost the same work, and so does a password
// that rests.
func (p *Pipeline) verify(r *http.Request, user User, in credentials, a *attempt, start time.Time) (User, error) {
	ctx, client, isKnown := r.Context(), RequestOf(r.Context()).Network, user.ID != ""
	account, day := accountCounters(user, isKnown, in.login)
	if err := p.takeAccount(r, a, account, user); err != nil {
		password.PadTo(ctx, start, answerStep)
		return User{}, err
	}
	began := time.Now()
	ok, err := p.hasher.Verify(ctx, password.Attempt{Client: client, Stored: user.Password, Password: in.password, Refuse: !user.MaySignIn()})
	RequestOf(ctx).SpendHashing(began)
	if err != nil {
		return User{}, busyFault(err)
	}
	if ok {
		return p.rehash(r, user, in.password), nil
	}
	if err := p.failed(r, a, day, user); err != nil {
		return User{}, err
	}
	password.PadTo(ctx, start, answerStep)
	p.audit(r, a.failure, "login", strings.ToLower(words.Printable(in.login, reserved.MaxLogin)), "known", isKnown, "disabled", user.Disabled, "inactive", user.Inactive)
	return User{}, fault.Invalid(a.field, "credentials_do_not_match")
}

// findUser looks a person up by what was typed, which may be anything.
func (p *Pipeline) findUser(ctx context.Context, column, value string) (User, error) {
	if len(value) > reserved.MaxLogin || value != words.Printable(value, reserved.MaxLogin) {
		return User{}, ErrNotFound // no stored name looks like this, and a database may refuse to compare it
	}
	return p.Users.FindByLogin(ctx, column, value)
}

// rehash replaces a hash that is weak, or of another format than asked for, now
// that the password is at hand, and returns the user with it. If that fails, the
// sign-in still succeeds.
func (p *Pipeline) rehash(r *http.Request, user User, plain string) User {
	if !p.hasher.Stale(user.Password, plain) {
		return user
	}
	client := RequestOf(r.Context()).Network
	began := time.Now()
	hash, err := p.hasher.Hash(r.Context(), client, user.Password, plain)
	RequestOf(r.Context()).SpendHashing(began)
	if err == nil {
		err = p.Users.Rehash(r.Context(), user.ID, user.Password, hash)
	}
	if err == nil {
		var fresh User
		if fresh, err = p.Users.FindByID(r.Context(), user.ID); err == nil && fresh.Password == hash {
			return fresh
		}
	}
	if err != nil {
		p.Logger.Warn("password not hashed anew; the next sign-in tries again", "request_id", RequestOf(r.Context()).ID, "user", user.ID, "cause", err)
	}
	return user
}

// start commits a login: the effects of the step, the new session in place of the
// guest's, and the device token.
func (p *Pipeline) start(r *http.Request, remember bool, user User, guest, next Session, step step, a *attempt) ([]*http.Cookie, error) {
	old := p.readDeviceCookie(r)
	var cookies []*http.Cookie
	var begun Session
	var made *identity.Link
	err := p.Tx.Settle(r.Context(), func(ctx context.Context) error {
		if done, err := p.hasBegun(ctx, begun); err != nil || done {
			return err
		}
		cookies = nil
		next := step.applyTo(next)
		// A reset, or disabling the user, ends the sessions that there are. A sign-in
		// that compared the old password before must not add one afterwards.
		switch now, err := p.Users.Lock(ctx, user.ID); {
		case errors.Is(err, ErrNotFound), err == nil && (!now.MaySignIn() || now.Password != user.Password):
			return errChanged
		case err != nil:
			return err
		}
		if a.use != nil {
			if err := a.use(ctx); err != nil {
				return err
			}
		}
		if err := p.applyEffects(ctx, user.ID, step); err != nil {
			return err
		}
		if err := p.clearAttempts(ctx, a); err != nil {
			return err
		}
		if err := p.takeLink(ctx, a.link, &next); err != nil {
			return err
		}
		var err error
		if made, err = p.linkSettled(ctx, r, &next); err != nil {
			return err
		}
		if a.link != nil {
			cookies = append(cookies, p.linkCookie(""))
		}
		if old.selector != nil {
			if err := p.endDevice(ctx, old.selector); err != nil {
				return err
			}
			cookies = append(cookies, p.deviceCookie("", -1))
		}
		if remember {
			device, cookie, err := p.newDevice(ctx, r, user, next)
			switch {
			case errors.Is(err, ErrNotFound):
				p.Logger.Warn("the table users has no column remember_token: devices cannot be kept signed in", "request_id", RequestOf(r.Context()).ID)
			case err != nil:
				return err
			default:
				next.Device = device
				cookies = append(slices.DeleteFunc(cookies, func(c *http.Cookie) bool { return c.Name == cookie.Name }), cookie)
			}
		}
		var renewed []*http.Cookie
		begun, renewed, err = p.Sessions.Renew(ctx, r, guest, next)
		cookies = append(cookies, renewed...)
		return err
	})
	if err == nil {
		p.linked(r, user.ID, made)
		RequestOf(r.Context()).note(p.principal(begun, WaySession))
	}
	return cookies, err
}

// clearAttempts forgets the failures before a success, in the transaction of ctx, and takes the
// attempt of the client back, whose counter counts failures. Those of a password that rests
// stay: only this browser goes on. Counters are locked before devices and sessions.
func (p *Pipeline) clearAttempts(ctx context.Context, a *attempt) error {
	for _, c := range []Counter{a.account, a.name} {
		if c == (Counter{}) {
			continue
		}
		if err := p.Throttle.Clear(ctx, c); err != nil {
			return err
		}
	}
	if a.client == (Counter{}) {
		return nil
	}
	return p.Throttle.Undo(ctx, a.client)
}

// hasBegun reports whether the session that an earlier try of a transaction made is
// there: then its commit happened, and the answer was lost.
func (p *Pipeline) hasBegun(ctx context.Context, s Session) (bool, error) {
	if s.Key == nil {
		return false, nil
	}
	alive, err := p.Sessions.Alive(ctx, [][]byte{s.Key})
	return err == nil && alive[0], err
}

func setCookies(w http.ResponseWriter, cookies []*http.Cookie) {
	for _, c := range cookies {
		http.SetCookie(w, c)
	}
}
