package pluginproc

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An instance is a process that has, or had, a slot. The slot's lock guards it.
type instance struct {
	*proc.Process
	spec     Spec
	log      hclog.Logger
	alive    context.Context // ends a moment after the process did
	calls    int
	late     int           // calls in a row that ran out of time
	answered bool          // it worked once
	broken   bool          // the connection broke: it gets no calls until it answers a health check
	draining bool          // it gets no further calls
	idle     chan struct{} // closed when draining and without calls
}

// lastAnswers is how long the answers of a process that has ended may still arrive.
const lastAnswers = 100 * time.Millisecond

func newInstance(spec Spec, p *proc.Process, log hclog.Logger) *instance {
	t := &instance{Process: p, spec: spec, log: log, alive: context.Background(), idle: make(chan struct{})}
	if p != nil {
		alive, end := context.WithCancel(t.alive)
		t.alive = alive
		go func() {
			<-p.Dead()
			time.AfterFunc(lastAnswers, end)
		}()
	}
	return t
}

// ask makes a call on the process. It does not rely on the connection to break when
// the process dies: a child may hold that open.
func (t *instance) ask(ctx context.Context, do func(context.Context, *instance) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.alive, cancel)()
	return do(ctx, t)
}

// drain is called with the slot's lock held.
func (t *instance) drain() {
	if !t.draining {
		t.draining = true
		if t.calls == 0 {
			close(t.idle)
		}
	}
}

// A slot is the place of one plugin: at most one process answers calls, while
// others may be on their way in or out.
type slot struct {
	launcher *proc.Launcher
	options  Options
	log      hclog.Logger

	mu       sync.Mutex
	spec     Spec
	image    *proc.Image
	current  *instance
	changed  chan struct{} // closed and renewed when current, next or stopping change
	version  int           // counts reloads, so that a late start of an old spec is seen
	calls    int           // under way or waiting
	stopping bool
	state    State
	about    pluginsdk.Description
	lastErr  string
	restarts int
	strikes  int       // processes lost in a row
	next     time.Time // when the next start is due, while there is no process
	// lateUntil is the end of the probation of a plugin whose calls ran out of time.
	lateUntil time.Time

	check   chan struct{} // asks for a health check now
	leaving sync.WaitGroup
}

func (m *Manager) newSlot(s Spec, im *proc.Image) *slot {
	return &slot{
		launcher: m.launcher, options: m.options, log: m.log.With("plugin", s.Name), spec: s, image: im,
		changed: make(chan struct{}), check: make(chan struct{}, 1), state: StateStarting,
	}
}

// notify is called with the lock held.
func (s *slot) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// install makes p the process that answers calls, unless the slot has another
// version by now or is stopping. The old process finishes its calls.
func (s *slot) install(p *instance, version int) bool {
	s.mu.Lock()
	if s.stopping || s.version != version {
		s.mu.Unlock()
		p.Stop(time.Second)
		return false
	}
	old := s.current
	s.current, s.state, s.about, s.next = p, StateReady, p.About, time.Time{}
	s.finish(old)
	s.notify()
	s.mu.Unlock()
	s.log.Info("ready", "pid", p.PID(), "version", p.About.Version, "sha256", p.Sum()[:12])
	s.options.Metrics.Up(p.spec.Name, true)
	return true
}

// swap replaces the spec, with a process that is ready.
func (s *slot) swap(spec Spec, one launched) bool {
	s.mu.Lock()
	old := s.image
	s.spec, s.image, s.strikes, s.lastErr, s.lateUntil = spec, one.image, 0, "", time.Time{}
	s.version++
	version := s.version
	s.mu.Unlock()
	old.Release()
	return s.install(newInstance(spec, one.process, s.log), version)
}

// finish lets a process finish its calls and stops it. It is called with the
// lock held.
func (s *slot) finish(p *instance) {
	if p == nil {
		return
	}
	p.drain()
	limit := p.spec.Timeout
	s.leaving.Go(func() {
		select {
		case <-p.idle:
		case <-p.Exited():
		case <-time.After(limit):
		}
		p.Stop(stopGrace)
	})
}

// close lets calls under way finish as long as ctx allows, and stops the
// process. The supervisor has ended.
func (s *slot) close(ctx context.Context) {
	s.mu.Lock()
	p := s.current
	s.current, s.state, s.stopping = nil, StateStopped, true
	s.notify()
	if p != nil {
		p.drain()
	}
	s.mu.Unlock()
	if p != nil {
		select {
		case <-p.idle:
		case <-p.Exited():
		case <-ctx.Done():
		}
		p.Stop(stopGrace)
		s.options.Metrics.Up(p.spec.Name, false)
	}
	s.leaving.Wait()
	s.image.Release()
}

// status tells how the plugin fares.
func (s *slot) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Name: s.spec.Name, Version: s.about.Version, Command: s.spec.Command, Roles: s.spec.Roles,
		State: s.state, Restarts: s.restarts, LastError: s.lastErr, SHA256: s.image.Sum,
	}
	if s.state == StateReady && s.options.Now().Before(s.lateUntil) {
		out.State = StateLate
	}
	if p := s.current; p != nil {
		out.PID = p.PID()
		out.Uptime = s.options.Now().Sub(p.Started)
	}
	return out
}
