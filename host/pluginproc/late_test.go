package pluginproc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A said is an error with a status that the plugin's side chose.
type said struct{ code codes.Code }

func (s said) Error() string { return "the plugin's side says " + s.code.String() }

func (s said) Answered() bool { return true }

func (s said) Unwrap() error { return pluginsdk.ErrUnavailable }

func (s said) GRPCStatus() *status.Status { return status.New(s.code, s.Error()) }

// The host's clock decides whether a call ran out of time, and not the status that a
// runtime writes at that moment.
func TestDeadlinesAreTheHosts(t *testing.T) {
	const timeout = 3 * time.Second
	tests := []struct {
		name  string
		after time.Duration // of the answer
		err   error
		late  bool
	}{
		{"the runtime gives up a millisecond early", timeout - time.Millisecond, said{codes.DeadlineExceeded}, true},
		{"the runtime gives up late", timeout + time.Millisecond, said{codes.DeadlineExceeded}, true},
		{"the runtime writes another status", timeout - time.Millisecond, said{codes.Canceled}, true},
		{"the host gives up", timeout, context.DeadlineExceeded, true},
		{"the plugin gives up something of its own", time.Second, said{codes.DeadlineExceeded}, false},
		{"the plugin refuses", time.Second, said{codes.Unavailable}, false},
		{"an answer in the last moment", timeout - time.Millisecond, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pluginproc.NewTestSlot(timeout, 0)
				err := s.Call(t.Context(), 1, func(context.Context) error { time.Sleep(tt.after); return tt.err })
				if late := s.Late() == 1; late != tt.late || s.WantsCheck() != tt.late || !errors.Is(err, tt.err) {
					t.Errorf("the call is late: %v; a health check is asked for: %v; %v", late, s.WantsCheck(), err)
				}
			})
		})
	}
	t.Run("the caller had less time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := pluginproc.NewTestSlot(timeout, 0)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_ = s.Call(ctx, 1, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			if s.Late() != 0 {
				t.Error("the plugin counts as late")
			}
		})
	})
}

// hung returns for each language a plugin that answers nothing but its health check. A
// person who is called Grace is refused.
func hung(t *testing.T) map[string]pluginproc.Spec {
	t.Helper()
	sdk, err := filepath.Abs("../../pluginsdk")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	script := func(variable, path, program string, probe ...string) []string {
		cmd := exec.Command(program, probe...)
		cmd.Dir = sdk + "/node" // where its packages are
		if out, err := cmd.CombinedOutput(); err != nil {
			if os.Getenv(variable) == "1" {
				t.Fatalf("%s with gRPC is missing: %v\n%s", program, err, out)
			}
			return nil
		}
		found, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		return []string{found, path}
	}
	node := script("REQUIRE_NODE", write("hung.js", fmt.Sprintf(`const v = require(%q)
v.serve({ name: 'hung', dispense: (user) => { if (user.name === 'Grace') throw new Error('refused'); return new Promise(() => {}) } })
`, sdk+"/node/vestibule")), "node", "-e", "require.resolve('@grpc/grpc-js')")
	python := script("REQUIRE_PYTHON", write("hung.py", fmt.Sprintf(`import sys, time
sys.path.append(%q)
import vestibule as v

def dispense(user, request):
    if user.name == "Grace":
        raise RuntimeError("refused")
    time.sleep(3600)

v.serve("hung", dispense=dispense)
`, sdk+"/python")), "/usr/bin/python3", "-c", "import grpc")
	specs := map[string]pluginproc.Spec{"Go": faulty(t, "ok"), "Node": {Command: node}, "Python": {Command: python}}
	for language, spec := range specs {
		spec.Name, spec.Roles, spec.Timeout = "hung", []string{pluginsdk.RoleDispenser}, time.Second
		if spec.Env == nil {
			spec.Env = map[string]string{}
		}
		specs[language] = spec
	}
	return specs
}

// A plugin that answers nothing but its health check is replaced after three calls in a
// row, whatever its runtime writes when their time is over. What its own code says never
// counts.
func TestHungPluginIsReplaced(t *testing.T) {
	for language, spec := range hung(t) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if len(spec.Command) == 0 {
				t.Skip("it is not there")
			}
			h := started(t, pluginproc.Options{}, spec)
			refused := person("error")
			refused.Name = "Grace"
			for range 6 {
				if _, err := h.Dispenser().Dispense(t.Context(), refused, request()); !errors.Is(err, pluginsdk.ErrUnavailable) {
					t.Error(err)
				}
			}
			if n := h.Status()[0].Restarts; n != 0 {
				t.Errorf("%d restarts, and the plugin's own code had answered", n)
			}
			for round := 1; round <= 4; round++ {
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { _, _ = h.Dispenser().Dispense(t.Context(), person("hang"), request()) })
				}
				all.Wait()
				if !within(patience, func() bool { return h.Status()[0].Restarts == round }) {
					t.Fatalf("%d restarts after %d calls that ran out of time", h.Status()[0].Restarts, 3*round)
				}
			}
		})
	}
}

// Three calls of one person that run out of time replace the process. /readyz, which is
// made of the states, does not notice, and others sign in meanwhile. The same calls of two
// people make the plugin late.
func TestOnePersonCannotSpoilReadiness(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.Timeout = 2 * time.Second
	h := started(t, pluginproc.Options{}, spec)
	hang := func(people ...string) {
		var all sync.WaitGroup
		for _, id := range people {
			user := person("hang")
			user.ID = id
			all.Go(func() { _, _ = h.Dispenser().Dispense(t.Context(), user, request()) })
		}
		all.Wait()
	}
	watched, end := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ; watched.Err() == nil; time.Sleep(time.Millisecond) {
			if st := h.Status()[0]; st.State != pluginproc.StateReady {
				t.Errorf("/readyz would say %s", st.State)
				return
			}
		}
	})
	for round := 1; round <= 3; round++ {
		hang("7", "7", "7")
		if _, err := h.dispense(t, "any"); err != nil {
			t.Error("a sign-in meanwhile:", err)
		}
		if !within(patience, func() bool { return h.Status()[0].Restarts == round }) {
			t.Fatalf("%d restarts in round %d", h.Status()[0].Restarts, round)
		}
	}
	end()
	watching.Wait()
	hang("7", "7", "8")
	if !within(patience, func() bool { return h.Status()[0].Restarts == 4 }) || h.Status()[0].State != pluginproc.StateLate {
		t.Errorf("after calls of two people: %+v", h.Status()[0])
	}
}
