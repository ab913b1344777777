package pluginproc_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func TestReload(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok", "1")
	path := filepath.Join(t.TempDir(), "plugin")
	copyFile(t, spec.Command[0], path)
	spec.Command[0] = path
	h := started(t, pluginproc.Options{StartTimeout: 3 * time.Second}, spec)
	reload := func(s pluginproc.Spec) error { return h.Reload(t.Context(), []pluginproc.Spec{s}) }
	first := h.pid()

	if err := reload(spec); err != nil || h.pid() != first {
		t.Fatalf("an unchanged plugin was replaced, or refused: %v", err)
	}

	changed := spec
	changed.Config = json.RawMessage(`{"call":"done"}`)
	if err := reload(changed); err != nil || h.pid() == first {
		t.Fatalf("a changed config block did not lead to another process: %v", err)
	}
	if intent, err := h.dispense(t, "any"); err != nil || !intent.IsDone() {
		t.Fatalf("the new config block is not in use: %v %v", intent, err)
	}
	second := h.pid()

	broken := spec
	broken.Config = json.RawMessage(`{"number":"three","rules":[{"target":"/"},{}],"cal":"x"}`)
	found, others := finding.In(reload(broken))
	if len(found) != 3 || others != nil || h.pid() != second {
		t.Fatalf("a broken config block: %v, %v", found, others)
	}
	for i, want := range []struct {
		what  string
		steps []string
	}{
		{`plugin "fault": config.number`, []string{"number"}},
		{`plugin "fault": config.rules[1].target`, []string{"rules", "1", "target"}},
		{`plugin "fault": config.cal`, []string{"cal"}},
	} {
		path := append([]string{"plugin", "fault", "config"}, want.steps...)
		if f := found[i]; f.What != want.what || !slices.Equal(f.Path, path) || f.Remedy == "" {
			t.Errorf("finding %d: %+v, want %s at %v", i, f, want.what, path)
		}
	}
	broken = spec
	broken.Command = []string{path, "exit"}
	if err := reload(broken); err == nil || h.pid() != second || h.Ready() != nil {
		t.Fatalf("a broken program: %v", err)
	}
	if intent, err := h.dispense(t, "any"); err != nil || !intent.IsDone() {
		t.Fatalf("the old one is not in use any more: %v %v", intent, err)
	}
}

func TestReloadSwapsAChangedProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "plugin")
	copyFile(t, program(t, "faultplugin"), path)
	spec := faulty(t, "ok")
	spec.Command[0] = path
	h := started(t, pluginproc.Options{}, spec)
	first, sum := h.pid(), h.Status()[0].SHA256
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", append(data, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(t.Context(), []pluginproc.Spec{spec}); err != nil {
		t.Fatal(err)
	}
	if h.pid() == first || h.Status()[0].SHA256 == sum {
		t.Error("the changed program is not in use")
	}
}

// What a reload has prepared takes over at its end, or is gone without a trace.
func TestReloadIsPreparedFirst(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok", "one"))
	first := h.pid()
	change, err := h.Prepare(t.Context(), []pluginproc.Spec{faulty(t, "ok", "two")})
	if err != nil {
		t.Fatal(err)
	}
	if h.pid() != first {
		t.Error("the new process took over before its time")
	}
	if err := change.Abort(); err != nil {
		t.Error(err)
	}
	if h.pid() != first || h.Ready() != nil || h.Status()[0].Version != "one" {
		t.Errorf("after an end without a change: %+v", h.Status())
	}
	if change, err = h.Prepare(t.Context(), []pluginproc.Spec{faulty(t, "ok", "three")}); err != nil {
		t.Fatal(err)
	}
	change.Commit(t.Context())
	if h.pid() == first || h.Ready() != nil || h.Status()[0].Version != "three" {
		t.Errorf("after the change: %+v", h.Status())
	}

	// A host without plugins has nothing left of one that it was to get.
	none := started(t, pluginproc.Options{})
	if change, err = none.Prepare(t.Context(), []pluginproc.Spec{faulty(t, "ok", "four")}); err != nil {
		t.Fatal(err)
	}
	if err := change.Abort(); err != nil || len(none.Status()) > 0 {
		t.Errorf("%+v, %v", none.Status(), err)
	}
	if err := none.Reload(t.Context(), []pluginproc.Spec{faulty(t, "ok", "five")}); err != nil || none.Ready() != nil {
		t.Errorf("the first plugin afterwards: %v, %v", err, none.Ready())
	}
}

// A script is swapped when it changes, although the program is the interpreter.
func TestReloadSwapsAChangedScript(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "plugin.sh")
	write := func(version string) {
		text := "exec " + program(t, "faultplugin") + " ok " + version + "\n"
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	spec := faulty(t, "ok")
	spec.Command = []string{"/bin/sh", script}
	h := started(t, pluginproc.Options{}, spec)
	write("2")
	if err := h.Reload(t.Context(), []pluginproc.Spec{spec}); err != nil {
		t.Fatal(err)
	}
	if v := h.Status()[0].Version; v != "2" {
		t.Errorf("version %s is in use", v)
	}
}

func TestReloadMovesRoles(t *testing.T) {
	t.Parallel()
	one := faulty(t, "ok", "one")
	h := started(t, pluginproc.Options{}, one)
	first := h.pid()
	one.Roles = []string{pluginsdk.RoleDispenser}
	two := faulty(t, "ok", "two")
	two.Name, two.Roles = "second", []string{pluginsdk.RoleOrgSetup}
	if err := h.Reload(t.Context(), []pluginproc.Spec{one, two}); err != nil {
		t.Fatal(err)
	}
	if len(h.Status()) != 2 || h.Ready() != nil {
		t.Fatalf("%+v", h.Status())
	}
	if _, err := h.handle(t, "any", nil); err != nil {
		t.Error(err)
	}
	if err := h.Reload(t.Context(), []pluginproc.Spec{two}); err != nil {
		t.Fatal(err)
	}
	if h.Dispenser() != nil || h.OrgSetup() == nil {
		t.Error("the roles are not those of the specs")
	}
	if !within(patience, func() bool { return gone(first) }) {
		t.Error("the plugin that no spec names still runs")
	}
	if err := h.Reload(t.Context(), nil); err != nil || h.OrgSetup() != nil {
		t.Error("a reload to nothing:", err)
	}
	if err := h.Reload(t.Context(), []pluginproc.Spec{two}); err != nil {
		t.Error("a reload from nothing:", err)
	}
}

// One plugin that cannot be started keeps all from starting, and is named.
func TestStartIsAllOrNothing(t *testing.T) {
	t.Parallel()
	good, bad := faulty(t, "ok"), faulty(t, "exit")
	good.Roles, bad.Roles, bad.Name = []string{"dispenser"}, []string{"org_setup"}, "bad"
	h := newHost(t, pluginproc.Options{}, good, bad)
	err := h.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), `"bad"`) || strings.Contains(err.Error(), `"fault"`) {
		t.Fatal(err)
	}
	for _, st := range h.Status() {
		if st.State != pluginproc.StateStopped {
			t.Errorf("%+v", st)
		}
	}
	if _, err := h.dispense(t, "any"); !errors.Is(err, pluginsdk.ErrUnavailable) {
		t.Error(err)
	}
}

func TestStartCanBeGivenUp(t *testing.T) {
	t.Parallel()
	h := newHost(t, pluginproc.Options{}, faulty(t, "hang"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := h.Start(ctx); err == nil || time.Since(begin) > 12*time.Second { // a start has 15 s
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

func TestCallsBeyondTheBoundAreRefused(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{MaxCalls: 4}, faulty(t, "ok"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = h.Dispenser().Dispense(t.Context(), person("hang"), request()) })
	}
	if !within(patience, func() bool { return h.counts.get("dispense unavailable") == 4 }) {
		t.Errorf("%d of 8 calls were refused at once, want 4", h.counts.get("dispense unavailable"))
	}
	if _, err := h.dispense(t, "any"); !errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), "4 calls are under way") {
		t.Error("a call beyond the bound:", err)
	}
	all.Wait()
	if _, err := h.dispense(t, "any"); err != nil {
		t.Error("afterwards:", err)
	}
}

// A frozen process is found by the health watch alone, without any call.
func TestFrozenProcessIsReplaced(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{HealthInterval: 400 * time.Millisecond}, faulty(t, "ok"))
	frozen := h.pid()
	if err := syscall.Kill(frozen, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !within(patience, func() bool { return h.pid() != frozen && h.Ready() == nil }) {
		t.Fatal("it was not replaced")
	}
	if !within(patience, func() bool { return gone(frozen) }) {
		t.Error("the frozen process is still there")
	}
	if st := h.Status()[0]; st.Restarts != 1 || !strings.Contains(st.LastError, "health") {
		t.Errorf("%+v", st)
	}
}

// The defaults must find a frozen process, and have another one, within 40 s:
// the wait for a check, two checks that time out, the pause between, the start.
func TestFrozenProcessIsReplacedInTime(t *testing.T) {
	t.Parallel()
	if os.Getenv("LONG") == "" {
		t.Skip("LONG is not set: it takes half a minute (make nightly)")
	}
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	frozen := h.pid()
	if err := syscall.Kill(frozen, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !within(40*time.Second, func() bool { return h.pid() != frozen && h.Ready() == nil }) {
		t.Error("it was not replaced within 40 s")
	}
}

// A plugin that cannot be restarted is tried at growing intervals, which the
// log shows, and recovers without help.
func TestRestartsArePutOff(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	path := filepath.Join(t.TempDir(), "plugin")
	copyFile(t, spec.Command[0], path)
	spec.Command[0] = path
	h := started(t, pluginproc.Options{}, spec)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(h.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !within(patience, func() bool {
		err := h.Ready()
		return err != nil && strings.Contains(err.Error(), "does not exist: build it")
	}) {
		t.Fatal(h.Ready())
	}
	if !within(patience, func() bool { return h.counts.get("restart") >= 3 }) {
		t.Fatalf("%d attempts", h.counts.get("restart"))
	}
	if n := h.counts.get("restart"); n > 20 {
		t.Errorf("%d attempts in a short time", n)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if !within(patience, func() bool { return h.Ready() == nil }) {
		t.Error("it did not come back:", h.Ready())
	}
}

// While a process is started again, calls wait for it as long as they may.
func TestCallsWaitForARestart(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	for range 3 {
		if err := syscall.Kill(h.pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := h.dispense(t, "any"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStopLetsCallsFinish(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	outcome := make(chan error, 1)
	go func() {
		_, err := h.Dispenser().Dispense(context.Background(), person("slow"), request())
		outcome <- err
	}()
	h.log.arrived(t, 1)
	if err := h.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-outcome; err != nil {
		t.Error("a call under way was cut off:", err)
	}
	if err := h.Stop(context.Background()); err != nil {
		t.Error("a second stop:", err)
	}
}

// Whatever a plugin does, a stop takes no longer than a host may take.
func TestStopIsBounded(t *testing.T) {
	for _, way := range []string{"hang", "freeze"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			spec := faulty(t, "ignores-stop")
			spec.Timeout = time.Minute
			h := started(t, pluginproc.Options{}, spec)
			pid := h.pid()
			go func() { _, _ = h.Dispenser().Dispense(context.Background(), person(way), request()) }()
			h.log.arrived(t, 1)
			begin := time.Now()
			if err := h.Stop(context.Background()); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > 45*time.Second { // less than the plugin's timeout
				t.Errorf("it took %s", took)
			}
			if !gone(pid) {
				t.Error("the process is still there")
			}
		})
	}
}

// A process that a reload has replaced keeps a stop no longer than one that is in use.
func TestStopAfterAReloadIsBounded(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ignores-stop", "one")
	spec.Timeout = time.Minute
	h := started(t, pluginproc.Options{}, spec)
	pid := h.pid()
	go func() { _, _ = h.Dispenser().Dispense(context.Background(), person("hang"), request()) }()
	h.log.arrived(t, 1)
	next := spec
	next.Command = append(slices.Clone(spec.Command[:2]), "two")
	if err := h.Reload(t.Context(), []pluginproc.Spec{next}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := h.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 45*time.Second { // less than the plugin's timeout
		t.Errorf("it took %s", took)
	}
	if !gone(pid) {
		t.Error("the process is still there")
	}
}

func TestZeroValueHost(t *testing.T) {
	m, err := pluginproc.New(nil, pluginproc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Dispensers()) != 0 || m.OrgSetup() != nil || m.Ready() != nil || len(m.Status()) != 0 {
		t.Error("a host without plugins has some")
	}
	if err := errors.Join(m.Start(t.Context()), m.Stop(t.Context())); err != nil {
		t.Error(err)
	}
}

// A check ends the children of all processes that it has started.
func TestCheckLeavesNoChildren(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "forks")
	if _, err := pluginproc.Check(t.Context(), spec, pluginproc.Options{}); err != nil {
		t.Error(err)
	}
	childrenEnd(t, spec)
}

func TestCall(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok", "5")
	spec.Roles = nil
	answer, err := pluginproc.Call(t.Context(), spec, pluginproc.Options{}, []byte(`{"user":{"id":7,"email":"done@example.com"}}`))
	if err != nil || !strings.Contains(string(answer), `"kind": "done"`) {
		t.Errorf("%s, %v", answer, err)
	}
	answer, err = pluginproc.Call(t.Context(), spec, pluginproc.Options{}, []byte(`{"form":{"org_name":"x"}}`))
	if err != nil || !strings.Contains(string(answer), `9223372036854775807`) {
		t.Errorf("%s, %v", answer, err)
	}
	if _, err = pluginproc.Call(t.Context(), spec, pluginproc.Options{}, []byte(`{"users":{}}`)); err == nil || !strings.Contains(err.Error(), `unknown field "users"`) {
		t.Error(err)
	}
}
