package host_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// A hundred wrong codes of one person are all that thirty days take, however patiently
// they are tried, and each leaves an audit line that does not tell the code.
func TestHeldErrorsAreBoundedForLong(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, func(o *host.Options) { o.Auth.Attempts = 50 })
	b := s.signedIn(t)
	guess := func(code string) answer { return b.post("/auth/intents/redirect", map[string]any{"code": code}) }
	for range 2 {
		for i := range 50 {
			guess("wrong-"+strconv.Itoa(i)).want(t, 200, "")
		}
		s.clock.Advance(61 * time.Second)
	}
	asked := len(g.questions())
	a := guess("4711")
	a.want(t, 429, "")
	if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || wait < 29*24*3600 {
		t.Errorf("Retry-After is %q, want some thirty days", a.Header.Get("Retry-After"))
	}
	if len(g.questions()) != asked {
		t.Error("the dispenser was asked")
	}
	lines := 0
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "wrong-") {
			t.Errorf("a code is in the log: %s", line)
		}
		if !strings.Contains(line, "audit: event=step_refused") {
			continue
		}
		lines++
		if !strings.Contains(line, " user="+s.user.ID) || !strings.Contains(line, " request_id=") {
			t.Errorf("the line tells neither who nor which request: %s", line)
		}
	}
	if lines != 100 {
		t.Errorf("%d audit lines, want 100", lines)
	}
	if !strings.Contains(s.log.String(), "audit: event=lockout") || !strings.Contains(s.log.String(), "kind=held_long user="+s.user.ID) {
		t.Error("no line says that the person is locked out")
	}
	for _, name := range []string{"ADA@example.com", s.user.ID} {
		if n, err := s.admin.ClearCounters(t.Context(), name); err != nil || n == 0 {
			t.Errorf("cleared %d by %s, %v", n, name, err)
		}
		guess("wrong-once-more").want(t, 200, "")
	}
}
