package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A Manager runs the plugins of one host. Its methods may be called from
// several goroutines at once.
type Manager struct {
	options Options

	life     sync.Mutex // serialises Start, Reload and Stop; a Change holds it, and guards the next one
	launcher *proc.Launcher
	leaving  sync.WaitGroup // slots that were replaced
	// drain ends when slots that were replaced must wait for their calls no longer.
	drain context.Context
	hurry context.CancelFunc

	events *outbox.Worker // nil without an outbox

	mu    sync.RWMutex // guards what follows
	specs []Spec
	slots map[string]*slot
}

// New checks the specs and returns a Manager that runs none of them yet.
// Mistakes in the specs are joined into one error, a line each.
func New(specs []Spec, o Options) (*Manager, error) {
	checked, err := checkSpecs(specs, o.Owned)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	m := &Manager{options: o, specs: checked}
	m.drain, m.hurry = context.WithCancel(context.Background())
	m.openEvents()
	return m, nil
}

// Start starts all plugins and returns when each has answered Describe and
// Configure. When one cannot be started, the others are stopped again and the
// error says, in one line for each, which one, why, and what to do. Mistakes in
// config blocks are findings, too, each with the path of its key.
func (m *Manager) Start(ctx context.Context) error {
	m.life.Lock()
	if m.launcher != nil {
		m.life.Unlock()
		return errors.New("the plugins have been started before")
	}
	change, err := m.prepare(ctx, m.specs)
	if err != nil {
		m.life.Unlock()
		return err
	}
	change.Commit(ctx)
	return nil
}

// Reload replaces the specs: plugins whose block, program or checked files
// changed get a new process, which takes over once it is ready while the old
// one finishes its calls; the others are left alone. When any new process
// cannot be started, everything stays as it was, and the error says why.
func (m *Manager) Reload(ctx context.Context, specs []Spec) error {
	change, err := m.Prepare(ctx, specs)
	if err == nil {
		change.Commit(ctx)
	}
	return err
}

// Prepare is the first half of [Manager.Reload]: it starts the new processes, and
// [Change.Commit] lets them take over. After an error there is nothing to commit or to
// abort.
func (m *Manager) Prepare(ctx context.Context, specs []Spec) (*Change, error) {
	checked, err := checkSpecs(specs, m.options.Owned)
	if err != nil {
		return nil, err
	}
	m.life.Lock()
	change, err := m.prepare(ctx, checked)
	if err != nil {
		m.life.Unlock()
	}
	return change, err
}

// named returns the names of the plugins that have a role, in the order of the specs.
func (m *Manager) named(role string) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var names []string
	for _, s := range m.specs {
		if slices.Contains(s.Roles, role) {
			names = append(names, s.Name)
		}
	}
	return names
}

// slot returns the slot of the plugin of a name.
func (m *Manager) slot(name string) (*slot, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s := m.slots[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%w: no plugin %q is running", pluginsdk.ErrUnavailable, name)
}

// slotOf returns the slot of the plugin that has a role.
func (m *Manager) slotOf(role string) (*slot, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, spec := range m.specs {
		if s := m.slots[spec.Name]; s != nil && slices.Contains(spec.Roles, role) {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: no plugin with the role %q is running", pluginsdk.ErrUnavailable, role)
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

// MaySet returns the names of the plugins that may set one of these columns of users.
func (m *Manager) MaySet(columns []string) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var names []string
	for _, spec := range m.specs {
		if slices.ContainsFunc(columns, func(column string) bool { return slices.Contains(spec.UserWrite, column) }) {
			names = append(names, spec.Name)
		}
	}
	return names
}

// Ready returns nil when every plugin is ready, and otherwise an error that
// names those that are not.
func (m *Manager) Ready() error {
	var errs []error
	for _, st := range m.Status() {
		switch {
		case st.State == StateReady:
		case st.LastError == "":
			errs = append(errs, fmt.Errorf("plugin %q is %s", st.Name, st.State))
		default:
			errs = append(errs, fmt.Errorf("plugin %q is %s: %s", st.Name, st.State, st.LastError))
		}
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
	slots := m.slots
	m.slots = nil
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	defer context.AfterFunc(ctx, m.hurry)()
	closeAll(ctx, slices.Collect(maps.Values(slots)))
	m.leaving.Wait()
	return m.closeLauncher()
}
