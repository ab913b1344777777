package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// ErrNotFound is returned by the stores below when nothing matches.
var ErrNotFound = errors.New("not found")

// ErrUnavailable is returned by the stores below when the database is away, or
// kept a call waiting for too long. It is answered with 503.
var ErrUnavailable = errors.New("the database is not available")

// ErrSessionGone is returned when a session was ended or changed by another
// request since it was loaded. Nothing was written then.
var ErrSessionGone = errors.New("session gone")

// A ColumnError is the error of columns of users that cannot hold the values that were
// to be set. Nothing was written then.
type ColumnError struct {
	// Columns has more than one name where the database refused a statement as a whole.
	Columns []string
	// Cause is the reason.
	Cause error
}

// Error names the columns and the reason.
func (e *ColumnError) Error() string {
	return fmt.Sprintf("the value of the column %s: %v", strings.Join(e.Columns, " or "), e.Cause)
}

// Unwrap returns the reason.
func (e *ColumnError) Unwrap() error { return e.Cause }

// Tx runs steps in one transaction of the shared store.
type Tx interface {
	// InTx calls f with a context that carries a transaction; every method of
	// the interfaces below that is given this context joins it. It commits when
	// f returns nil and rolls back otherwise. f may be called again after a
	// serialization failure, so it must have no effect outside the store.
	InTx(ctx context.Context, f func(ctx context.Context) error) error
	// Settle is InTx for an f that may be done twice, because it leaves the same behind
	// or notices that it was done: it is called again as well where the connection was
	// lost with the commit, so that nobody knows whether that happened.
	Settle(ctx context.Context, f func(ctx context.Context) error) error
}

// A User is a row of the stock table users.
type User struct {
	// ID is the primary key as text, whatever its type in the database.
	ID string
	// Name and Email are empty where null or where there is no such column.
	Name, Email string
	// Password is the stored hash, of any format; empty when null.
	Password string
	// DeviceSecret is the column remember_token: every device is bound to it, so
	// that another value ends them all.
	DeviceSecret string
	// Disabled users cannot sign in; the mark is kept in a table of Vestibule,
	// not in users.
	Disabled bool
	// Inactive users cannot sign in either: the application's own columns say so, by
	// the condition auth.active.
	Inactive bool
	// Columns holds every other column by name, never a credential: nil, bool,
	// int64, float64, string or []byte.
	Columns map[string]pluginsdk.Value
}

// MaySignIn reports whether the user is neither disabled nor inactive. Nobody else has
// sessions, devices, machine tokens or reset links that open anything.
func (u User) MaySignIn() bool { return !u.Disabled && !u.Inactive }

// Users is the table of people, which belongs to the host application.
type Users interface {
	// FindByLogin returns the one user whose column holds value. Addresses (the
	// column email, and values with an @) compare case-insensitively; an exact
	// match wins, and an ambiguous one is ErrNotFound.
	FindByLogin(ctx context.Context, column, value string) (User, error)
	// FindByID returns the user with the primary key id, or ErrNotFound.
	FindByID(ctx context.Context, id string) (User, error)
	// FindAll returns those of the users with these ids that there are, in any order,
	// with ID, Disabled and Inactive alone.
	FindAll(ctx context.Context, ids []string) ([]User, error)
	// Lock is FindByID within a transaction, and keeps others from changing the
	// row, and from disabling the user, before the transaction ends.
	Lock(ctx context.Context, id string) (User, error)
	// SetColumns writes host columns. A column that does not exist is an error, and one
	// that cannot hold its value is a [*ColumnError].
	SetColumns(ctx context.Context, id string, values map[string]pluginsdk.Value) error
	// SetPassword writes the password hash and the device secret.
	SetPassword(ctx context.Context, id, hash, deviceSecret string) error
	// Rehash replaces the hash old by another of the same password, unless the
	// password changed in between; open reset tokens stay valid.
	Rehash(ctx context.Context, id, old, hash string) error
	// EnsureDeviceSecret writes the device secret where it is still null or empty
	// and returns the one that is stored then. It returns ErrNotFound where the
	// table has no column for it.
	EnsureDeviceSecret(ctx context.Context, id, secret string) (string, error)
	// HashFormats returns one stored hash of each format and cost in use.
	HashFormats(ctx context.Context) ([]string, error)
}

// A Counter names what Throttle counts.
type Counter struct {
	// Kind keeps the counters of different rules apart, such as "login".
	Kind string
	// Login is the login name or address as typed, in lower case, or the id of the user
	// who has signed in; may be empty.
	Login string
	// Client is the address or network that the request came from; may be empty.
	Client string
}

// The kinds of counters whose Login is the id of a user.
const (
	countHeld        = "held"          // refusals of a held step, for the throttle's window
	countHeldLong    = "held_long"     // the same, for thirty days
	countRecovery    = "held_recovery" // refusals of a held step's recovery form, for a day
	countTokenAdd    = "token_add"     // machine tokens that a person makes
	countPasskeys    = "passkeys"      // passkeys that a person makes, renames or deletes
	countIdentities  = "identities"    // identities that a person links or unlinks
	countStepAsked   = "step_asked"    // steps that a person asks for
	countOwnPassword = "own_password"  // passwords that a person sets on the account screen
	countPluginMail  = "plugin_mail"   // mails that plugins send a person, for an hour
	countPassword    = "password"      // failed passwords of a person over all clients, since a success
	countPasswordDay = "password_day"  // the same within a day, whatever succeeds
)

// The kinds of counters of login names that nobody has. They count what the kinds of
// known people count, so that a failed sign-in costs the same for both.
const (
	// CountUnknown is the kind that no time ends. Strangers make such counters, so
	// the store bounds how many there are.
	CountUnknown    = "password_unknown"
	countUnknownDay = "password_unknown_day"
)

// ByUser reports whether Login is the id of a user.
func (c Counter) ByUser() bool {
	switch c.Kind {
	case countHeld, countHeldLong, countRecovery, countTokenAdd, countPasskeys, countIdentities, countStepAsked, countOwnPassword, countPluginMail, countPassword, countPasswordDay:
		return true
	}
	return false
}

// Lasts reports whether no time ends the counter.
func (c Counter) Lasts() bool { return c.Kind == countPassword || c.Kind == CountUnknown }

// Secrets keeps secrets that all hosts share and that last.
type Secrets interface {
	// Secret returns the secret of a name. If there is none, it keeps fresh and
	// returns it; of several hosts that try, one does.
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
}

// Throttle counts attempts for all hosts that share the database.
type Throttle interface {
	// Hit adds one to the counter in a single atomic statement and returns the
	// count with this attempt, and when the window that the first attempt opened
	// ends. A counter whose window is over starts again at one.
	Hit(ctx context.Context, c Counter, now time.Time, window time.Duration) (count int, ends time.Time, err error)
	// Undo takes one attempt back.
	Undo(ctx context.Context, c Counter) error
	// Clear deletes the counter.
	Clear(ctx context.Context, c Counter) error
	// Space reports whether a mail may go now that the counter counts, and if so
	// counts it. Of parallel calls one is granted, and a refusal changes nothing.
	Space(ctx context.Context, c Counter, now time.Time, s Spacing) (bool, error)
}

// A ResetToken is the right to set a new password once.
type ResetToken struct {
	// Hash is the SHA-256 of the token; the token itself is stored nowhere.
	Hash []byte
	// UserID and Email are of the user when the token was issued.
	UserID, Email string
	// Created is when the token was issued.
	Created time.Time
}

// ResetTokens keeps the newest reset token of each address, in the stock table
// password_reset_tokens and in vestibule_reset_claims, or the newest invitation, in
// vestibule_invitations alone.
type ResetTokens interface {
	// Issue replaces the token of the address, if it has one.
	Issue(ctx context.Context, t ResetToken) error
	// Find returns the unused token of the address with this hash, created after
	// since, as long as the user's password and address are still those of the
	// day it was issued; otherwise ErrNotFound. It consumes nothing.
	Find(ctx context.Context, email string, hash []byte, since time.Time) (ResetToken, error)
	// Claim uses the token for the request by and reports whether it was won: of
	// any number of parallel claims by different requests exactly one is, and a
	// repeated claim by the same request is again. It also removes the token
	// from the stock table.
	Claim(ctx context.Context, t ResetToken, by string, now time.Time) (bool, error)
	// End ends the unused tokens of the user.
	End(ctx context.Context, userID string) error
}

// A Device is a browser that may sign in again without a password. Its cookie
// holds the device token: the selector, which finds the device, and a verifier,
// which is replaced with every use.
type Device struct {
	// Selector identifies the device; 16 random bytes, constant for its life.
	Selector []byte
	// UserID is who signs in.
	UserID string
	// Verifier and Previous are SHA-256 hashes of the newest verifier and of the
	// one before it; Previous is nil before the first rotation.
	Verifier, Previous []byte
	// Nonce is what the newest verifier was derived from, beside the one before.
	Nonce []byte
	// Binding is the SHA-256 of the user's device secret when the device was made.
	Binding []byte
	// Intent is the open intent of the device's sessions, nil when settled, and Values
	// are the plugins' session values, nil for none.
	Intent, Values []byte
	// UserAgent and Address describe where the device was last used.
	UserAgent, Address string
	// Created, Rotated and Expires are when the device was made, when its verifier
	// last changed, and when it ends.
	Created, Rotated, Expires time.Time
}

// Devices keeps the devices that stay signed in.
type Devices interface {
	// Create stores a new device.
	Create(ctx context.Context, d Device) error
	// Find returns the device, or ErrNotFound.
	Find(ctx context.Context, selector []byte) (Device, error)
	// List returns up to limit devices of the user, the last used ones first. It may return
	// expired ones.
	List(ctx context.Context, userID string, limit int) ([]Device, error)
	// Lock is Find within a transaction, and keeps others from ending the device
	// before the transaction ends. Lock the user before.
	Lock(ctx context.Context, selector []byte) (Device, error)
	// Rotate replaces the verifier old by d.Verifier, with Previous, Nonce,
	// Rotated, Expires, UserAgent and Address as in d, and reports whether old was
	// still the newest.
	Rotate(ctx context.Context, d Device, old []byte) (bool, error)
	// SetState keeps the open intent and the session values with the device. Lock it
	// before, and compare.
	SetState(ctx context.Context, selector, intent, values []byte) error
	// Delete ends the device; that there is none is no error.
	Delete(ctx context.Context, selector []byte) error
	// DeleteUser ends all devices of the user.
	DeleteUser(ctx context.Context, userID string) error
}

// Mailer queues mail, which is sent outside the request. What it writes is part
// of the transaction of ctx.
type Mailer interface {
	// QueueReset queues the mail with a link to set a new password. An empty userID
	// costs the same and sends nothing, so that time does not tell who is known. base is
	// the origin that the person asked under; links of the mail begin with it.
	QueueReset(ctx context.Context, userID, locale, base string) error
	// QueueChanged queues the notice that the password was changed with a device, such as
	// "Firefox (Linux)", which is empty where nobody knows.
	QueueChanged(ctx context.Context, userID, locale, base, device string) error
	// QueueNotice queues another notice about the account, with the device as above. An
	// empty userID costs the same and sends nothing.
	QueueNotice(ctx context.Context, kind Notice, userID, locale, device string) error
	// QueueTexts queues the mail of a plugin, which shows the texts. The name has the form
	// "<plugin>/<template>", or is the template alone for the embedding program. base is as
	// for QueueReset.
	QueueTexts(ctx context.Context, name string, texts map[string]string, userID, locale, base string) error
}

// A Notice is what a person is told of by mail, beside a changed password. The mail has
// neither a token nor a link that opens anything.
type Notice string

// The notices.
const (
	// noticeToken tells of a new machine token.
	noticeToken Notice = "token_added"
	// noticePasskey tells of a new passkey.
	noticePasskey Notice = "passkey_added"
	// noticeIdentity tells of a new identity.
	noticeIdentity Notice = "identity_added"
	// noticeFailures tells of a hundred failed sign-ins in a day.
	noticeFailures Notice = "many_failures"
)

// A Session is what the server remembers of one browser.
type Session struct {
	// Key and Version identify the stored row and what was read of it; Key is
	// nil when the request has no live session.
	Key     []byte
	Version int64
	// UserID is empty for a guest.
	UserID string
	// Owner is the row of the user, without credentials, where it was read with the session; else nil. Columns is nil where the
	// request needs the identity alone. No store keeps Owner.
	Owner *User
	// Intended is the intended URL, a rooted path; empty for none.
	Intended string
	// Intent is the intent last dispensed, nil before the first.
	Intent *OpenIntent
	// Asked is the step that a settled person has asked for. It lies beside the loop, which
	// has ended, and is not kept with the device; nil for none.
	Asked *OpenIntent
	// Unasked tells that the dispenser is still to be asked about the session: a device
	// has begun it, or another release has stored it in a way that this one does not
	// know. It has no Intent then.
	Unasked bool
	// Values holds the plugins' session values under "<plugin>/<name>".
	Values map[string]pluginsdk.Value
	// Others holds what the application keeps in the same session; the pipeline
	// carries it along.
	Others map[string]any
	// Device is the selector of the device that the session belongs to, or nil.
	Device []byte
	// Link is the identity that is linked once the person is settled; nil for none.
	Link *identity.Link
	// Proved is when the person proved who they are, and Proof is how: a resumed
	// device has the time of the sign-in that it was kept by.
	Proved time.Time
	Proof  Proof
}

// A Proof is how somebody proved who they are, as sessions keep it.
type Proof string

// The proofs.
const (
	proofPassword Proof = "pwd"
	proofPasskey  Proof = "passkey"
	proofDevice   Proof = "device"
	// identityProof begins the proof by an identity: its name follows.
	identityProof = "identity:"
)

// Methods returns the proof as the claim amr names it, with the words of RFC 8176 where it has one. A passkey is a key of
// which somebody proved the possession (pop) while they were there (user), and which they unlocked, by a PIN or a finger,
// so that it is two factors (mfa). RFC 8176 has no word for the passkey itself.
func (p Proof) Methods() []string {
	if p == proofPasskey {
		return []string{string(proofPasskey), "pop", "user", "mfa"}
	}
	return []string{string(p)}
}

// ID names the session to others for as long as it lasts: neither the cookie nor the
// stored row can be found by it. It is empty for a guest without a row.
func (s Session) ID() string {
	if s.Key == nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("vestibule session\x00"), s.Key...))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Sessions is how the pipeline reads and writes the caller's session.
type Sessions interface {
	// Load returns the session of the request; the zero Session when it has none
	// or an expired one. It writes nothing but the session's touch.
	Load(r *http.Request) (Session, error)
	// Alive reports for each of the sessions with these keys whether it is still there
	// and its time is not over. It writes nothing, so that a connection which stays
	// open keeps no session alive.
	Alive(ctx context.Context, keys [][]byte) ([]bool, error)
	// List returns up to limit sessions of the user whose time is not over, the last seen
	// ones first, without Version, State, Format and Data. It writes nothing.
	List(ctx context.Context, userID string, limit int) ([]SessionRow, error)
	// KeepGuest returns the cookie that keeps a guest's intended URL. It writes
	// nothing; [Sessions.Load] reads the cookie for an hour.
	KeepGuest(page string) (*http.Cookie, error)
	// ForgetGuest returns the cookie that ends what is kept of a guest; nil where the
	// request has nothing of it.
	ForgetGuest(r *http.Request) *http.Cookie
	// Renew ends old, if it has a row, and stores next under a new random id, with
	// the Others of old unless old was another person's. The cookies, among them one
	// that ends what was kept of the guest, are to be set after the transaction of ctx
	// has committed.
	Renew(ctx context.Context, r *http.Request, old, next Session) (Session, []*http.Cookie, error)
	// Reload returns the session as it is stored now, which another request may have
	// changed since Load; the zero Session when it is gone. It writes nothing.
	Reload(ctx context.Context, s Session) (Session, error)
	// Update writes s over the row it was loaded from, or ErrSessionGone.
	Update(ctx context.Context, s Session) error
	// End deletes the row and returns a cookie that removes the browser's.
	End(ctx context.Context, s Session) (*http.Cookie, error)
	// EndUser deletes all sessions of the user.
	EndUser(ctx context.Context, userID string) error
	// EndDevice deletes all sessions that belong to the device.
	EndDevice(ctx context.Context, selector []byte) error
}
