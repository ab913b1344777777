package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
)

// Limits of passkeys: how many a user may have, and the random bytes of an ID and of a user handle.
const (
	maxPasskeys    = 20
	passkeyIDBytes = 8
	handleBytes    = 32
)

// passkeySite returns where the passkeys of a request are used, or 404 where there are none: they are off, or the page is
// neither on https nor on localhost.
func (p *Pipeline) passkeySite(r *http.Request) (passkey.Site, error) {
	if p.Passkeys != nil && p.Secrets != nil && !p.PasskeysOff {
		if site, ok := passkey.NewSite(p.Site.Base(r), p.PasskeyRPID, p.AppName); ok {
			return site, nil
		}
	}
	return passkey.Site{}, &fault.Fault{Code: fault.NotFound}
}

// OffersPasskeys reports whether people sign in with passkeys where the request was made.
func (p *Pipeline) OffersPasskeys(r *http.Request) bool {
	_, err := p.passkeySite(r)
	return err == nil
}

// PasskeyOptions answers POST /auth/passkeys/options: what a page hands to navigator.credentials.get so that somebody signs
// in. It is alike for everybody, and writes nothing.
func (p *Pipeline) PasskeyOptions() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		site, err := p.passkeySite(r)
		if err != nil {
			return err
		}
		if err := form.Discard(r); err != nil {
			return err
		}
		guest, err := p.load(r)
		if err != nil {
			return err
		}
		challenge, err := p.openChallenge(w, r, passkey.SignIn, guest)
		if err != nil {
			return err
		}
		fault.WriteJSON(w, http.StatusOK, site.GetOptions(challenge, nil))
		return nil
	})
}

// PasskeyLogin answers POST /auth/passkeys/login: it verifies the passkey, asks the dispenser for the first intent, and
// starts the session, all or nothing.
func (p *Pipeline) PasskeyLogin() http.Handler { return p.serve(p.passkeyLogin) }

func (p *Pipeline) passkeyLogin(w http.ResponseWriter, r *http.Request) error {
	start := time.Now()
	site, err := p.passkeySite(r)
	if err != nil {
		return err
	}
	f, err := form.Read(r)
	if err != nil {
		return err
	}
	remember, err := f.Flag("remember")
	if err != nil {
		return err
	}
	credential, err := credentialIn(f)
	if err != nil {
		return err
	}
	client := Counter{Kind: "client", Client: RequestOf(r.Context()).Network}
	if err := p.takeAttempt(r, client, p.ClientAttempts, "credential"); err != nil {
		return err
	}
	// A sign-in by passkey ends the rest of a password.
	a := &attempt{client: client}
	use, step, cookies, err := p.signInByPasskey(r, site, credential, remember, a)
	if refused, ok := errors.AsType[*passkeyError](err); ok {
		return p.refusePasskey(r, passkey.SignIn, start, refused)
	}
	if err != nil {
		p.refund(r, waitAfter(err), client)
		return err
	}
	setCookies(w, append(cookies, p.challengeCookie("", -1)))
	p.knowOwner(w, r, use.user)
	p.audit(r, "login", "user", use.user.ID, "by", "passkey", "passkey", use.ID, "intent", step.intent.Kind())
	fault.WriteJSON(w, http.StatusOK, map[string]any{"message": "login_success", "next": step.intent.Envelope()})
	return nil
}

// signInByPasskey verifies the passkey, asks for the first intent and starts the session.
func (p *Pipeline) signInByPasskey(r *http.Request, site passkey.Site, credential []byte, remember bool, a *attempt) (passkeyUse, step, []*http.Cookie, error) {
	guest, err := p.load(r)
	if err != nil {
		return passkeyUse{}, step{}, nil, err
	}
	use, err := p.verifyPasskey(r, site, passkey.SignIn, guest, credential)
	if err != nil {
		return use, step{}, nil, err
	}
	next := Session{UserID: use.user.ID, Proved: p.Now(), Proof: proofPasskey}
	if !guest.SignedIn() || guest.UserID == use.user.ID {
		next.Intended = guest.Intended
	}
	a.account, a.use = Counter{Kind: countPassword, Login: use.user.ID}, func(ctx context.Context) error { return p.keepUse(ctx, use) }
	first, cookies, err := p.begin(r, remember, use.user, guest, next, a)
	if errors.Is(err, errChanged) {
		// Another sign-in has hashed the password anew, or it was changed. Look again.
		if use.user, err = p.passkeyOwner(r.Context(), use.Passkey); err == nil {
			first, cookies, err = p.begin(r, remember, use.user, guest, next, a)
		}
	}
	if errors.Is(err, errChanged) {
		err = &passkeyError{reason: "changed", passkey: use.Passkey, cause: err}
	}
	return use, first, cookies, err
}

// ConfirmOptions answers POST /auth/account/confirm/options: what a page hands to navigator.credentials.get so that
// somebody who is signed in proves it anew, with one of their own passkeys.
func (p *Pipeline) ConfirmOptions() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		site, err := p.passkeySite(r)
		if err != nil {
			return err
		}
		if err := form.Discard(r); err != nil {
			return err
		}
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		own, err := p.Passkeys.List(r.Context(), who.UserID, maxPasskeys)
		if err != nil {
			return err
		}
		challenge, err := p.openChallenge(w, r, passkey.Confirm, who.Session)
		if err != nil {
			return err
		}
		fault.WriteJSON(w, http.StatusOK, site.GetOptions(challenge, own))
		return nil
	})
}

// confirmPasskey makes the session of who recent if the form has the answer of a passkey of theirs. A failure counts for the
// client and for the login name, as a wrong password does.
func (p *Pipeline) confirmPasskey(w http.ResponseWriter, r *http.Request, who Principal, f form.Form) error {
	start := time.Now()
	site, err := p.passkeySite(r)
	if err != nil {
		return err
	}
	credential, err := credentialIn(f)
	if err != nil {
		return err
	}
	user, err := p.stillThere(r.Context(), who.UserID)
	if err != nil {
		return err
	}
	a, err := p.takePassword(r, p.LoginName(user), attempt{field: "credential"}, func(k known) *knownEntry { return k.byUser(user.ID) })
	if err != nil {
		return err
	}
	use, err := p.verifyPasskey(r, site, passkey.Confirm, who.Session, credential)
	if err == nil && use.user.ID != who.UserID {
		err = &passkeyError{reason: "another_user", passkey: use.Passkey}
	}
	if err == nil {
		err = p.prove(r, who, proofPasskey, func(ctx context.Context, _ User) error {
			if err := p.keepUse(ctx, use); err != nil {
				return err
			}
			return p.clearAttempts(ctx, a)
		})
	}
	if refused, ok := errors.AsType[*passkeyError](err); ok {
		return p.refusePasskey(r, passkey.Confirm, start, refused)
	}
	if err != nil {
		return p.refundLogin(r, a, err)
	}
	http.SetCookie(w, p.challengeCookie("", -1))
	p.confirmed(w, r, user)
	return nil
}

// CreationOptions answers POST /auth/account/passkeys/options: what a page hands to navigator.credentials.create.
func (p *Pipeline) CreationOptions() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		site, err := p.passkeySite(r)
		if err != nil {
			return err
		}
		if err := form.Discard(r); err != nil {
			return err
		}
		who, err := p.fresh(w, r)
		if err != nil {
			return err
		}
		person, known, err := p.enrolling(r.Context(), who.UserID)
		if errors.Is(err, ErrNotFound) {
			return &fault.Fault{Code: fault.Unauthenticated, Cause: err}
		}
		if err != nil {
			return err
		}
		challenge, err := p.openChallenge(w, r, passkey.Enrol, who.Session)
		if err != nil {
			return err
		}
		fault.WriteJSON(w, http.StatusOK, site.CreateOptions(challenge, person, known))
		return nil
	})
}

// enrolling returns a user for whom a passkey is made, and the passkeys that the user has.
func (p *Pipeline) enrolling(ctx context.Context, userID string) (person passkey.Person, known []passkey.Passkey, err error) {
	err = p.Tx.InTx(ctx, func(ctx context.Context) error {
		user, err := p.Users.Lock(ctx, userID)
		if err != nil {
			return err
		}
		person.Login = p.LoginName(user)
		person.Name = user.Name
		if person.Name == "" {
			person.Name = person.Login
		}
		if person.Handle, err = p.Passkeys.Handle(ctx, user.ID, random(handleBytes)); err != nil {
			return err
		}
		known, err = p.Passkeys.List(ctx, user.ID, maxPasskeys)
		return err
	})
	return person, known, err
}

// AddPasskey answers POST /auth/account/passkeys: it verifies and keeps a new passkey of the person's own.
func (p *Pipeline) AddPasskey() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		start := time.Now()
		site, err := p.passkeySite(r)
		if err != nil {
			return err
		}
		who, f, name, err := p.changesPasskeys(w, r)
		if err != nil {
			return err
		}
		credential, err := credentialIn(f)
		if err != nil {
			return err
		}
		fresh, ends, err := p.verifyCreation(r, site, who.Session, credential)
		if err == nil {
			fresh.ID, fresh.UserID, fresh.Name, fresh.Created = hex.EncodeToString(random(passkeyIDBytes)), who.UserID, name, p.Now()
			err = p.addPasskey(r, who, fresh, ends)
		}
		if refused, ok := errors.AsType[*passkeyError](err); ok {
			return p.refusePasskey(r, passkey.Enrol, start, refused)
		}
		if err != nil {
			return err
		}
		http.SetCookie(w, p.challengeCookie("", -1))
		fault.WriteJSON(w, http.StatusCreated, showPasskey(fresh.Passkey))
		return nil
	})
}

// addPasskey keeps a new passkey.
func (p *Pipeline) addPasskey(r *http.Request, who Principal, fresh newPasskey, ends time.Time) error {
	err := p.changeCredential(r, who, credentialChange{event: "passkey_add", notice: noticePasskey, apply: func(ctx context.Context, user User) (string, error) {
		if err := p.Passkeys.Spend(ctx, fresh.challenge, ends); err != nil {
			return "", err
		}
		if _, err := p.Passkeys.Handle(ctx, user.ID, random(handleBytes)); err != nil {
			return "", err
		}
		return fresh.Name + " (" + fresh.ID + ")", p.Passkeys.Add(ctx, fresh.Passkey, maxPasskeys)
	}})
	switch {
	case errors.Is(err, passkey.ErrSpent):
		return &passkeyError{reason: "spent", cause: err}
	case errors.Is(err, passkey.ErrTooMany):
		return invalidBecause("name", "too_many", "the user has %d passkeys already: delete one", maxPasskeys)
	case !errors.Is(err, passkey.ErrKnown):
		return err
	}
	known, err := p.Passkeys.Find(r.Context(), fresh.Credential)
	if err == nil && known.UserID == who.UserID {
		return &fault.Fault{Code: fault.PasskeyKnown}
	}
	return &passkeyError{reason: "known", passkey: known, cause: err} // nobody learns of another person's
}

// ChangePasskey answers PATCH and DELETE /auth/account/passkeys/{id}: it gives a passkey of the person's own another name,
// or ends it unless it is the last way to sign in.
func (p *Pipeline) ChangePasskey() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		if _, err := p.passkeySite(r); err != nil {
			return err
		}
		who, _, name, err := p.changesPasskeys(w, r)
		if err != nil {
			return err
		}
		id := r.PathValue("id")
		change := credentialChange{event: "passkey_rename", apply: func(ctx context.Context, user User) (string, error) {
			return name + " (" + id + ")", absent(p.Passkeys.Rename(ctx, id, user.ID, name))
		}}
		if r.Method == http.MethodDelete {
			change = credentialChange{event: "passkey_delete", apply: func(ctx context.Context, user User) (string, error) { return p.deletePasskey(ctx, user, id) }}
		}
		if err := p.changeCredential(r, who, change); err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

func (p *Pipeline) deletePasskey(ctx context.Context, user User, id string) (subject string, err error) {
	gone, err := p.Passkeys.FindID(ctx, id)
	if err == nil && gone.UserID != user.ID {
		err = ErrNotFound
	}
	if err != nil {
		return "", absent(err)
	}
	if last, err := p.lastWay(ctx, user, way{passkeyID: id}); err != nil || last {
		if last {
			err = &fault.Fault{Code: fault.LastWayToSignIn}
		}
		return "", err
	}
	return gone.Name + " (" + id + ")", absent(p.Passkeys.Delete(ctx, id, user.ID))
}

// absent returns 404 for what the person does not have, and other errors as they are.
func absent(err error) error {
	if errors.Is(err, ErrNotFound) {
		return &fault.Fault{Code: fault.NotFound}
	}
	return err
}

// changesPasskeys returns who may change passkeys now, and the form with the name in it, which a deletion has not.
func (p *Pipeline) changesPasskeys(w http.ResponseWriter, r *http.Request) (who Principal, f form.Form, name string, err error) {
	if who, err = p.fresh(w, r); err != nil {
		return who, f, "", err
	}
	if r.Method == http.MethodDelete {
		err = form.Discard(r)
	} else if f, err = form.Read(r); err == nil {
		if err = f.Texts(form.Field{Name: "name", Into: &name}); err == nil {
			err = checkName(name, "a passkey")
		}
	}
	if err != nil {
		return who, f, "", err
	}
	// Whoever changes them without end would fill the audit table.
	return who, f, name, p.takeAttempt(r, Counter{Kind: countPasskeys, Login: who.UserID}, p.ClientAttempts, "name")
}

// shownPasskey is a passkey as its person sees it.
type shownPasskey struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Created  time.Time  `json:"created"`
	LastUsed *time.Time `json:"last_used"`
}

func showPasskey(k passkey.Passkey) shownPasskey {
	out := shownPasskey{ID: k.ID, Name: k.Name, Created: k.Created.UTC().Truncate(time.Second)}
	if !k.Used.IsZero() {
		used := k.Used.UTC().Truncate(time.Second)
		out.LastUsed = &used
	}
	return out
}

// ownPasskeys returns the passkeys of a user as GET /auth/account shows them: none where people do not sign in with them.
func (p *Pipeline) ownPasskeys(r *http.Request, userID string) ([]shownPasskey, error) {
	shown := []shownPasskey{}
	if !p.OffersPasskeys(r) {
		return shown, nil
	}
	list, err := p.Passkeys.List(r.Context(), userID, maxPasskeys)
	for _, k := range list {
		shown = append(shown, showPasskey(k))
	}
	return shown, err
}
