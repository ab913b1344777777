package host

import (
	"context"
	"crypto/tls"
	"io/fs"
	"net/netip"
	"net/url"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Options is everything that a host is made of. Store is required; for the rest
// the zero value is a working default. Options are not copied deeply: do not
// change what they refer to once handed over.
type Options struct {
	// Logger receives the log; nil logs nothing.
	Logger hclog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Store is the shared database, already migrated. The host closes it when Run
	// returns.
	Store *store.DB

	Server  ServerOptions
	Session SessionOptions
	Auth    AuthOptions
	Mail    MailOptions
	// Routes are the named routes of the application. Names are unique, and neither
	// names nor paths are those under which the host itself answers, such as login or
	// /odata.
	Routes []Route
	UI     UIOptions

	// Plugins are the plugin processes to start. Those with the role dispenser are asked in
	// this order. Any number may be listeners; each other role has one plugin at most.
	Plugins []Plugin
	// Dispenser and OrgSetup are answered in this process instead of by a plugin.
	// A plugin with the same role is an error.
	Dispenser pluginsdk.Dispenser
	OrgSetup  pluginsdk.OrgSetupHandler

	// Identities are the accounts elsewhere with which people sign in, in the order of their buttons.
	Identities []Identity

	// OnPasswordReset are called, one after the other, for each successful reset
	// after its commit.
	OnPasswordReset []func(context.Context, auth.PasswordReset)

	// Limits are what one client may have at once.
	Limits LimitOptions

	// LogLinesLost returns how many lines Logger has lost because nobody read them, for
	// the metrics; nil means none.
	LogLinesLost func() int64

	// OData is the query endpoint under /odata/; nil for none.
	OData *ODataOptions

	// RestartNeeded are the settings that Reload leaves alone, by name. A setting is true
	// if it differs from the one that the host runs with. The metric
	// vestibule_restart_needed shows them.
	RestartNeeded map[string]bool
}

// ServerOptions are where and how to listen.
type ServerOptions struct {
	// Address is host:port to listen on, 127.0.0.1:8080 when empty. Port 0 takes
	// a free one.
	Address string
	// PublicURL is the origin that people see, without a path. nil is allowed on
	// loopback addresses only.
	PublicURL *url.URL
	// TrustedProxies are believed when they send X-Forwarded-For, X-Request-Id,
	// traceparent or tracestate.
	TrustedProxies []netip.Prefix
	// PublicDir holds the host's own files, served at "/"; empty for none.
	PublicDir string
	// AdminAddress serves /metrics, /debug/pprof and what [RunningPlugins] asks;
	// empty for none.
	AdminAddress string
	// RunDir is where the private folder for sockets and copies of plugin programs is
	// made, a path of at most 45 bytes; empty for the system's temporary directory.
	RunDir string
	// LoadTLS returns the certificate; nil serves plain HTTP. It is called at
	// start and again at every reload.
	LoadTLS func() (*tls.Certificate, error)
	// OnReady is called once Run listens; nil is not called. listening is the origin of
	// the listening address, and public the origin that people use. The two are equal
	// without PublicURL.
	OnReady func(listening, public string)
	// Drain is how long Run goes on serving once its context has ended, while
	// /readyz says 503 and answers close their connections: longer than a balancer
	// takes to notice. Zero is not at all.
	Drain time.Duration
	// DrainTimeout bounds how long a stop waits for requests that are under way when
	// the listener has closed, 10 s when zero.
	DrainTimeout time.Duration
}

// SessionOptions are the lifetimes of sessions: 2 h idle, 24 h absolute, and
// 720 h for a device that is kept signed in when zero.
type SessionOptions struct {
	Idle, Absolute, Remember time.Duration
}

// AuthOptions are the rules of sign-in.
type AuthOptions struct {
	Rules
	// RedirectOrigins are the other origins that a redirect intent may name, such
	// as "https://crm.example.com".
	RedirectOrigins []string
	// Active reports whether a person may sign in, by the columns of the row in users
	// but for credentials; nil lets everybody in who is not disabled. With it the row is
	// read for each request with a session.
	Active func(columns map[string]any, now time.Time) bool
}

// An Identity is a provider of accounts elsewhere with which people sign in.
type Identity struct {
	// Name is part of addresses: lower-case letters, digits, - and _. Label is on the button, and is the name when empty.
	Name, Label string
	// Plugin names one with the role identity_provider. Provider answers in this process instead; it is nil for a plugin.
	Plugin   string
	Provider pluginsdk.IdentityProvider
	// Link names the way in which an identity that nobody has is linked: "never", which is the zero value too, "confirm" or
	// "verified_email".
	Link string
	// Create makes a user for an identity that nobody has, if its address is verified and no user's.
	Create bool
}

// Aliases, so that configuration and embedding programs import only host.
type (
	// Plugin is one plugin process.
	Plugin = pluginproc.Spec
	// MailOptions are how mail is sent.
	MailOptions = mail.Config
	// SMTPOptions are how to reach the mail server.
	SMTPOptions = mail.SMTP
	// Rules are the numbers of sign-in.
	Rules = auth.Rules
	// PasswordFormat is "argon2id", "bcrypt" or "keep", which leaves each user
	// the format that the stored hash has.
	PasswordFormat = auth.PasswordFormat
	// Module is a front-end module that the core runtime can load.
	Module = frontend.Module
	// Principal is who makes a request.
	Principal = auth.Principal
	// LimitOptions are what one client may have at once.
	LimitOptions = web.LimitOptions
	// Guard is who may pass a route or an entity set: "settled", "session" or
	// "none".
	Guard = web.Guard
)

// The guards. GuardSettled, which the zero value stands for, also demands that the
// intent loop has ended.
const (
	GuardSettled = web.GuardSettled
	GuardSession = web.GuardSession
	GuardNone    = web.GuardNone
)

// UIOptions is the front-end app.
type UIOptions struct {
	// App is the compiled app with index.html and manifest.json at its root; nil
	// serves no screens, only the endpoints.
	App fs.FS
	// AppName is what people know the application by, on the screens and in mails; when
	// empty it is the display name of Mail.From, or else the host name of PublicURL.
	AppName string
	// Errors is the app whose error pages people see where App has none of its own:
	// error.html and errors.json beside index.html. nil answers with JSON then.
	Errors fs.FS
	// UI5 is the library for UI5 applications, served under /ui/vestibule/, with a
	// manifest.json at its root; nil serves none.
	UI5 fs.FS
	// Steps is the module and the style sheet for steps on pages of the application, served under /ui/steps/, with a
	// manifest.json at its root; nil serves none.
	Steps fs.FS
	// Live serves App without caching, for a directory that is being edited.
	Live bool
	// Modules are further front-end modules, to be listed for a shell.
	Modules []Module
}

// A Route is a named page of the application. Exactly one of File, Dir, Proxy
// and Redirect is set, all paths absolute.
type Route struct {
	Name, Path string
	File, Dir  string
	Proxy      *url.URL
	Redirect   string
	// StripPrefix hides Path from the application behind Proxy, which sees "/" in its
	// place.
	StripPrefix bool
	// Headers are further request headers for the application behind Proxy, with what
	// they hold: "id", "name", "email" or another column of users.
	Headers map[string]string
	// Assertion tells the application behind Proxy who is signed in by a signed token,
	// X-Vestibule-Assertion, as well.
	Assertion bool
	// Guard is who may pass; the zero value is GuardSettled.
	Guard Guard
	// Tokens opens the application behind Proxy to machine tokens that were made for
	// this route, by its name.
	Tokens bool
}

// ODataOptions is the query endpoint. The host fills in who is asking, the
// public address, the logger and the request id; the model holds the guards.
type ODataOptions struct {
	Model   *odata.Model
	Source  odata.Source
	Options odata.Options
	// Connections is how many requests the source can answer at once, and Concurrent
	// how many of them one client may have there, a quarter when zero. The number is
	// not bounded when Connections is zero.
	Connections, Concurrent int
}
