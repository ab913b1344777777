package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// challengeSecret is the name of the key that seals challenges.
const challengeSecret = "passkeys"

func (p *Pipeline) challenges(ctx context.Context) (passkey.Challenges, error) {
	key, err := p.Secrets.Secret(ctx, challengeSecret, random(32))
	if err != nil {
		return passkey.Challenges{}, fmt.Errorf("read the key of challenges: %w", err)
	}
	return passkey.NewChallenges(key), nil
}

// openChallenge returns a new challenge for a purpose and a session, which the browser keeps in a cookie.
func (p *Pipeline) openChallenge(w http.ResponseWriter, r *http.Request, purpose passkey.Purpose, s Session) ([]byte, error) {
	challenges, err := p.challenges(r.Context())
	if err != nil {
		return nil, err
	}
	challenge, value, err := challenges.New(p.keptChallenges(r), purpose, s.Key, p.Now())
	if err != nil {
		return nil, err
	}
	http.SetCookie(w, p.challengeCookie(value, int(passkey.Lifetime.Seconds())))
	return challenge, nil
}

// keptChallenges returns the value of the request's cookie of challenges.
func (p *Pipeline) keptChallenges(r *http.Request) string {
	if c, err := r.Cookie(p.challengeCookie("", 0).Name); err == nil {
		return c.Value
	}
	return ""
}

// challengeCookie is strict: only the page's own scripts need it.
func (p *Pipeline) challengeCookie(value string, maxAge int) *http.Cookie {
	name := "vestibule_passkey"
	if p.Secure {
		name = "__Host-vestibule_passkey"
	}
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: p.Secure}
}

// findChallenge returns when a challenge ends that the request's cookie keeps for a purpose and a session. Whether it is
// spent shows when it is spent.
func (p *Pipeline) findChallenge(r *http.Request, challenge []byte, purpose passkey.Purpose, s Session) (time.Time, error) {
	challenges, err := p.challenges(r.Context())
	if err != nil {
		return time.Time{}, err
	}
	ends, ok, err := challenges.Find(p.keptChallenges(r), challenge, purpose, s.Key, p.Now())
	if err == nil && !ok {
		err = &passkeyError{reason: "challenge"}
	}
	return ends, err
}

// A passkeyError holds the reason for which a passkey is refused. It is for the log alone: the answer is the same for all.
type passkeyError struct {
	// reason is a word for the log.
	reason string
	// passkey is whose it was said to be; zero where nobody is known.
	passkey passkey.Passkey
	cause   error
}

// Error names the reason.
func (e *passkeyError) Error() string { return "the passkey is refused: " + e.reason }

// refusePasskey leaves an audit line, and returns the one answer for a passkey that is refused, at a multiple of
// answerStep after start. Only the log has the reason.
func (p *Pipeline) refusePasskey(r *http.Request, purpose passkey.Purpose, start time.Time, refused *passkeyError) error {
	args := []any{"purpose", string(purpose), "reason", refused.reason}
	if refused.passkey.UserID != "" {
		args = append(args, "user", refused.passkey.UserID, "passkey", refused.passkey.ID)
	}
	if refused.cause != nil {
		args = append(args, "cause", words.Printable(refused.cause.Error(), maxCause))
	}
	p.audit(r, "passkey_refused", args...)
	password.PadTo(r.Context(), start, answerStep)
	return fault.Invalid("credential", "passkey_not_accepted")
}

// maxCause bounds what the log has of a cause, in which a client's own words may be.
const maxCause = 300

// A passkeyUse is a verified use of a passkey, with its new counter.
type passkeyUse struct {
	passkey.Passkey
	user      User
	challenge []byte
	ends      time.Time
}

// verifyPasskey returns the use that a credential proves for a purpose and a session. The work is the same whether the
// passkey is somebody's or not. The error is a *passkeyError where the client is at fault.
func (p *Pipeline) verifyPasskey(r *http.Request, site passkey.Site, purpose passkey.Purpose, s Session, credential []byte) (passkeyUse, error) {
	ctx := r.Context()
	a, err := passkey.ParseAssertion(credential)
	if err != nil {
		return passkeyUse{}, &passkeyError{reason: "malformed", cause: err}
	}
	ends, err := p.findChallenge(r, a.Challenge, purpose, s)
	if err != nil {
		return passkeyUse{}, err
	}
	found, err := p.Passkeys.Find(ctx, a.Credential)
	isKnown := err == nil
	if errors.Is(err, ErrNotFound) {
		found = p.decoy
		found.Credential, found.Handle = a.Credential, a.Handle
	} else if err != nil {
		return passkeyUse{}, err
	}
	used, err := site.Use(a, found)
	refuse := func(reason string) (passkeyUse, error) {
		return passkeyUse{}, &passkeyError{reason: reason, passkey: found, cause: err}
	}
	switch {
	case !isKnown:
		return refuse("unknown")
	case errors.Is(err, passkey.ErrCounter):
		return refuse("counter")
	case errors.Is(err, passkey.ErrBackup):
		return refuse("backup_eligibility")
	case err != nil:
		return refuse("signature")
	case purpose == passkey.SignIn && len(a.Handle) == 0: // WebAuthn 7.2, step 6
		return refuse("user_handle")
	}
	used.Used = p.Now()
	owner, err := p.passkeyOwner(ctx, used)
	return passkeyUse{used, owner, a.Challenge, ends}, err
}

// passkeyOwner returns the user of a passkey, who may sign in.
func (p *Pipeline) passkeyOwner(ctx context.Context, k passkey.Passkey) (User, error) {
	user, err := p.Users.FindByID(ctx, k.UserID)
	switch {
	case errors.Is(err, ErrNotFound):
		return user, &passkeyError{reason: "no_user", passkey: k}
	case err == nil && user.Disabled:
		return user, &passkeyError{reason: "disabled", passkey: k}
	case err == nil && user.Inactive:
		return user, &passkeyError{reason: "inactive", passkey: k}
	case err == nil && olderThan(user, k.Created):
		return user, &passkeyError{reason: "older_than_user", passkey: k}
	}
	return user, err
}

// maxZone is more than any time zone is ahead of UTC: applications write created_at in a zone of their own.
const maxZone = 24 * time.Hour

// olderThan reports whether something was made before the row of its user, so that it was made for somebody else.
func olderThan(user User, made time.Time) bool { return made.Before(rowCreated(user).Add(-maxZone)) }

// rowCreated returns when the application made the row of a user, by the column created_at; zero where that says nothing. An
// application may give the id of somebody who is gone to somebody else, whom the passkeys and identities of the former must not sign in.
func rowCreated(user User) time.Time {
	text, _ := user.Columns["created_at"].(string)
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

// keepUse spends the challenge and keeps what the authenticator has said. It joins the transaction of ctx, in which the user
// is locked, and refuses a passkey that was deleted or used meanwhile.
func (p *Pipeline) keepUse(ctx context.Context, use passkeyUse) error {
	err := p.Passkeys.Spend(ctx, use.challenge, use.ends)
	if errors.Is(err, passkey.ErrSpent) {
		return &passkeyError{reason: "spent", passkey: use.Passkey}
	}
	if err != nil {
		return err
	}
	kept, err := p.Passkeys.Use(ctx, use.Passkey)
	if err == nil && !kept {
		err = &passkeyError{reason: "gone", passkey: use.Passkey}
	}
	return err
}

// A newPasskey is a verified passkey that is not kept yet.
type newPasskey struct {
	passkey.Passkey
	challenge []byte
}

// verifyCreation returns the new passkey that a credential is, and when its challenge ends. The error is a *passkeyError
// where the client is at fault.
func (p *Pipeline) verifyCreation(r *http.Request, site passkey.Site, s Session, credential []byte) (newPasskey, time.Time, error) {
	c, err := passkey.ParseCreation(credential)
	if err != nil {
		return newPasskey{}, time.Time{}, &passkeyError{reason: "malformed", cause: err}
	}
	ends, err := p.findChallenge(r, c.Challenge, passkey.Enrol, s)
	if err != nil {
		return newPasskey{}, time.Time{}, err
	}
	made, err := site.Create(c)
	if err != nil {
		return newPasskey{}, time.Time{}, &passkeyError{reason: "creation", cause: err}
	}
	return newPasskey{made, c.Challenge}, ends, nil
}

// credentialIn returns the field credential, a PublicKeyCredential in JSON: an object of a JSON body, or the text of a form.
func credentialIn(f form.Form) ([]byte, error) {
	switch v := f.Values["credential"].(type) {
	case nil:
		return nil, fault.Invalid("credential", "required")
	case map[string]any:
		credential, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write the credential: %w", err)
		}
		return credential, nil
	case string:
		if !f.JSON {
			return []byte(v), nil
		}
	}
	return nil, form.WrongType("credential", "an object", f.Values["credential"])
}
