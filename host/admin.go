package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/host/auth"
	"github.com/vestibule-dev/vestibule/host/pluginproc"
	"github.com/vestibule-dev/vestibule/host/store"
	"github.com/vestibule-dev/vestibule/pluginsdk"
)

// An Admin is what the commands do to users, sessions, counters and plugins. It
// works on the database, so it makes no difference whether a host is running.
type Admin struct{ h *Host }

// NewAdmin returns an Admin for the options that a host would have. It starts
// nothing.
func NewAdmin(o Options) (*Admin, error) {
	h, err := New(o)
	if err != nil {
		return nil, err
	}
	return &Admin{h}, nil
}

// What the commands show of a user, a session, a counter and a plugin.
type (
	// User is a person.
	User = auth.User
	// SessionInfo is a session.
	SessionInfo = store.SessionInfo
	// CounterInfo is a throttle counter.
	CounterInfo = store.CounterInfo
	// PluginStatus is a plugin's state.
	PluginStatus = pluginproc.Status
	// PluginReport is the outcome of a plugin's conformance checks.
	PluginReport = pluginproc.Report
)

// ErrTaken is returned when somebody has the address already, in any case.
var ErrTaken = store.ErrTaken

// AddUser adds a person. The password must satisfy the rules; the error is an
// *auth.WeakPassword otherwise.
func (a *Admin) AddUser(ctx context.Context, email, name, password string) (User, error) {
	if !auth.IsAddress(email) {
		return User{}, fmt.Errorf("%q is no mail address: write it like ada@example.com", email)
	}
	hash, err := a.h.pipeline.HashNew(ctx, password, email, name)
	if err != nil {
		return User{}, err
	}
	user, err := a.h.o.Store.AddUser(ctx, email, name, hash)
	if errors.Is(err, ErrTaken) {
		return User{}, fmt.Errorf("%s: %w: use `user passwd` to give that person another password", email, err)
	}
	return user, err
}

// Users calls f for each user in the order of their keys, until f fails.
func (a *Admin) Users(ctx context.Context, f func(User) error) error {
	const page = 500
	after := ""
	for {
		list, err := a.h.o.Store.ListUsers(ctx, after, page)
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
	user, err := a.h.o.Store.Users().FindByLogin(ctx, "email", strings.TrimSpace(email))
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
	return a.h.o.Store.SetDisabled(ctx, user.ID, disabled)
}

// SetPassword gives a user another password, which ends all sessions and devices.
func (a *Admin) SetPassword(ctx context.Context, email, password string) error {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return err
	}
	return a.h.pipeline.SetPassword(ctx, user, password, "en")
}

// ResetLink issues a reset token for a user and returns the link and how long it
// works. The link replaces any that was mailed before.
func (a *Admin) ResetLink(ctx context.Context, email string) (string, time.Duration, error) {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return "", 0, err
	}
	user, token, err := a.h.pipeline.MintReset(ctx, user.ID)
	if errors.Is(err, auth.ErrNotFound) {
		return "", 0, fmt.Errorf("%s is disabled: `user enable` first", email)
	}
	if err != nil {
		return "", 0, err
	}
	return resetLink(a.h.linkBase(), token, user.Email), a.h.pipeline.ResetLifetime, nil
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
	return a.h.o.Store.ListSessions(ctx, id, limit)
}

// RevokeSession ends the session whose id begins with prefix, and the device
// token that would bring it back.
func (a *Admin) RevokeSession(ctx context.Context, prefix string) error {
	err := a.h.o.Store.RevokeSession(ctx, prefix)
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
	db := a.h.o.Store
	return db.InTx(ctx, func(ctx context.Context) error {
		return errors.Join(db.Sessions().DeleteUserSessions(ctx, user.ID), db.RememberTokens().DeleteUser(ctx, user.ID))
	})
}

// Counters returns up to limit counters whose windows are open.
func (a *Admin) Counters(ctx context.Context, limit int) ([]CounterInfo, error) {
	return a.h.o.Store.ListCounters(ctx, limit)
}

// ClearCounters forgets the counters of a login name, or all when it is empty,
// and returns how many there were.
func (a *Admin) ClearCounters(ctx context.Context, login string) (int, error) {
	return a.h.o.Store.ClearCounters(ctx, login)
}

// Backup writes a consistent copy of a SQLite database into a new file.
func (a *Admin) Backup(ctx context.Context, file string) error {
	return a.h.o.Store.Backup(ctx, file)
}

// Plugins starts every configured plugin, returns how it fares, and stops it
// again. The error is about those that could not be started.
func (a *Admin) Plugins(ctx context.Context) ([]PluginStatus, error) {
	err := a.h.plugins.Start(ctx)
	status := a.h.plugins.Status()
	return status, errors.Join(err, a.h.plugins.Stop(ctx))
}

// PluginNames returns the names of the configured plugins.
func (a *Admin) PluginNames() []string {
	names := make([]string, 0, len(a.h.o.Plugins))
	for _, p := range a.h.o.Plugins {
		names = append(names, p.Name)
	}
	return names
}

// CheckPlugin runs the conformance checks against a configured plugin.
func (a *Admin) CheckPlugin(ctx context.Context, name string) (PluginReport, error) {
	p, err := a.plugin(name)
	if err != nil {
		return PluginReport{}, err
	}
	return CheckPlugin(ctx, p, a.h.o.Logger)
}

// CallPlugin makes the one call that a JSON document describes and returns the
// answer.
func (a *Admin) CallPlugin(ctx context.Context, name string, call []byte) (json.RawMessage, error) {
	p, err := a.plugin(name)
	if err != nil {
		return nil, err
	}
	return pluginproc.Call(ctx, p, pluginproc.Options{Logger: a.h.o.Logger, HostVersion: a.h.o.Version}, call)
}

func (a *Admin) plugin(name string) (Plugin, error) {
	for _, p := range a.h.o.Plugins {
		if p.Name == name {
			return p, nil
		}
	}
	return Plugin{}, fmt.Errorf("no plugin %q in the configuration: there are %s", name, strings.Join(a.PluginNames(), ", "))
}

// PluginSum returns the hexadecimal SHA-256 of a file, for config.hcl.
func PluginSum(path string) (string, error) { return pluginproc.Sum(path) }

// The versions of the protocols that this host speaks.
const (
	// PluginProtocol is the version in the plugin handshake.
	PluginProtocol = pluginsdk.ProtocolVersion
	// IntentVersion is the version in every intent envelope.
	IntentVersion = auth.Version
)

// CheckPlugin starts a plugin, runs the conformance checks against it, and stops
// it. The error is about a plugin that cannot be started.
func CheckPlugin(ctx context.Context, p Plugin, log hclog.Logger) (PluginReport, error) {
	return pluginproc.Check(ctx, p, pluginproc.Options{Logger: log})
}

// CheckPlugins starts the plugins until each is ready and stops them again. It
// needs no database.
func CheckPlugins(ctx context.Context, plugins []Plugin, log hclog.Logger) error {
	m, err := pluginproc.New(plugins, pluginproc.Options{Logger: log})
	if err != nil {
		return err
	}
	err = m.Start(ctx)
	return errors.Join(err, m.Stop(ctx))
}

// Close closes the database.
func (a *Admin) Close() error { return a.h.o.Store.Close() }
