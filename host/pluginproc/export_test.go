package pluginproc

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Bare returns the connection to the dispenser without the manager around it,
// as the baseline of benchmarks.
func (m *Manager) Bare() *pluginsdk.Client {
	s, err := m.slotOf(pluginsdk.RoleDispenser)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.Client
}

// Told is what the plugin that runs is told.
func (m *Manager) Told(user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.User, *pluginsdk.Request) {
	s, err := m.slotOf(pluginsdk.RoleDispenser)
	if err != nil {
		return user, req
	}
	s.mu.Lock()
	p := s.current
	s.mu.Unlock()
	return p.tell(user, req)
}

// Narrow is what a plugin gets to know.
func (s Spec) Narrow(user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.User, *pluginsdk.Request) {
	return s.narrow(user, req)
}

// CheckIntent and CheckResult are what the pipeline gets of an answer.
func (s Spec) CheckIntent(i pluginsdk.Intent) (pluginsdk.Intent, error) { return s.checkIntent(i) }

// CheckResult is [Spec.CheckIntent] for the answer of a handler.
func (s Spec) CheckResult(r pluginsdk.Result) (pluginsdk.Result, error) { return s.checkResult(r) }

// Same tells whether two specs lead to the same process.
func (s Spec) Same(other Spec) bool { return s.same(other) }

// A TestSlot is a slot whose processes are made up.
type TestSlot struct{ slot *slot }

// NewTestSlot returns a slot with a process.
func NewTestSlot(timeout time.Duration, maxCalls int) *TestSlot {
	t := &TestSlot{newSlot(Spec{Name: "test", Timeout: timeout}, nil, Options{MaxCalls: maxCalls}.withDefaults(), nil, nil)}
	t.Replace()
	return t
}

// Replace puts another process into the slot.
func (t *TestSlot) Replace() {
	t.slot.mu.Lock()
	defer t.slot.mu.Unlock()
	t.slot.to(StateReady, &instance{slot: t.slot, alive: context.Background()})
}

// Lose takes the process away until the next start, in a while.
func (t *TestSlot) Lose(while time.Duration) {
	t.slot.mu.Lock()
	defer t.slot.mu.Unlock()
	t.slot.next = time.Now().Add(while)
	t.slot.to(StateDown, nil)
}

// Call makes a call that at most limit processes may see.
func (t *TestSlot) Call(ctx context.Context, limit int, do func(context.Context) error) error {
	return t.slot.call(ctx, "r", "7", limit, func(ctx context.Context, _ *instance) error { return do(ctx) })
}

// Late returns how many calls in a row ran out of time.
func (t *TestSlot) Late() int {
	t.slot.mu.Lock()
	defer t.slot.mu.Unlock()
	return len(t.slot.current.late)
}

// WantsCheck tells whether a call has asked for a health check.
func (t *TestSlot) WantsCheck() bool { return len(t.slot.check) > 0 }
