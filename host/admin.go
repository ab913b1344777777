package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// An Admin is what the commands do to users, sessions and counters. It works on
// the database, so it makes no difference whether a host is running. What changes
// something leaves a row in vestibule_audit and a line in the log, with the name of
// the system user whose process this is.
type Admin struct {
	db       *store.DB
	signIn   *auth.Pipeline
	letters  letters
	operator string
	log      hclog.Logger
}

// NewAdmin returns an Admin for the options that a host would have. It starts
// nothing.
func NewAdmin(o Options) (*Admin, error) {
	// It sends no mail, so that commands work while templates are broken.
	o.Mail.Templates, o.Mail.Mails, o.Plugins = "", nil, slices.Clone(o.Plugins)
	for i := range o.Plugins {
		o.Plugins[i].Mails = nil
	}
	h, err := New(o)
	if err != nil {
		return nil, err
	}
	return &Admin{h.o.Store, h.pipeline, letters{h.pipeline, h.site, h.hasPublic, sealer{h.o.Store}}, systemUser(), h.o.Logger}, nil
}

// What the commands show of a user, a session and a counter.
type (
	// User is a person.
	User = auth.User
	// SessionInfo is a session.
	SessionInfo = store.SessionInfo
	// CounterInfo is a throttle counter.
	CounterInfo = store.CounterInfo
)

// ErrTaken is returned when another user has the address, compared without
// regard to case.
var ErrTaken = store.ErrTaken

// AddUser adds a person. The password must satisfy the rules; the error is an
// *password.PolicyError otherwise.
func (a *Admin) AddUser(ctx context.Context, email, name, password string) (User, error) {
	hash, err := a.signIn.HashForNewUser(ctx, email, name, password)
	if err != nil {
		return User{}, err
	}
	var user User
	err = a.act(ctx, "user_add", email, func(ctx context.Context) error {
		var err error
		user, err = a.db.AddUser(ctx, email, name, hash)
		return err
	})
	if errors.Is(err, ErrTaken) {
		return User{}, fmt.Errorf("%s: %w: use `user passwd` to give that person another password", email, err)
	}
	return user, err
}

// InviteUser adds a person without a password and queues a mail in a language, such as "de",
// with a link to set one; to make a passkey where nobody signs in with a password; or to link an identity where passkeys
// are off as well. A running host sends the mail. It also returns how long the link works.
func (a *Admin) InviteUser(ctx context.Context, email, name, language string) (User, time.Duration, error) {
	if !a.signIn.LinksLead() {
		return User{}, 0, errNoLinks
	}
	hash, err := a.signIn.HashForInvited(email)
	if err != nil {
		return User{}, 0, err
	}
	var user User
	err = a.act(ctx, "user_invite", email, func(ctx context.Context) error {
		var err error
		if user, err = a.db.AddUser(ctx, email, name, hash); err != nil {
			return err
		}
		if !user.MaySignIn() {
			return fmt.Errorf("%s could not sign in, as auth.active says: add the person in the application, and send the link of `user reset-link`", email)
		}
		return a.db.Outbox().Queue(ctx, mail.Item{UserID: user.ID, Purpose: mail.Invitation, Locale: language})
	})
	if errors.Is(err, ErrTaken) {
		return User{}, 0, fmt.Errorf("%s: %w: use `user reset-link` to print a link for that person", email, err)
	}
	return user, a.signIn.InvitationLifetime(), err
}

// errNoLinks is returned for a link where people have neither passwords, passkeys nor identities.
var errNoLinks = errors.New("auth.password.sign_in and auth.passkeys.enabled are false, there is no identity, and the link would lead nowhere: set one of them to true, or add a block identity")

// Users calls f for each user in the order of their keys, until f fails.
func (a *Admin) Users(ctx context.Context, f func(User) error) error {
	const page = 500
	after := ""
	for {
		list, err := a.db.ListUsers(ctx, after, page)
		if err != nil {
			return err
		}
		for _, u := range list {
			if err := f(u); err != nil {
				return err
			}
			after = u.ID
		}
		if len(list) < page {
			return nil
		}
	}
}

// FindUser returns the user with the address, in any case.
func (a *Admin) FindUser(ctx context.Context, email string) (User, error) {
	return findUser(ctx, a.db, email)
}

func findUser(ctx context.Context, db *store.DB, email string) (User, error) {
	user, err := db.Users().FindByLogin(ctx, "email", strings.TrimSpace(email))
	if errors.Is(err, auth.ErrNotFound) {
		return user, fmt.Errorf("no user has the address %s: `user list` shows them all", email)
	}
	return user, err
}

// SetDisabled disables a user, which ends all sessions and devices, or enables
// one again.
func (a *Admin) SetDisabled(ctx context.Context, email string, disabled bool) error {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return err
	}
	name := "user_enable"
	if disabled {
		name = "user_disable"
	}
	return a.act(ctx, name, user.Email, func(ctx context.Context) error {
		return a.db.SetDisabled(ctx, user.ID, disabled)
	})
}

// SetPassword gives a user another password, which ends all sessions and devices.
func (a *Admin) SetPassword(ctx context.Context, email, password string) error {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return err
	}
	set, err := a.signIn.NewPassword(ctx, user, password, "en")
	if err != nil {
		return err
	}
	return a.act(ctx, "user_passwd", user.Email, set)
}

// ResetLink issues a reset token for a user and returns the link and how long it
// works. The link replaces any that was mailed before, also that of an invitation.
func (a *Admin) ResetLink(ctx context.Context, email string) (string, time.Duration, error) {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return "", 0, err
	}
	if !a.signIn.LinksLead() {
		return "", 0, errNoLinks
	}
	link := ""
	err = a.act(ctx, "user_reset_link", user.Email, func(ctx context.Context) error {
		if err := a.db.EndInvitations(ctx, user.ID); err != nil {
			return err
		}
		var err error
		_, link, err = a.letters.resetLink(ctx, user.ID, a.letters.site.LinkBase())
		return err
	})
	if errors.Is(err, auth.ErrNotFound) {
		return "", 0, whyNot(user)
	}
	if err != nil {
		return "", 0, err
	}
	return link, a.signIn.ResetLifetime, nil
}

// whyNot returns why a user cannot sign in.
func whyNot(user User) error {
	if user.Inactive {
		return fmt.Errorf("%s may not sign in, as auth.active says: change the columns of users in the application first", user.Email)
	}
	return fmt.Errorf("%s is disabled: `user enable` first", user.Email)
}

// Sessions returns up to limit sessions, of the user with the address or, when it
// is empty, of everybody.
func (a *Admin) Sessions(ctx context.Context, email string, limit int) ([]SessionInfo, error) {
	id := ""
	if email != "" {
		user, err := a.FindUser(ctx, email)
		if err != nil {
			return nil, err
		}
		id = user.ID
	}
	return a.db.ListSessions(ctx, id, limit)
}

// RevokeSession ends the session whose id begins with prefix, and the device
// token that would bring it back.
func (a *Admin) RevokeSession(ctx context.Context, prefix string) error {
	err := a.act(ctx, "session_revoke", prefix, func(ctx context.Context) error {
		return a.db.RevokeSession(ctx, prefix)
	})
	if errors.Is(err, auth.ErrNotFound) {
		return fmt.Errorf("no session has an id that begins with %s: `session list` shows them", prefix)
	}
	return err
}

// RevokeUser ends all sessions and devices of the user with the address.
func (a *Admin) RevokeUser(ctx context.Context, email string) error {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return err
	}
	return a.act(ctx, "session_revoke", user.Email, func(ctx context.Context) error {
		return a.db.RevokeUser(ctx, user.ID)
	})
}

// revokeStep is how many devices or sessions one statement ends, so that nobody waits for
// long behind it.
const revokeStep = 500

// RevokeAll ends all sessions and devices of everybody, step by step, and returns how many
// there were. A failure leaves those that were not reached: call it again.
func (a *Admin) RevokeAll(ctx context.Context) (devices, sessions int, err error) {
	// The row of vestibule_audit is there with the first step, whatever becomes of the others.
	err = a.act(ctx, "session_revoke", "all", func(ctx context.Context) error {
		devices, sessions, err = a.db.RevokeSome(ctx, revokeStep)
		return err
	})
	for left := devices + sessions; err == nil && left > 0; {
		var d, s int
		d, s, err = a.db.RevokeSome(ctx, revokeStep)
		devices, sessions, left = devices+d, sessions+s, d+s
	}
	return devices, sessions, err
}

// Counters returns up to limit counters whose windows are open. Login is the login name,
// also of counters that go by the id of a user; the id stays where the user is gone.
func (a *Admin) Counters(ctx context.Context, limit int) ([]CounterInfo, error) {
	list, err := a.db.ListCounters(ctx, limit)
	if err != nil {
		return nil, err
	}
	for i, c := range list {
		if !c.ByUser() {
			continue
		}
		user, err := a.db.Users().FindByID(ctx, c.Login)
		if err == nil {
			list[i].Login = a.signIn.LoginName(user)
		}
		if err != nil && !errors.Is(err, auth.ErrNotFound) {
			return nil, err
		}
	}
	return list, nil
}

// ClearCounters forgets the counters of a login name, in any case, and those of the
// user who signs in with it, or all when it is empty, and returns how many there were.
// Instead of the name it takes the user's id.
func (a *Admin) ClearCounters(ctx context.Context, login string) (int, error) {
	subject, names := "all", []string(nil)
	if login != "" {
		subject, names = login, []string{login, strings.ToLower(login)}
		user, err := a.db.Users().FindByLogin(ctx, a.signIn.LoginField, login)
		if err == nil {
			names = append(names, user.ID)
		}
		if err != nil && !errors.Is(err, auth.ErrNotFound) {
			return 0, err
		}
	}
	n := 0
	err := a.act(ctx, "throttle_clear", subject, func(ctx context.Context) error {
		var err error
		n, err = a.db.ClearCounters(ctx, names...)
		return err
	})
	return n, err
}

// Close closes the database.
func (a *Admin) Close() error { return a.db.Close() }
