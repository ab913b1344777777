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

// A supervisor is the goroutine that runs a slot.
type supervisor struct {
	end  context.CancelFunc
	done chan struct{}
}

// A launched is a process together with the image that it was started from.
type launched struct {
	image   *proc.Image
	process *proc.Process
}

// A Change is a set of specs whose processes run and wait to take over. It keeps every
// other start, reload and stop waiting until Commit or Abort, of which exactly one must
// be called.
type Change struct {
	m       *Manager
	specs   []Spec
	fresh   map[string]launched
	created bool // the launcher
}

// Commit puts the specs in use, and ends the processes that no spec names any more once
// their calls are done or ctx has ended.
func (c *Change) Commit(ctx context.Context) {
	defer c.m.life.Unlock()
	c.m.retire(ctx, c.m.publish(c.specs, c.fresh))
}

// Abort stops the processes that wait, and leaves everything as it was. The error says
// what could not be removed.
func (c *Change) Abort() error {
	defer c.m.life.Unlock()
	stopAll(slices.Collect(maps.Values(c.fresh)))
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
	return err
}

// launchAll starts a process for each spec, at once. When one fails, all are
// stopped again.
func (m *Manager) launchAll(ctx context.Context, specs []Spec) (map[string]launched, error) {
	started := make([]launched, len(specs))
	errs := make([]error, len(specs))
	var all sync.WaitGroup
	for i, spec := range specs {
		all.Go(func() { started[i], errs[i] = m.launch(ctx, spec) })
	}
	all.Wait()
	if err := labelErrors(specs, errs); err != nil {
		stopAll(started)
		return nil, err
	}
	out := map[string]launched{}
	for i, spec := range specs {
		out[spec.Name] = started[i]
	}
	return out, nil
}

// stopAll stops processes that no slot has got, all at the same time.
func stopAll(list []launched) {
	var all sync.WaitGroup
	for _, one := range list {
		if one.process != nil {
			all.Go(func() { one.process.Stop(stopGrace); one.image.Release() })
		}
	}
	all.Wait()
}

func (m *Manager) launch(ctx context.Context, spec Spec) (launched, error) {
	im, err := m.launcher.OpenImage(spec.program())
	if err != nil {
		return launched{}, err
	}
	p, err := m.launcher.Launch(ctx, spec.program(), im, spec.setup())
	if err != nil {
		im.Release()
		return launched{}, err
	}
	return launched{image: im, process: p}, nil
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

// publish puts the specs in use: a plugin with a fresh process switches to it,
// any other keeps the process it has. It returns the slots that no spec names
// any more.
func (m *Manager) publish(specs []Spec, fresh map[string]launched) map[string]*slot {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := maps.Clone(m.slots)
	slots := map[string]*slot{}
	for _, spec := range specs {
		s := m.slots[spec.Name]
		one, isFresh := fresh[spec.Name]
		switch {
		case isFresh && s != nil:
			s.swap(spec, one)
		case isFresh:
			s = m.newSlot(spec, one.image)
			s.install(newInstance(spec, one.process, s.log), 0)
			m.start(s)
		}
		delete(gone, spec.Name)
		slots[spec.Name] = s
	}
	m.specs, m.slots = specs, slots
	return gone
}

// start watches a slot until retire.
func (m *Manager) start(s *slot) {
	ctx, end := context.WithCancel(context.Background())
	one := supervisor{end: end, done: make(chan struct{})}
	if m.watched == nil {
		m.watched = map[*slot]supervisor{}
	}
	m.watched[s] = one
	go func() {
		defer close(one.done)
		s.run(ctx)
	}()
}

// retire ends the given slots, all at the same time, and waits until their
// calls are done, at most drainLimit.
func (m *Manager) retire(ctx context.Context, gone map[string]*slot) {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range gone {
		one := m.watched[s]
		delete(m.watched, s)
		all.Go(func() {
			one.end()
			<-one.done
			s.close(ctx)
		})
	}
	all.Wait()
}

// outdated tells whether a slot needs another process for a spec.
func (s *slot) outdated(spec Spec) bool {
	s.mu.Lock()
	old, im, ready := s.spec, s.image.Retain(), s.state == StateReady
	s.mu.Unlock()
	defer im.Release()
	return !ready || !old.same(spec) || im.Outdated(spec.program())
}
