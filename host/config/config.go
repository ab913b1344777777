package config

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// A Config is the whole configuration, checked and with absolute paths. It is
// not changed once loaded and may be shared between goroutines.
type Config struct {
	Server   Server            `koanf:"server"`
	App      App               `koanf:"app"`
	Limits   ClientLimits      `koanf:"limits"`
	Database Database          `koanf:"database"`
	Session  Session           `koanf:"session"`
	Auth     Auth              `koanf:"auth"`
	Mail     Mail              `koanf:"mail"`
	Routes   map[string]Route  `koanf:"route"`
	UI       UI                `koanf:"ui"`
	Plugins  map[string]Plugin `koanf:"plugin"`
	OData    OData             `koanf:"odata"`

	values    map[string]any
	origins   layer.Origins
	empty     map[string]bool // by file that was read
	refused   Findings        // what reading the layers found
	file, dir string
}

// Server is the block server.
type Server struct {
	Address        string   `koanf:"address"`
	PublicURL      *string  `koanf:"public_url"`
	TrustedProxies []string `koanf:"trusted_proxies"`
	PublicDir      *string  `koanf:"public_dir"`
	AdminAddress   *string  `koanf:"admin_address"`
	RunDir         *string  `koanf:"run_dir"`
	// Drain is how long the host serves on after SIGTERM.
	Drain time.Duration `koanf:"drain"`
	TLS   TLS           `koanf:"tls"`
	Log   Log           `koanf:"log"`
}

// App is the block app.
type App struct {
	Name *string `koanf:"name"`
}

// ClientLimits is the block limits.
type ClientLimits struct {
	RequestsPerClient int `koanf:"requests_per_client"`
	UpgradesPerClient int `koanf:"upgrades_per_client"`
}

// TLS is the block server.tls.
type TLS struct {
	Cert *string `koanf:"cert"`
	Key  *string `koanf:"key"`
}

// Log is the block server.log.
type Log struct {
	Level  string `koanf:"level"`
	Format string `koanf:"format"`
}

// Database is the block database.
type Database struct {
	Driver string `koanf:"driver"`
	DSN    string `koanf:"dsn"`
	// MaxConnections bounds the connections of sign-in.
	MaxConnections int           `koanf:"max_connections"`
	Wait           time.Duration `koanf:"wait"`
	// StartWait is how long serve waits for the database.
	StartWait time.Duration `koanf:"start_wait"`
}

// Session is the block session.
type Session struct {
	Idle     time.Duration `koanf:"idle"`
	Absolute time.Duration `koanf:"absolute"`
	Remember time.Duration `koanf:"remember"`
}

// Auth is the block auth.
type Auth struct {
	LoginField string `koanf:"login_field"`
	// Active is a condition over the columns of users; nil for none.
	Active        *string       `koanf:"active"`
	Recent        time.Duration `koanf:"recent"`
	RedirectHosts []string      `koanf:"redirect_hosts"`
	Throttle      Throttle      `koanf:"throttle"`
	Reset         Reset         `koanf:"reset"`
	Password      Password      `koanf:"password"`
	Tokens        Tokens        `koanf:"tokens"`
}

// Throttle is the block auth.throttle.
type Throttle struct {
	Attempts       int           `koanf:"attempts"`
	ClientAttempts int           `koanf:"client_attempts"`
	Window         time.Duration `koanf:"window"`
}

// Reset is the block auth.reset.
type Reset struct {
	Lifetime time.Duration `koanf:"lifetime"`
	Resend   time.Duration `koanf:"resend"`
	Attempts int           `koanf:"attempts"`
}

// Password is the block auth.password.
type Password struct {
	MinLength int    `koanf:"min_length"`
	Hash      string `koanf:"hash"`
}

// Tokens is the block auth.tokens.
type Tokens struct {
	SelfService bool          `koanf:"self_service"`
	MaxLifetime time.Duration `koanf:"max_lifetime"`
}

// Mail is the block mail.
type Mail struct {
	Transport string  `koanf:"transport"`
	Dir       string  `koanf:"dir"`
	From      string  `koanf:"from"`
	Templates *string `koanf:"templates"`
	SMTP      SMTP    `koanf:"smtp"`
}

// SMTP is the block mail.smtp.
type SMTP struct {
	Host     string  `koanf:"host"`
	Port     int     `koanf:"port"`
	Username *string `koanf:"username"`
	Password *string `koanf:"password"`
	TLS      string  `koanf:"tls"`
}

// Route is a block route. Exactly one of File, Dir, Proxy and Redirect is set.
type Route struct {
	Path     string  `koanf:"path"`
	File     *string `koanf:"file"`
	Dir      *string `koanf:"dir"`
	Proxy    *string `koanf:"proxy"`
	Redirect *string `koanf:"redirect"`
	Guard    string  `koanf:"guard"`

	StripPrefix bool              `koanf:"strip_prefix"`
	Headers     map[string]string `koanf:"headers"`
	Assertion   bool              `koanf:"assertion"`
	Tokens      bool              `koanf:"tokens"`
}

// UI is the block ui.
type UI struct {
	Sources string `koanf:"sources"`
}

// Plugin is a block plugin.
type Plugin struct {
	Command   []string          `koanf:"command"`
	Roles     []string          `koanf:"roles"`
	SHA256    *string           `koanf:"sha256"`
	Checksums map[string]string `koanf:"checksums"`
	UserRead  []string          `koanf:"user_read"`
	UserWrite []string          `koanf:"user_write"`
	Headers   []string          `koanf:"headers"`
	Env       map[string]string `koanf:"env"`
	Timeout   time.Duration     `koanf:"timeout"`
	// Config is the free block config.
	Config map[string]any `koanf:"config"`
}

// decode fills the typed fields from the values.
func (c *Config) decode() error {
	k := koanf.New(layer.Separator)
	if err := k.Load(confmap.Provider(c.values, ""), nil); err != nil {
		return err
	}
	return k.Unmarshal("", c)
}

// ParseDuration reads a duration as it is written in config.hcl, such as "90s" or
// "90d".
func ParseDuration(s string) (time.Duration, error) { return schema.ParseSpan(s) }

// Redacted is the configuration in effect, all layers merged, as HCL. Secrets,
// and everything that plugins get from the environment or a file, are ***.
func (c *Config) Redacted() (string, error) {
	return layer.Redacted(schema.Root(), c.values, c.origins)
}

// labels gives those of the blocks at path in the order in which they
// were written: those of the file, then those of the other layers by name.
func labels[T any](c *Config, blocks map[string]T, path ...string) []string {
	names := slices.Sorted(maps.Keys(blocks))
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := c.origins.At(append(path[:len(path):len(path)], a)...), c.origins.At(append(path[:len(path):len(path)], b)...)
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(fileRank(c.file, x), fileRank(c.file, y)),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
	return names
}

func fileRank(main string, p Position) int {
	if p.File == main {
		return 0
	}
	return 1
}
