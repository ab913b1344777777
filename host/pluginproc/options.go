package pluginproc

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
)

// Protocol is the version of the protocol between host and plugins.
const Protocol = handshake.Protocol

// Options are what the plugins of a host share. The zero value works.
type Options struct {
	// Logger receives what happens to plugins and what they log; nil discards.
	Logger hclog.Logger
	// Now is the clock for uptimes and log lines; nil means time.Now.
	Now func() time.Time
	// RunDir is where the private directories of sockets are made; empty means
	// the system's temporary directory. A socket's path may have about 100
	// bytes, so keep it short.
	RunDir string
	// Metrics is told what to count.
	Metrics Metrics
	// Outbox is where events wait for listeners, and Person looks up the user of one by
	// their key; one who is gone is a user with the key alone. Both are needed by a host
	// whose plugins listen.
	Outbox outbox.Store
	Person func(ctx context.Context, userID string) (pluginsdk.User, error)
	// Fits returns an error when a column of users cannot hold a value; nil takes every
	// value. An answer that sets such a value breaks the contract.
	Fits func(ctx context.Context, column string, value pluginsdk.Value) error
	// Usable returns an error when a host refuses the target of a redirect; nil takes every
	// redirect. [Check] and [Call] treat such an answer as a breach of the contract, as the
	// pipeline of a host does.
	Usable func(redirect pluginsdk.Intent) error
	// Apply applies the effects of a listener to the user in one transaction with take,
	// which marks the event as delivered and reports whether it still was to be. An error
	// that wraps pluginsdk.ErrContract gives the event up; after any other error the
	// listener is asked again. It is needed by a host whose plugins listen.
	Apply func(ctx context.Context, userID string, effects []pluginsdk.Effect, take func(context.Context) (bool, error)) error
	// Owned are the roles that no plugin may have because something else has them,
	// with its name for error messages.
	Owned map[string]string
	// HostVersion is told to plugins.
	HostVersion string
	// MaxCalls bounds the calls that one plugin works on at once; more answer
	// unavailable at once. Zero means 64.
	MaxCalls int
	// StartTimeout bounds a start, from the fork to the answer to Configure.
	// Zero means 15 s.
	StartTimeout time.Duration
	// HealthInterval is the pause between two checks of a process, half of
	// which bounds the check itself. Two failed checks in a row replace the
	// process. Zero means 10 s.
	HealthInterval time.Duration
}

// Metrics is told what to count. Any of the functions may be nil. They are
// called from several goroutines at once and must not block.
type Metrics struct {
	// Call is one call: method is such as "dispense", outcome "ok",
	// "unavailable" or "contract".
	Call func(plugin, method, outcome string, took time.Duration)
	// Up tells that a plugin became ready, or ceased to be.
	Up func(plugin string, up bool)
	// Restart is a process started in place of one that died or froze.
	Restart func(plugin string)
	// Event is an attempt to tell a listener of an event: outcome is "told", "retried",
	// "returned" (to another host, as this one stops) or "dropped" (after a day). Each is
	// called with n = 0 once, so that the series is there.
	Event func(plugin, outcome string, n int)
	// LogDropped is lines that a plugin logged faster than is kept.
	LogDropped func(plugin string, lines int)
}

// Methods are those of the roles, as Metrics.Call names them.
func Methods(roles []string) []string {
	names := map[string][]string{
		pluginsdk.RoleDispenser:        {methodDispense},
		pluginsdk.RoleOrgSetup:         {methodHandle},
		pluginsdk.RoleListener:         {methodNotify},
		pluginsdk.RoleIdentityProvider: {methodBegin, methodFinish},
		pluginsdk.RoleValidator:        {methodValidate},
	}
	var list []string
	for _, role := range roles {
		list = append(list, names[role]...)
	}
	return list
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fits == nil {
		o.Fits = func(context.Context, string, pluginsdk.Value) error { return nil }
	}
	if o.Usable == nil {
		o.Usable = func(pluginsdk.Intent) error { return nil }
	}
	if o.HostVersion == "" {
		o.HostVersion = "dev"
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 64
	}
	if o.StartTimeout <= 0 {
		o.StartTimeout = 15 * time.Second
	}
	if o.HealthInterval <= 0 {
		o.HealthInterval = 10 * time.Second
	}
	o.Metrics = o.Metrics.withDefaults()
	return o
}

func (m Metrics) withDefaults() Metrics {
	if m.Call == nil {
		m.Call = func(string, string, string, time.Duration) {}
	}
	if m.Up == nil {
		m.Up = func(string, bool) {}
	}
	if m.Restart == nil {
		m.Restart = func(string) {}
	}
	if m.Event == nil {
		m.Event = func(string, string, int) {}
	}
	if m.LogDropped == nil {
		m.LogDropped = func(string, int) {}
	}
	return m
}
