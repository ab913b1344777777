package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/finding"
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

// A launched is a process together with the image that it was started from, or why there
// is none yet.
type launched struct {
	image   *proc.Image
	process *proc.Process
	missing error
}

// apply starts the processes that the specs need and that do not run yet, and
// then puts the specs in use. After an error nothing has changed. The caller
// holds life.
func (m *Manager) apply(ctx context.Context, specs []Spec) error {
	created := m.launcher == nil
	if created && len(specs) > 0 {
		if err := m.open(); err != nil {
			return err
		}
	}
	var changed []Spec
	for _, spec := range specs {
		if s := m.slots[spec.Name]; s == nil || s.outdated(spec) {
			changed = append(changed, spec)
		}
	}
	fresh, err := m.launchAll(ctx, changed)
	if err != nil {
		if created {
			err = errors.Join(err, m.launcher.Close())
			m.launcher = nil
		}
		return err
	}
	m.retire(ctx, m.publish(specs, fresh))
	return nil
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
		all.Go(func() { started[i], errs[i] = m.launchOrGoWithout(ctx, spec) })
	}
	all.Wait()
	if err := labelErrors(specs, errs); err != nil {
		for _, one := range started {
			switch {
			case one.process != nil:
				all.Go(func() { one.process.Stop(stopGrace); one.image.Release() })
			case one.image != nil:
				one.image.Release()
			}
		}
		all.Wait()
		return nil, err
	}
	out := map[string]launched{}
	for i, spec := range specs {
		out[spec.Name] = started[i]
	}
	return out, nil
}

// launchOrGoWithout is launch, but a host that starts goes on without the process of a
// dispenser in whose place the built-in one may answer. Its program has to be there, with
// the right checksum, and content with its config block; and where a process of an older
// configuration runs, that one stays.
func (m *Manager) launchOrGoWithout(ctx context.Context, spec Spec) (launched, error) {
	one, err := m.launch(ctx, spec)
	if err == nil || spec.OnFailure != OnFailureBuiltin || m.slots[spec.Name] != nil || ctx.Err() != nil {
		return one, err
	}
	if _, mistaken := errors.AsType[*pluginsdk.ConfigError](err); mistaken {
		return one, err
	}
	im, gone := m.launcher.OpenImage(spec.program())
	if gone != nil {
		return launched{}, err
	}
	return launched{image: im, missing: err}, nil
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

// labelErrors joins the errors of several starts, and all mistakes in config blocks
// into one [*ConfigError].
func labelErrors(specs []Spec, errs []error) error {
	var out []error
	mistakes := &ConfigError{}
	for i, err := range errs {
		var config *pluginsdk.ConfigError
		switch {
		case errors.As(err, &config):
			mistakes.Problems = append(mistakes.Problems, problemsOf(specs[i].Name, config)...)
		case err != nil:
			out = append(out, startFinding(specs[i].Name, err))
		}
	}
	if len(mistakes.Problems) > 0 {
		out = append(out, mistakes)
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
			if one.process == nil {
				s.goWithout(one.missing)
			} else {
				s.install(newInstance(spec, one.process, s.log), 0)
			}
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
