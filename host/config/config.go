package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// A Config is the whole configuration, checked and with absolute paths. It is
// not changed once loaded and may be shared between goroutines.
type Config struct {
	Server     Server              `koanf:"server" doc:"Where and how the host listens."`
	App        App                 `koanf:"app" doc:"The application."`
	Limits     ClientLimits        `koanf:"limits" doc:"What one client, a signed-in user or an address, may have at once. Beyond it a client waits, then gets 429."`
	Database   Database            `koanf:"database" doc:"The database of users and sessions. Many hosts may share one."`
	Session    Session             `koanf:"session" doc:"How long people stay signed in."`
	Auth       Auth                `koanf:"auth" doc:"The rules of sign-in."`
	Identities map[string]Identity `koanf:"identity" label:"name" check:"identity_name" doc:"An account elsewhere with which people sign in: a button on the sign-in page, in the order of the file."`
	Mail       Mail                `koanf:"mail" doc:"How mail leaves the outbox."`
	Routes     map[string]Route    `koanf:"route" label:"name" check:"route_name" doc:"A named page: exactly one of file, dir, proxy and redirect. Logout goes to home, login to dashboard; terms, privacy and cookies become links on the sign-in screen."`
	UI         UI                  `koanf:"ui" is:"live" doc:"The front-end app."`
	Plugins    map[string]Plugin   `koanf:"plugin" label:"name" is:"live" check:"plugin_name" doc:"A plugin process. Only one plugin may have the role org_setup."`
	OData      OData               `koanf:"odata" doc:"The query endpoint under /odata/."`

	values    map[string]any
	origins   *layer.Origins
	empty     map[string]bool // by file that was read
	refused   Findings        // what reading the layers found
	file, dir string
}

// Server is the block server.
type Server struct {
	Address        string        `koanf:"address" default:"127.0.0.1:8080" check:"address" doc:"host:port to listen on; port 0 takes a free one"`
	PublicURL      *string       `koanf:"public_url" check:"origin" sample:"https://app.example.com" doc:"the origin that people see, from which links are built; required unless the address is loopback. With https cookies are Secure"`
	TrustedProxies []string      `koanf:"trusted_proxies" default:"[]" check:"cidr" sample:"[\"10.0.0.0/8\"]" doc:"proxies whose X-Forwarded-For, X-Request-Id and traceparent are used"`
	PublicDir      *string       `koanf:"public_dir" default:"public" is:"path" doc:"the host's own files, served at /"`
	AdminAddress   *string       `koanf:"admin_address" check:"admin_address" sample:"127.0.0.1:9090" doc:"host:port of /metrics and /debug/pprof, which \x60vestibule plugin list\x60 needs, too; loopback or private"`
	RunDir         *string       `koanf:"run_dir" is:"path" check:"filled" sample:"/run/vestibule" doc:"folder for sockets and copies of plugin programs, a path of at most 45 bytes; null: \x60$RUNTIME_DIRECTORY\x60, else the folder for temporary files"`
	Memory         *int64        `koanf:"memory" is:"size" check:"positive" sample:"512MiB" doc:"memory of the host without its plugins, at least 96MiB; null: a quarter of the machine or control group, from 96MiB to 1GiB"`
	Drain          time.Duration `koanf:"drain" default:"15s" check:"wait" doc:"how long the host serves on after SIGTERM, while /readyz is 503; longer than the balancer takes to notice"`
	TLS            TLS           `koanf:"tls" is:"live" doc:"Certificate and key, both or none; read again at a reload."`
	Log            Log           `koanf:"log" doc:"The log, on standard error."`
}

// App is the block app.
type App struct {
	Name *string `koanf:"name" check:"filled" sample:"Acme Orders" doc:"its name on screens and in mails; null: the display name in mail.from, else the host name of server.public_url"`
}

// ClientLimits is the block limits.
type ClientLimits struct {
	RequestsPerClient int `koanf:"requests_per_client" default:"64" check:"positive" doc:"requests, without proxied ones"`
	UpgradesPerClient int `koanf:"upgrades_per_client" default:"256" check:"positive" doc:"WebSockets through proxies"`
}

// TLS is the block server.tls.
type TLS struct {
	Cert *string `koanf:"cert" is:"path" sample:"tls/server.crt" doc:"PEM file with the certificate chain"`
	Key  *string `koanf:"key" is:"path" sample:"tls/server.key" doc:"PEM file with the private key"`
}

// Log is the block server.log.
type Log struct {
	Level  string `koanf:"level" default:"info" is:"live" oneof:"trace debug info warn error off" doc:"least level; changes at a reload"`
	Format string `koanf:"format" default:"text" oneof:"text json" doc:"lines for people or programs"`
}

// Database is the block database.
type Database struct {
	Driver         string        `koanf:"driver" default:"sqlite" oneof:"drivers" doc:"the engine; mysql is tested with MariaDB"`
	DSN            string        `koanf:"dsn" default:"vestibule.db" is:"secret" check:"filled" doc:"a file for sqlite, a URL for postgres, user:password@tcp(host:port)/name for mysql"`
	MaxConnections int           `koanf:"max_connections" default:"20" check:"connections" doc:"connections of the sign-in; for sqlite readers, beside one that writes"`
	Wait           time.Duration `koanf:"wait" default:"10s" check:"positive" doc:"how long a request waits for its turn, a connection, a lock or a failover; then 429 or 503"`
	StartWait      time.Duration `koanf:"start_wait" default:"60s" check:"wait" doc:"how long \x60serve\x60 waits for a database that is away"`
}

// Session is the block session.
type Session struct {
	Idle     time.Duration `koanf:"idle" default:"2h" check:"lifetime" doc:"a session ends after this time without a request"`
	Absolute time.Duration `koanf:"absolute" default:"24h" check:"lifetime" doc:"a session ends after this time in any case"`
	Remember time.Duration `koanf:"remember" default:"720h" check:"lifetime" doc:"a device stays signed in for this time after its last visit, at most a year"`
}

// Auth is the block auth.
type Auth struct {
	LoginField    string        `koanf:"login_field" default:"email" check:"login_field" doc:"the column of users that people sign in with"`
	Active        *string       `koanf:"active" check:"filled" sample:"deleted_at eq null and is_active" doc:"who may sign in: a $filter condition over columns of users; null: everybody who is not disabled"`
	Dispensers    []string      `koanf:"dispensers" default:"[]" is:"live" check:"plugin_name" sample:"[\"totp\", \"terms\"]" doc:"plugins with the role dispenser, in the order of asking; required if there are several"`
	Recent        time.Duration `koanf:"recent" default:"10m" check:"lifetime" doc:"how fresh a sign-in must be to change credentials"`
	RedirectHosts []string      `koanf:"redirect_hosts" default:"[]" check:"redirect_host" sample:"[\"https://crm.example.com\"]" doc:"other origins that a redirect intent may name, without a path"`
	Throttle      Throttle      `koanf:"throttle" doc:"Failed attempts to sign in."`
	Reset         Reset         `koanf:"reset" doc:"Password reset by mail."`
	Password      Password      `koanf:"password" doc:"Passwords."`
	Passkeys      Passkeys      `koanf:"passkeys" doc:"Passkeys."`
	Tokens        Tokens        `koanf:"tokens" doc:"Machine tokens."`
}

// Throttle is the block auth.throttle.
type Throttle struct {
	Attempts       int           `koanf:"attempts" default:"5" check:"positive" doc:"of one login from one client in the window; then 429"`
	ClientAttempts int           `koanf:"client_attempts" default:"100" check:"positive" doc:"of one client over all logins"`
	Window         time.Duration `koanf:"window" default:"60s" check:"window" doc:"how long attempts count"`
}

// Reset is the block auth.reset.
type Reset struct {
	Lifetime time.Duration `koanf:"lifetime" default:"60m" check:"lifetime" doc:"how long a link works"`
	Resend   time.Duration `koanf:"resend" default:"60s" check:"positive" doc:"least time between two mails to one address; doubles with each mail, up to 1h, until a day without one"`
	Attempts int           `koanf:"attempts" default:"5" check:"positive" doc:"requests and failed resets, by address and by client, in the throttle window"`
}

// Password is the block auth.password.
type Password struct {
	SignIn    bool   `koanf:"sign_in" default:"true" doc:"false: only passkeys and identities sign people in"`
	MinLength int    `koanf:"min_length" default:"12" check:"positive" doc:"characters of a new password"`
	Hash      string `koanf:"hash" default:"argon2id" oneof:"argon2id bcrypt keep" doc:"format of new hashes, and of old ones after the next sign-in. keep: the user's format. bcrypt: $2y$, cost 12, at most 72 bytes"`
}

// Passkeys is the block auth.passkeys.
type Passkeys struct {
	Enabled bool    `koanf:"enabled" default:"true" doc:"people may use passkeys, on https or localhost"`
	RPID    *string `koanf:"rp_id" check:"filled" sample:"example.com" doc:"host name that passkeys belong to: that of server.public_url (null) or its end. A change makes all passkeys useless"`
}

// Tokens is the block auth.tokens.
type Tokens struct {
	SelfService bool          `koanf:"self_service" default:"false" doc:"people may make tokens for /odata/ themselves, at /auth/tokens"`
	MaxLifetime time.Duration `koanf:"max_lifetime" default:"8760h" check:"lifetime" doc:"longest lifetime of a token; the default is 90 days"`
}

// Identity is a block identity.
type Identity struct {
	Plugin string  `koanf:"plugin" check:"filled" doc:"a plugin with the role identity_provider"`
	Label  *string `koanf:"label" check:"filled" sample:"Company account" doc:"text of the button; null: the name of the block"`
	Link   string  `koanf:"link" default:"never" oneof:"never confirm verified_email" doc:"how a new identity is linked. never: on the account screen; confirm: by the browser's next sign-in; verified_email: to the user with the same verified address"`
	Create bool    `koanf:"create" default:"false" doc:"true: a new identity makes a user, if the provider has verified the address and no user has it"`
}

// Mail is the block mail.
type Mail struct {
	Transport string  `koanf:"transport" default:"file" oneof:"file log smtp" doc:"file: .eml files in dir; log: recipient and subject only; smtp"`
	Dir       string  `koanf:"dir" default:"mail" is:"path" check:"filled" doc:"directory of transport file"`
	From      string  `koanf:"from" default:"Vestibule <no-reply@localhost>" check:"sender" doc:"the sender"`
	Templates *string `koanf:"templates" is:"path" sample:"templates" doc:"directory whose files replace the built-in templates"`
	SMTP      SMTP    `koanf:"smtp" doc:"The server of transport smtp."`
}

// SMTP is the block mail.smtp.
type SMTP struct {
	Host     string  `koanf:"host" default:"localhost" check:"filled" doc:"name or address"`
	Port     int     `koanf:"port" default:"587" check:"port" doc:"port"`
	Username *string `koanf:"username" sample:"vestibule" doc:"null: no sign-in"`
	Password *string `koanf:"password" default:"env(\"SMTP_PASSWORD\", null)" is:"secret" doc:"keep it out of the file"`
	TLS      string  `koanf:"tls" default:"starttls" oneof:"starttls implicit none" doc:"how the connection is protected"`
}

// Route is a block route. Exactly one of File, Dir, Proxy and Redirect is set.
type Route struct {
	Path        string            `koanf:"path" check:"route_path" doc:"path from /; dir and proxy also answer below it"`
	File        *string           `koanf:"file" default:"" is:"path" check:"filled" doc:"a file to serve"`
	Dir         *string           `koanf:"dir" default:"" is:"path" check:"filled" doc:"a directory to serve"`
	Proxy       *string           `koanf:"proxy" default:"" check:"proxy" doc:"URL to pass requests to, with X-Vestibule-User, -Email and -Name"`
	Redirect    *string           `koanf:"redirect" default:"" check:"redirect" doc:"URL or path to send the browser to"`
	Guard       string            `koanf:"guard" default:"" oneof:"guards" doc:"session: signed in; settled: and done with all steps; none: everybody. Default: none for home, terms, privacy and cookies, else settled. Required for a proxy or dir at / or with one of these names"`
	StripPrefix bool              `koanf:"strip_prefix" default:"false" doc:"proxy only: the application sees / instead of path, and the prefix in X-Forwarded-Prefix"`
	Headers     map[string]string `koanf:"headers" default:"{}" check:"identity_column" sample:"{ \"Remote-User\" = \"email\" }" doc:"proxy only: further headers with columns of the signed-in user; clients cannot send them"`
	Assertion   bool              `koanf:"assertion" default:"false" doc:"proxy only: X-Vestibule-Assertion has the user in a signed token (JWT, ES256; keys at /auth/jwks.json); see docs/forward-auth.md"`
	Tokens      bool              `koanf:"tokens" default:"false" doc:"proxy only: machine tokens made for this route open it, too"`
}

// UI is the block ui.
type UI struct {
	Sources string `koanf:"sources" default:".ui5-sources.hcl" is:"path" check:"filled" doc:"file that names your own app, if it exists"`
}

// Plugin is a block plugin.
type Plugin struct {
	Command   []string          `koanf:"command" check:"filled" doc:"program and arguments"`
	Roles     []string          `koanf:"roles" oneof:"roles" doc:"what the plugin does"`
	SHA256    *string           `koanf:"sha256" check:"sha256" doc:"checksum of the program, which \x60vestibule plugin sum\x60 prints"`
	Checksums map[string]string `koanf:"checksums" default:"{}" check:"sha256" doc:"sha256 of further files and folders by path, such as node_modules"`
	UserRead  []string          `koanf:"user_read" default:"[]" check:"user_column" doc:"columns of users that the plugin may see"`
	UserWrite []string          `koanf:"user_write" default:"[]" check:"user_column" doc:"columns that it may change"`
	Mails     []string          `koanf:"mails" default:"[]" check:"mail_name" sample:"[\"verify-email\"]" doc:"mails that the plugin may send to its user: NAME.txt and NAME.html in mail.templates, ten an hour"`
	Headers   []string          `koanf:"headers" default:"[]" check:"header" sample:"[\"accept-language\"]" doc:"request headers that the plugin may see"`
	Env       map[string]string `koanf:"env" default:"{}" check:"env_value" doc:"environment, beside PATH, HOME, LANG, TZ and TMPDIR"`
	Timeout   time.Duration     `koanf:"timeout" default:"3s" check:"positive" doc:"of one call"`
	Config    map[string]any    `koanf:"config" doc:"Settings for the plugin, which checks them itself."`
}

// decode fills the typed fields from the values.
func (c *Config) decode() error { return schema.Decode(c.values, c) }

// Keys are the settings of config.hcl.
func Keys() schema.Block { return schema.Of(reflect.TypeFor[Config]()) }

// Sample is the commented file that `vestibule init` writes.
func Sample() string { return schema.Sample(Keys()) }

// Reference is the table of all settings in docs/configuration.md.
func Reference() string { return schema.Reference(Keys(), sourceKeys()) }

// ParseDuration reads a duration as it is written in config.hcl, such as "90s" or
// "90d".
func ParseDuration(s string) (time.Duration, error) { return schema.ParseSpan(s) }

// Redacted is the configuration in effect, all layers merged, as HCL. Secrets,
// and everything that plugins get from the environment or a file, are ***.
func (c *Config) Redacted() (string, error) {
	return layer.Redacted(Keys(), c.values, c.origins)
}

// labels gives those of the blocks at path in the order in which they
// were written: those of the file, then those of the other layers by name.
func labels[T any](c *Config, blocks map[string]T, path ...string) []string {
	names, at := slices.Collect(maps.Keys(blocks)), make(map[string]Position, len(blocks))
	for _, name := range names {
		at[name] = c.at(append(path[:len(path):len(path)], name)...)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := at[a], at[b]
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(fileRank(c.file, x), fileRank(c.file, y)),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column), cmp.Compare(a, b))
	})
	return names
}

func fileRank(main string, p Position) int {
	if p.File == main {
		return 0
	}
	return 1
}
