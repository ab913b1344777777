package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/pluginsdk"
)

// drainLimit bounds how long a stop waits for calls, whatever their timeout.
const drainLimit = 8 * time.Second

// A Manager runs the plugins of one host. Its methods may be called from
// several goroutines at once.
type Manager struct {
	options Options
	log     hclog.Logger
	loops   loops

	life sync.Mutex // serialises Start, Reload and Stop

	mu       sync.RWMutex
	specs    []Spec
	slots    map[string]*slot
	roles    map[string]*slot
	launcher *launcher // nil unless started

	watch      context.Context // ends when the supervisors are to end
	endWatch   context.CancelFunc
	supervised map[*slot]supervision
}

// A supervision is a running supervisor.
type supervision struct {
	end  context.CancelFunc
	done chan struct{}
}

// New checks the specs and returns a Manager that runs none of them yet.
// Mistakes in the specs are joined into one error, a line each.
func New(specs []Spec, o Options) (*Manager, error) {
	checked, err := checkSpecs(specs)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Manager{options: o, log: o.Logger.Named("plugins"), specs: checked}, nil
}

// Start starts all plugins and returns when each has answered Describe and
// Configure. When one cannot be started, the others are stopped again and the
// error says, in one line for each, which one, why, and what to do. Mistakes in
// config blocks are a [*ConfigError] somewhere in the error's tree.
func (m *Manager) Start(ctx context.Context) error {
	m.life.Lock()
	defer m.life.Unlock()
	if m.launcher != nil {
		return errors.New("the plugins have been started before")
	}
	if len(m.specs) == 0 {
		return nil
	}
	l, err := m.open()
	if err != nil {
		return err
	}
	started, err := l.launchAll(ctx, m.specs)
	if err != nil {
		return errors.Join(err, l.guard.stop())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.launcher = l
	m.watch, m.endWatch = context.WithCancel(context.WithoutCancel(ctx))
	m.adopt(m.specs, started)
	return nil
}

// open makes the private directory of all processes.
func (m *Manager) open() (*launcher, error) {
	base := m.options.RunDir
	if base == "" {
		base = os.TempDir()
	}
	// A socket's path has at most 103 bytes on macOS; go-plugin appends 38.
	if len(base) > 50 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "vestibule")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the sockets of plugins: %w", err)
	}
	return &launcher{options: m.options, log: m.log, runDir: dir, guard: &guard{dir: dir}}, nil
}

// A launched is a process together with the image that it was started from.
type launched struct {
	image   *image
	process *process
}

// launchAll starts a process for each spec at once. When one fails, all are
// stopped again.
func (l *launcher) launchAll(ctx context.Context, specs []Spec) (map[string]launched, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := make([]launched, len(specs))
	errs := make([]error, len(specs))
	var all sync.WaitGroup
	for i, s := range specs {
		all.Go(func() {
			im, err := openImage(s, l.runDir)
			if err == nil {
				var p *process
				if p, err = l.launch(ctx, s, im); err == nil {
					started[i] = launched{im, p}
					return
				}
				im.release()
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := gather(specs, errs); err != nil {
		for _, one := range started {
			if one.process != nil {
				all.Go(func() { one.process.stop(3 * time.Second); one.image.release() })
			}
		}
		all.Wait()
		return nil, err
	}
	out := map[string]launched{}
	for i, s := range specs {
		out[s.Name] = started[i]
	}
	return out, nil
}

// gather joins the errors of several starts, and all ConfigErrors into one.
func gather(specs []Spec, errs []error) error {
	var out []error
	problems := &ConfigError{}
	for i, err := range errs {
		var config *ConfigError
		switch {
		case errors.As(err, &config):
			problems.Problems = append(problems.Problems, config.Problems...)
		case err != nil:
			out = append(out, fmt.Errorf("plugin %q cannot be started: %w", specs[i].Name, err))
		}
	}
	if len(problems.Problems) > 0 {
		out = append(out, problems)
	}
	return errors.Join(out...)
}

// adopt makes the specs those in use: plugins with a fresh process get it, the
// others keep theirs, and those without a spec any more are returned. It is
// called with the lock held.
func (m *Manager) adopt(specs []Spec, fresh map[string]launched) (gone []*slot) {
	old := m.slots
	m.specs, m.slots, m.roles = specs, map[string]*slot{}, map[string]*slot{}
	for _, spec := range specs {
		s, kept := old[spec.Name]
		one, isFresh := fresh[spec.Name]
		switch {
		case kept && isFresh:
			s.swap(spec, one.image, one.process)
		case isFresh:
			s = m.launcher.newSlot(spec, one.image)
			s.install(one.process, 0)
			m.supervise(s)
		}
		delete(old, spec.Name)
		m.slots[spec.Name] = s
		for _, role := range spec.Roles {
			m.roles[role] = s
		}
	}
	for _, s := range old {
		gone = append(gone, s)
	}
	return gone
}

func (m *Manager) supervise(s *slot) {
	ctx, end := context.WithCancel(m.watch)
	one := supervision{end: end, done: make(chan struct{})}
	if m.supervised == nil {
		m.supervised = map[*slot]supervision{}
	}
	m.supervised[s] = one
	go func() {
		defer close(one.done)
		s.supervise(ctx)
	}()
}

// Reload goes over to new specs: plugins whose block, program or checked files
// changed get a new process, which takes over once it is ready while the old
// one finishes its calls; the others are left alone. When any new process
// cannot be started, everything stays as it was, and the error says why.
func (m *Manager) Reload(ctx context.Context, specs []Spec) error {
	m.life.Lock()
	defer m.life.Unlock()
	checked, err := checkSpecs(specs)
	if err != nil {
		return err
	}
	if m.launcher == nil {
		l, err := m.open()
		if err != nil {
			return err
		}
		m.launcher = l
		m.watch, m.endWatch = context.WithCancel(context.WithoutCancel(ctx))
	}
	var changed []Spec
	for _, spec := range checked {
		if s := m.slots[spec.Name]; s == nil || s.outdated(spec) {
			changed = append(changed, spec)
		}
	}
	fresh, err := m.launcher.launchAll(ctx, changed)
	if err != nil {
		return err
	}
	m.mu.Lock()
	gone := m.adopt(checked, fresh)
	m.mu.Unlock()
	m.closeAll(ctx, gone)
	return nil
}

// outdated tells whether a slot needs another process for a spec.
func (s *slot) outdated(spec Spec) bool {
	s.mu.Lock()
	old, im, ready := s.spec, s.image.retain(), s.state == StateReady
	s.mu.Unlock()
	defer im.release()
	return !ready || !old.same(spec) || im.outdated(spec)
}

// Dispenser returns the dispenser that the specs name, nil when none does. It
// finds the process at call time, so it stays good over restarts; after a
// Reload that gives or takes the role, ask again.
func (m *Manager) Dispenser() pluginsdk.Dispenser {
	if !m.has(RoleDispenser) {
		return nil
	}
	return role{m, RoleDispenser}
}

// OrgSetup returns the handler that the specs name, nil when none does. What is
// said of [Manager.Dispenser] holds here too.
func (m *Manager) OrgSetup() pluginsdk.OrgSetupHandler {
	if !m.has(RoleOrgSetup) {
		return nil
	}
	return role{m, RoleOrgSetup}
}

func (m *Manager) has(role string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.specs {
		for _, r := range s.Roles {
			if r == role {
				return true
			}
		}
	}
	return false
}

// Status tells how each plugin fares, in the order of the specs.
func (m *Manager) Status() []Status {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make([]Status, len(m.specs))
	for i, spec := range m.specs {
		if s := m.slots[spec.Name]; s != nil {
			out[i] = s.status()
			continue
		}
		out[i] = Status{Name: spec.Name, Command: spec.Command, Roles: spec.Roles, State: StateStopped}
	}
	return out
}

// Ready returns nil when every plugin is ready, and otherwise an error that
// names those that are not.
func (m *Manager) Ready() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var errs []error
	for _, spec := range m.specs {
		if s := m.slots[spec.Name]; s != nil {
			errs = append(errs, s.ready())
			continue
		}
		errs = append(errs, fmt.Errorf("plugin %q is %s", spec.Name, StateStopped))
	}
	return errors.Join(errs...)
}

// Stop lets calls under way finish, ends all processes and removes what they
// left. When ctx ends first, processes are killed. The error tells what could
// not be removed. Stop may be called more than once, also without Start.
func (m *Manager) Stop(ctx context.Context) error {
	m.life.Lock()
	defer m.life.Unlock()
	if m.launcher == nil {
		return nil
	}
	m.mu.Lock()
	var gone []*slot
	for _, s := range m.slots {
		gone = append(gone, s)
	}
	l := m.launcher
	m.slots, m.roles, m.launcher = nil, nil, nil
	m.mu.Unlock()
	m.closeAll(ctx, gone)
	m.endWatch()
	return l.guard.stop()
}

// closeAll ends slots at once.
func (m *Manager) closeAll(ctx context.Context, gone []*slot) {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range gone {
		one := m.supervised[s]
		delete(m.supervised, s)
		all.Go(func() {
			one.end()
			<-one.done
			s.close(ctx)
		})
	}
	all.Wait()
}
