package main

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// A reloader reloads the host that serves.
type reloader struct {
	in   *invocation
	host *host.Host
	opts host.Options
	// running is what the host runs with.
	running *config.Config
	log     hclog.Logger
}

// reload reads the configuration again and applies it. After an error, which is logged,
// nothing has changed.
func (r *reloader) reload(ctx context.Context) {
	cfg, findings := config.Load(r.in.source)
	if err := findings.Err(); err != nil {
		r.refuse(err)
		return
	}
	next, err := cfg.Reload(ctx, r.running, r.opts)
	if err != nil {
		r.refuse(err)
		return
	}
	if err := r.host.Reload(ctx, next.Options); err != nil { // which counts it
		if found, ok := cfg.Locate(err); ok {
			err = found.Err()
		}
		r.logRefusal(err)
		return
	}
	r.running = next.Config
	level := hclog.LevelFromString(r.running.Server.Log.Level)
	if level < r.log.GetLevel() {
		r.log.SetLevel(level)
	}
	defer r.log.SetLevel(level) // so that "reloaded" is logged by the lesser of both
	for _, f := range findings {
		r.log.Warn("configuration", "finding", f.Error())
	}
	for _, w := range next.Waiting {
		r.log.Warn("reload: this setting has changed and needs a restart; the host goes on with the old value", "key", w.Key, "at", w.At.String())
	}
	r.log.Info("reloaded", "waiting_for_restart", len(next.Waiting))
}

func (r *reloader) refuse(err error) {
	r.host.ReloadRefused(err)
	r.logRefusal(err)
}

func (r *reloader) logRefusal(err error) {
	found, ok := errors.AsType[config.Findings](err)
	if !ok || err.Error() != found.Error() {
		r.log.Error("reload: nothing was changed", "error", oneLine(err))
		return
	}
	for _, f := range found {
		r.log.Error("reload: nothing was changed, as the configuration is wrong", "finding", f.Error())
	}
}
