package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Options are what a pipeline is made of. The stores are required; everything
// else has a working zero value.
type Options struct {
	Rules

	Tx       Tx
	Users    Users
	Throttle Throttle
	// Secrets holds the key of the cookies of known browsers; nil knows none.
	Secrets Secrets
	Resets  ResetTokens
	// Invitations are the rights of invited people to set their first password; nil for none.
	Invitations ResetTokens
	Devices     Devices
	// Tokens are the machine tokens; nil for none. Record writes down, in the
	// transaction of its context, who changed what somebody signs in with; nil writes nothing.
	Tokens Tokens
	// Passkeys are the passkeys; nil for none. They need Secrets and Record.
	Passkeys passkey.Store
	Record   func(ctx context.Context, who, act, subject string) error
	// Identities are the providers of accounts elsewhere, in the order of their buttons, and Linked keeps who has which.
	// They need Secrets and Record.
	Identities []identity.Provider
	Linked     identity.Store
	// Provider returns who speaks to the provider of a name at this moment; nil for nobody. It is called for each step.
	Provider func(name string) pluginsdk.IdentityProvider
	Mailer   Mailer
	Sessions Sessions
	Site     Site
	// AppName is the name of the application, which authenticators show.
	AppName string

	// Dispensers returns the names of those that are asked at this moment, in their
	// order; without any the built-in dispenser answers. Dispenser returns the one of a
	// name, and OrgSetup the handler, nil for none. They are called for each step.
	Dispensers func() []string
	Dispenser  func(name string) pluginsdk.Dispenser
	OrgSetup   func() pluginsdk.OrgSetupHandler
	// Offered returns the title of the step that people may ask a dispenser for, and false
	// for a dispenser that offers none; nil if none does.
	Offered func(name string) (title string, ok bool)

	// RedirectOrigins are the further origins that a redirect intent may name.
	RedirectOrigins []string
	// Secure is set when people reach the host over https.
	Secure bool
	// Logger receives audit lines and causes of faults; nil logs nothing.
	Logger hclog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Show answers a fault with a page where a person is to see it, and reports whether
	// it did; nil answers everybody with JSON.
	Show func(w http.ResponseWriter, r *http.Request, f *fault.Fault) bool
	// Audit is told of each event that is worth counting: "login",
	// "login_failed", "lockout", "logout", "reset_requested", "reset", "invitation_used",
	// "resumed", "replay", "loop", "step_refused", "step_asked", "step_changed",
	// "token_add", "token_revoke", "token_refused", "passkey_add", "passkey_rename",
	// "passkey_delete", "passkey_refused", "identity_link", "identity_unlink",
	// "identity_create", "identity_refused", "confirm", "confirm_failed",
	// "password_change", "session_end", "device_end", "row_create",
	// "row_update", "row_delete". nil counts nothing.
	Audit func(event string)
	// Hashed is told of each password hash that is computed, by its format and cost,
	// such as "bcrypt/12"; nil counts nothing.
	Hashed func(format string)
	// Learned is told of each format of hashes in use, named so, before the first is
	// computed; may be nil.
	Learned func(format string)
	// Hashing bounds the wait until a password is hashed; its fields Limit,
	// Waiting, Wait and Refused are used. The zero value works and reports no
	// refusals.
	Hashing admission.Options
	// Wait is how long a question about a held step waits for its turn; 10 s when zero.
	Wait time.Duration
	// Announce queues an event of a user for those who are told out of process. It joins
	// the transaction of ctx, which makes the event true; nil queues none.
	Announce func(ctx context.Context, kind, userID string) error
	// Refused is called with columns for which the database refused the values of a commit,
	// and returns the plugins that may set them; nil names none.
	Refused func(columns []string) (plugins []string)
	// MailDropped is called for each mail of a plugin that is not sent because the user got
	// too many; may be nil. The name is that of [Mailer.QueueTexts].
	MailDropped func(name string)
	// PasswordReset is called once for each successful reset, after its commit.
	PasswordReset func(context.Context, PasswordReset)
}

// AddIdentity adds a provider of accounts elsewhere, or returns an error for one that no pipeline can have. The rule for links
// is "never", which "" is too, "confirm" or "verified_email".
func (o *Options) AddIdentity(name, label, link string, create bool) error {
	all := append(o.Identities, identity.Provider{Name: name, Label: cmp.Or(label, name), Link: identity.Rule(link), Create: create})
	if err := identity.Check(all); err != nil {
		return err
	}
	o.Identities = all
	return nil
}

// A Site is what the pipeline knows about the web site around it.
type Site interface {
	// Path returns the path of a named route.
	Path(route string) (string, bool)
	// Routes returns the paths of all named routes.
	Routes() map[string]string
	// Base returns the origin that links to this site begin with.
	Base(r *http.Request) string
	// Locale returns the language of the person, such as "en".
	Locale(r *http.Request) string
}

// eventPasswordReset is the kind of event that listeners are told of a [PasswordReset].
const eventPasswordReset = "password_reset"

// A PasswordReset is the event that a user has set a new password by the link
// in a mail.
type PasswordReset struct {
	UserID string
	At     time.Time
}

// A Pipeline carries out the sign-in flows. It is safe for concurrent use.
type Pipeline struct {
	Options
	hasher *password.Hasher
	turns  *turns
	// decoy is verified in the place of a passkey that nobody has.
	decoy passkey.Passkey
}

// New returns a pipeline. Call Warm before the first login.
func New(o Options) *Pipeline {
	o.Rules = o.withDefaults()
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Wait = cmp.Or(o.Wait, 10*time.Second)
	if o.Audit == nil {
		o.Audit = func(string) {}
	}
	if o.Show == nil {
		o.Show = func(http.ResponseWriter, *http.Request, *fault.Fault) bool { return false }
	}
	if o.Record == nil {
		o.Record = func(context.Context, string, string, string) error { return nil }
	}
	if o.Announce == nil {
		o.Announce = func(context.Context, string, string) error { return nil }
	}
	if o.Refused == nil {
		o.Refused = func([]string) []string { return nil }
	}
	if o.MailDropped == nil {
		o.MailDropped = func(string) {}
	}
	if o.PasswordReset == nil {
		o.PasswordReset = func(context.Context, PasswordReset) {}
	}
	if o.Dispensers == nil {
		o.Dispensers = func() []string { return nil }
	}
	if o.Offered == nil {
		o.Offered = func(string) (string, bool) { return "", false }
	}
	if o.OrgSetup == nil {
		o.OrgSetup = func() pluginsdk.OrgSetupHandler { return nil }
	}
	return &Pipeline{
		Options: o,
		hasher:  password.New(password.Options{Format: o.PasswordHash, Observe: o.Hashed, Learned: o.Learned, Queue: o.Hashing}),
		turns:   &turns{room: o.Attempts, users: map[string]*line{}},
		decoy:   passkey.Decoy(),
	}
}

// Warm looks which password formats are in use, so that failed sign-ins do the work
// of all of them from the first one on.
func (p *Pipeline) Warm(ctx context.Context) error {
	stored, err := p.Users.HashFormats(ctx)
	if err != nil {
		return fmt.Errorf("read the password formats in use: %w", err)
	}
	for _, hash := range append(stored, p.PasswordHash.Decoy()) {
		p.hasher.Learn(hash)
	}
	return nil
}

// token returns 256 random bits as text that is safe in a URL.
func token() string { return base64.RawURLEncoding.EncodeToString(random(32)) }

// random returns n random bytes. Since Go 1.24 the generator never fails.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// An endpoint is a flow's handler: what it returns is written as an answer.
type endpoint func(w http.ResponseWriter, r *http.Request) error

// serve runs an endpoint and writes its fault, if any. The cause goes to the log
// with the request id that the answer carries.
func (p *Pipeline) serve(e endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := e(w, r); err != nil {
			p.Fail(w, r, err)
		}
	})
}

// byPassword returns an endpoint of the sign-in by password, which answers 404 where that is
// switched off.
func (p *Pipeline) byPassword(e endpoint) endpoint {
	if !p.PasswordOff {
		return e
	}
	return func(http.ResponseWriter, *http.Request) error { return &fault.Fault{Code: fault.PasswordSignInOff} }
}

// Fail answers with err's fault, or with an internal error that tells nothing, as a
// page or as JSON, and logs the cause. Nobody reads the answer once the client went away, and
// what failed for that reason is no error of the host's.
func (p *Pipeline) Fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.As(outage(err))
	id := RequestOf(r.Context()).ID
	args := []any{"request_id", id, "path", LogPath(r), "code", f.Message(), "cause", f.Cause}
	switch {
	case r.Context().Err() != nil:
		p.Logger.Debug("client went away", args...)
	case f.Status() >= 500 && f.Code != fault.Busy: // which is logged once a minute
		p.Logger.Error("request failed", args...)
	case f.Cause != nil:
		p.Logger.Debug("request refused", args...)
	}
	if !p.Show(w, r, f) {
		f.Write(w, id)
	}
}

// outageRetry is when to come back where the database is away.
const outageRetry = 5 * time.Second

// outage returns the fault of an error that means that the database is away, and
// other errors as they are.
func outage(err error) error {
	if _, ok := errors.AsType[*fault.Fault](err); ok || !errors.Is(err, ErrUnavailable) {
		return err
	}
	return &fault.Fault{Code: fault.DatabaseUnavailable, RetryAfter: outageRetry, Cause: err}
}

// Events are the events of sign-in that Options.Audit is told of.
func Events() []string {
	return []string{
		"login", "login_failed", "lockout", "logout", "loop", "reset_requested", "reset", "invitation_used", "resumed", "replay",
		"step_refused", "step_asked", "step_changed", "token_add", "token_revoke", "token_refused",
		"passkey_add", "passkey_rename", "passkey_delete", "passkey_refused",
		"identity_link", "identity_unlink", "identity_create", "identity_refused",
		"confirm", "confirm_failed", "password_change", "session_end", "device_end",
		"row_create", "row_update", "row_delete",
	}
}

// HashingQueue is the state of the queue in which clients wait for a password to be
// hashed.
func (p *Pipeline) HashingQueue() admission.State { return p.hasher.QueueState() }

// audit logs and counts an event that an operator may want to look up, with the session
// that the request came from or began.
func (p *Pipeline) audit(r *http.Request, event string, args ...any) {
	p.Audit(event)
	p.Logger.Info("audit", auditLine(RequestOf(r.Context()), event, args...)...)
}

// auditLine is the line of an event. Its second value names the event, and args begin with the ninth.
func auditLine(request *Request, event string, args ...any) []any {
	line := append(make([]any, 0, 10+len(args)), "event", event, "request_id", request.ID, "trace_id", request.Trace.ID, "client", request.Client)
	line = append(line, args...)
	if session := request.Principal().Session.ID(); session != "" {
		line = append(line, "session", session)
	}
	return line
}

// AuditRows returns the function that logs and counts that the principal of the context's request has changed a row of an entity
// set: kind is "create", "update" or "delete", key the key as in an address. No value of the row is logged. The function may be
// called by several goroutines.
func (p *Pipeline) AuditRows(ctx context.Context) func(kind, set, key string) {
	request := RequestOf(ctx)
	who := request.Principal()
	args := []any{"user", who.UserID, "set", nil, "key", nil}
	if who.token != nil {
		args = append(args, "token", who.token.ID)
	}
	const eventAt, setAt, keyAt = 1, 8 + 3, 8 + 5
	all := auditLine(request, "", args...)
	return func(kind, set, key string) {
		event := "row_update"
		switch kind {
		case "create":
			event = "row_create"
		case "delete":
			event = "row_delete"
		}
		p.Audit(event)
		if !p.Logger.IsInfo() {
			return
		}
		line := slices.Clone(all)
		line[eventAt], line[setAt], line[keyAt] = event, set, key
		p.Logger.Info("audit", line...)
	}
}

// routePath returns the path of a named route that must exist.
func (p *Pipeline) routePath(name string) (string, error) {
	if path, ok := p.Site.Path(name); ok {
		return path, nil
	}
	return "", &fault.Fault{Code: fault.RouteNotFound, Cause: fmt.Errorf("no route %q: add it to the configuration", name)}
}
