package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const (
	drainLimit = 8 * time.Second // how long a stop waits for calls, whatever their timeout
	stopGrace  = 3 * time.Second // how long a process may take to end by itself
)

// A Change is a set of specs whose processes run and wait to take over. It keeps every
// other start, reload and stop waiting until Commit or Abort, of which exactly one must
// be called.
type Change struct {
	m       *Manager
	specs   []Spec
	fresh   map[string]*slot
	created bool // the launcher
}

// Commit puts the specs in use, and ends the processes that no spec names any more once
// their calls are done or ctx has ended.
func (c *Change) Commit(ctx context.Context) {
	defer c.m.life.Unlock()
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	closeAll(ctx, c.m.publish(c.specs, c.fresh))
}

// Abort stops the processes that wait, and leaves everything as it was. The error says
// what could not be removed.
func (c *Change) Abort() error {
	defer c.m.life.Unlock()
	closeAll(context.Background(), slices.Collect(maps.Values(c.fresh)))
	if !c.created {
		return nil
	}
	return c.m.closeLauncher()
}

// prepare starts the processes that the specs need and that do not run yet. After an
// error nothing has changed. The caller holds life.
func (m *Manager) prepare(ctx context.Context, specs []Spec) (*Change, error) {
	c := &Change{m: m, specs: specs, created: m.launcher == nil && len(specs) > 0}
	if c.created {
		if err := m.open(); err != nil {
			return nil, err
		}
	}
	var changed []Spec
	for _, spec := range specs {
		if s := m.slots[spec.Name]; s == nil || s.outdated(spec) {
			changed = append(changed, spec)
		}
	}
	var err error
	if c.fresh, err = m.launchAll(ctx, changed); err == nil {
		return c, nil
	}
	if c.created {
		err = errors.Join(err, m.closeLauncher())
	}
	return nil, err
}

func (m *Manager) closeLauncher() error {
	err := m.launcher.Close()
	m.launcher = nil
	return err
}

func (m *Manager) open() error {
	l, err := proc.NewLauncher(m.options.RunDir, proc.Options{
		Logger:       m.options.Logger.Named("plugin"),
		Now:          m.options.Now,
		HostVersion:  m.options.HostVersion,
		StartTimeout: m.options.StartTimeout,
		Dropped:      m.options.Metrics.LogDropped,
	})
	m.launcher = l
	if err != nil {
		return finding.Finding{
			Path: []string{"server", "run_dir"}, What: "plugins cannot be started: " + err.Error(), Remedy: "set server.run_dir, or TMPDIR, to a directory that this user may write",
		}
	}
	return nil
}

// launchAll starts a process for each spec, at once. When one fails, all are
// stopped again.
func (m *Manager) launchAll(ctx context.Context, specs []Spec) (map[string]*slot, error) {
	started := make([]*slot, len(specs))
	errs := make([]error, len(specs))
	var all sync.WaitGroup
	for i, spec := range specs {
		all.Go(func() { started[i], errs[i] = m.launch(ctx, spec) })
	}
	all.Wait()
	out := map[string]*slot{}
	for i, s := range started {
		if s != nil {
			out[specs[i].Name] = s
		}
	}
	err := labelErrors(specs, errs)
	if err != nil {
		closeAll(context.Background(), slices.Collect(maps.Values(out)))
	}
	return out, err
}

// closeAll ends slots, all at the same time, once their calls are done or ctx has ended.
func closeAll(ctx context.Context, list []*slot) {
	var all sync.WaitGroup
	for _, s := range list {
		all.Go(func() { s.close(ctx) })
	}
	all.Wait()
}

func (m *Manager) launch(ctx context.Context, spec Spec) (*slot, error) {
	im, err := m.launcher.OpenImage(spec.program())
	if err != nil {
		return nil, err
	}
	p, err := m.launcher.Launch(ctx, spec.program(), im, spec.setup())
	if err != nil {
		im.Remove()
		return nil, err
	}
	return newSlot(spec, m.launcher, m.options, im, p), nil
}

// labelErrors joins the findings of several starts.
func labelErrors(specs []Spec, errs []error) error {
	var out []error
	for i, err := range errs {
		var config *pluginsdk.ConfigError
		switch {
		case errors.As(err, &config):
			out = append(out, mistakes(specs[i].Name, config)...)
		case err != nil:
			out = append(out, startFinding(specs[i].Name, err))
		}
	}
	return errors.Join(out...)
}

// startFinding is the finding, at the block of the plugin, for a process that
// does not start.
func startFinding(name string, err error) finding.Finding {
	f := finding.Finding{What: err.Error(), Remedy: "try it with `vestibule plugin check " + name + "`"}
	if found, others := finding.In(err); len(found) == 1 && others == nil {
		f = found[0]
	}
	f.Path = append([]string{"plugin", name}, f.Path...)
	f.What = fmt.Sprintf("plugin %q cannot be started: %s", name, f.What)
	return f
}

// publish puts the specs in use: a plugin with a fresh slot switches to it, any other keeps
// the slot it has. It returns the slots that no spec names any more. A slot that was
// replaced ends in the background, within the time of a call.
func (m *Manager) publish(specs []Spec, fresh map[string]*slot) []*slot {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone, slots := maps.Clone(m.slots), map[string]*slot{}
	for _, spec := range specs {
		old, heir := m.slots[spec.Name], fresh[spec.Name]
		delete(gone, spec.Name)
		if heir == nil {
			slots[spec.Name] = old
			continue
		}
		slots[spec.Name] = heir
		if old != nil {
			old.bequeath(heir)
			m.leaving.Go(func() {
				ctx, cancel := context.WithTimeout(m.drain, old.spec.Timeout)
				defer cancel()
				old.close(ctx)
			})
		}
		heir.serve()
	}
	m.specs, m.slots = specs, slots
	return slices.Collect(maps.Values(gone))
}

// outdated reports whether a slot needs another process for a spec.
func (s *slot) outdated(spec Spec) bool {
	s.mu.Lock()
	im, ready := s.image, s.state == StateReady
	s.mu.Unlock()
	return !ready || !s.spec.same(spec) || im.Outdated(spec.program())
}
