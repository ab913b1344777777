package pluginproc

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A slot runs one spec. At most one process answers its calls, the current one, which is
// there in StateReady alone. A reload with another spec has another slot.
type slot struct {
	launcher *proc.Launcher
	options  Options
	log      hclog.Logger
	spec     Spec
	check    chan struct{}  // asks for a health check now
	leaving  sync.WaitGroup // processes that were lost

	end        context.CancelFunc // of the supervisor; nil until there is one
	supervisor sync.WaitGroup

	mu      sync.Mutex // guards what follows
	image   *proc.Image
	state   State
	current *instance
	heir    *slot         // has the calls after a reload
	changed chan struct{} // closed and renewed when the state changes, or a process gets calls again
	calls   int           // under way or waiting
	next    time.Time     // when the next start is due in StateDown
	strikes int           // processes lost in a row
	// lateUntil is the end of the probation of a plugin whose calls ran out of time.
	lateUntil time.Time
	about     pluginsdk.Description // of the process that was ready last
	lastErr   string
	restarts  int
}

// newSlot returns a slot with a process that is ready, and without a supervisor.
func newSlot(spec Spec, l *proc.Launcher, o Options, im *proc.Image, p *proc.Process) *slot {
	s := &slot{
		launcher: l, options: o, log: o.Logger.Named("plugins").With("plugin", spec.Name), spec: spec, image: im,
		check: make(chan struct{}, 1), changed: make(chan struct{}), state: StateReady,
	}
	if p != nil {
		s.current, s.about = newInstance(s, p), p.About
	}
	return s
}

// An instance is a process that has, or had, a slot. The slot's lock guards it.
type instance struct {
	*proc.Process
	slot     *slot
	alive    context.Context // ends a moment after the process did
	calls    sync.WaitGroup
	late     []string // the people of the calls in a row that ran out of time
	answered bool     // it worked once
	// broken keeps calls from the process: its connection broke, until it answers a health
	// check, or another process is being started in its place.
	broken bool
}

// lastAnswers is how long the answers of a process that has ended may still arrive.
const lastAnswers = 100 * time.Millisecond

func newInstance(s *slot, p *proc.Process) *instance {
	alive, end := context.WithCancel(context.Background())
	go func() {
		<-p.Dead()
		time.AfterFunc(lastAnswers, end)
	}()
	return &instance{Process: p, slot: s, alive: alive}
}

// ask makes a call on the process. It does not rely on the connection to break when
// the process dies: a child may hold that open.
func (p *instance) ask(ctx context.Context, do func(context.Context, *instance) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.alive, cancel)()
	return do(ctx, p)
}

// finish stops a process that gets no further calls, once its calls are done or ctx ends.
func (p *instance) finish(ctx context.Context) {
	idle := make(chan struct{})
	go func() { p.calls.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-p.Exited():
	case <-ctx.Done():
	}
	p.Stop(stopGrace)
}

// to enters a state, with a process in StateReady alone. It is called with the lock held.
func (s *slot) to(state State, p *instance) {
	s.state, s.current = state, p
	s.notify()
}

// notify is called with the lock held.
func (s *slot) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// serve starts the supervisor.
func (s *slot) serve() {
	ctx, end := context.WithCancel(context.Background())
	p := s.current
	s.end = end
	s.ready(p)
	s.supervisor.Go(func() { s.run(ctx, p) })
}

// ready says that a process answers calls.
func (s *slot) ready(p *instance) {
	s.log.Info("ready", "pid", p.PID(), "version", p.About.Version, "sha256", p.Sum()[:12])
	s.options.Metrics.Up(s.spec.Name, true)
}

// bequeath has another slot answer all calls but those that a process has already.
func (s *slot) bequeath(heir *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heir.restarts, s.heir = s.restarts, heir
	s.notify()
}

// close lets calls under way finish as long as ctx allows, and stops the process.
func (s *slot) close(ctx context.Context) {
	if s.end != nil {
		s.end()
		s.supervisor.Wait()
	}
	s.mu.Lock()
	p, heir := s.current, s.heir
	s.to(StateStopped, nil)
	s.mu.Unlock()
	if p != nil {
		p.finish(ctx)
	}
	if s.end != nil && heir == nil {
		s.options.Metrics.Up(s.spec.Name, false)
	}
	s.leaving.Wait()
	s.image.Remove()
}

// status tells how the plugin fares.
func (s *slot) status() Status {
	out, p := s.glance()
	if p != nil {
		out.Memory = p.Memory()
	}
	return out
}

// glance returns the status without what a file has to be read for, and the process.
func (s *slot) glance() (Status, *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Name: s.spec.Name, Version: s.about.Version, Command: s.spec.Command, Roles: s.spec.Roles,
		State: s.state, Restarts: s.restarts, LastError: s.lastErr, SHA256: s.image.Sum,
	}
	if p := s.current; p != nil {
		out.PID = p.PID()
		out.Uptime = s.options.Now().Sub(p.Started)
		if s.options.Now().Before(s.lateUntil) {
			out.State = StateLate
		}
	}
	return out, s.current
}
