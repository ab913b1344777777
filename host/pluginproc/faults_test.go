package pluginproc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Every class of fault at the start, each with what the operator reads. A start
// that is refused must leave nothing behind, which newHost checks.
func TestFaultyStartIsRefused(t *testing.T) {
	tests := []struct {
		start string
		want  []string
	}{
		{"exit", []string{"it ended before it was ready", "no licence found"}},
		{"panic", []string{"it ended before it was ready", "panic: the stars are wrong"}},
		{"hang", []string{"it was not ready in time"}},
		{"freeze", []string{"it was not ready in time"}},
		{"silent-socket", []string{"it was not ready in time"}},
		{"configure-hangs", []string{"it was not ready in time"}},
		{"garbage", []string{"it was not ready in time"}},
		{"prints-long", []string{"it was not ready in time"}}, // the handshake ends a line of 200 KB
		{"wrong-cookie", []string{"it ended before it was ready", "not meant to be executed directly"}},
		{"wrong-protocol", []string{"another version of the protocol", "99"}},
		{"net-rpc", []string{"it speaks net/rpc and not gRPC"}},
		{"address-foreign", []string{"outside of its own directory"}},
		{"address-link", []string{"where no socket is"}},
		{"address-missing", []string{"where no socket is"}},
		{"address-tcp", []string{`announced the network "tcp"`}},
		{"lacks-role", []string{`does not have the role "dispenser", only org_setup, listener, identity_provider, validator: correct roles`}},
		{"configure-fails", []string{"configure", "the database of partners does not answer"}},
		{"configure-mistake", []string{"config.rules[1].target: it must be a path"}},
	}
	for _, tt := range tests {
		t.Run(tt.start, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, pluginproc.Options{StartTimeout: 2 * time.Second}, faulty(t, tt.start))
			err := h.Start(t.Context())
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range append(tt.want, `plugin "fault"`) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			if h.Ready() == nil {
				t.Error("it counts as ready")
			}
		})
	}
}

// Unusual starts that break no rule succeed.
func TestOddStartIsBorne(t *testing.T) {
	for _, start := range []string{
		"ok", "slow", "prints", "prints-long-line", "floods-stderr", "floods-line", "floods-stdout", "floods-print",
		"forges", "ignores-stop", "forks", "leaks", "spins",
	} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			h := started(t, pluginproc.Options{}, faulty(t, start))
			if _, err := h.dispense(t, "any"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProgramThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	arm := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xb7\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
	tests := []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none"), "does not exist: build it"},
		{"directory", dir, "is not a file"},
		{"not executable", write("data", "text", 0o644), "chmod +x"},
		{"not a program", write("text", "just text", 0o755), "is no program for"},
		{"another machine", write("arm", arm, 0o755), "but for aarch64"},
		{"no interpreter", write("script", "#!/no/such/interpreter\n", 0o755), "interpreter"},
		{"run by hand", write("hand", "#!/bin/sh\necho I am no plugin\n", 0o755), "it ended before it was ready"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := faulty(t, "ok")
			spec.Command = []string{tt.path}
			h := newHost(t, pluginproc.Options{StartTimeout: 2 * time.Second}, spec)
			if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestChecksum(t *testing.T) {
	t.Parallel()
	good, err := pluginproc.Sum(program(t, "faultplugin"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Repeat("0", 64)
	other := filepath.Join(t.TempDir(), "script.js")
	if err := os.WriteFile(other, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	otherSum, err := pluginproc.Sum(other)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(other)
	folderSum, err := pluginproc.Sum(folder)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		edit func(*pluginproc.Spec)
		want string
	}{
		{"folder right", func(s *pluginproc.Spec) { s.Checksums = map[string]string{folder: folderSum} }, ""},
		{"folder wrong", func(s *pluginproc.Spec) { s.Checksums = map[string]string{folder: wrong} }, "has the checksum " + folderSum},
		{"right", func(s *pluginproc.Spec) { s.SHA256 = good }, ""},
		{"right, in capitals", func(s *pluginproc.Spec) { s.SHA256 = strings.ToUpper(good) }, ""},
		{"wrong", func(s *pluginproc.Spec) { s.SHA256 = wrong }, "has the checksum " + good},
		{"further file right", func(s *pluginproc.Spec) { s.Checksums = map[string]string{other: otherSum} }, ""},
		{"further file wrong", func(s *pluginproc.Spec) { s.Checksums = map[string]string{other: wrong} }, "has the checksum " + otherSum},
		{"further file missing", func(s *pluginproc.Spec) { s.Checksums = map[string]string{other + "x": wrong} }, "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := faulty(t, "ok")
			tt.edit(&spec)
			h := newHost(t, pluginproc.Options{}, spec)
			err := h.Start(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What a checksum was taken of is what runs, also when the file is overwritten in
// place or exchanged afterwards, and also in a restart.
func TestReplacedProgramDoesNotRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plugin")
	copyFile(t, program(t, "faultplugin"), path)
	sum, err := pluginproc.Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	spec := faulty(t, "ok")
	spec.Command[0], spec.SHA256 = path, sum
	h := started(t, pluginproc.Options{}, spec)
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+path+".ran\n"), 0o755); err != nil {
		t.Fatal(err) // ETXTBSY would mean that the file itself is what runs
	}
	if _, err := h.dispense(t, "kill"); err == nil {
		t.Error("an answer of a killed process")
	}
	if !within(patience, func() bool { return h.Ready() == nil }) {
		t.Fatal("not ready again")
	}
	if _, err := h.dispense(t, "any"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".ran"); err == nil {
		t.Error("the exchanged file was executed")
	}
	if err := h.Reload(t.Context(), []pluginproc.Spec{spec}); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("reload of the exchanged file: %v", err)
	}
	if _, err := h.dispense(t, "any"); err != nil {
		t.Error("after the refused reload:", err)
	}
}

// The conformance checks run the bytes that were verified, whatever became of the file.
func TestCheckRunsWhatWasVerified(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plugin")
	copyFile(t, program(t, "faultplugin"), path)
	sum, err := pluginproc.Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	spec := faulty(t, "exchanges")
	spec.Command[0], spec.SHA256, spec.Env["EXCHANGE"] = path, sum, path
	if report, err := pluginproc.Check(t.Context(), spec, pluginproc.Options{}); err != nil || len(report.Findings) == 0 {
		t.Errorf("%d checks, %v", len(report.Findings), err)
	}
	if now, err := pluginproc.Sum(path); err != nil || now == sum {
		t.Error("the file was not exchanged:", err)
	}
}

// A further file that is exchanged while the checks run makes them fail: they may have run
// other bytes than those that were verified.
func TestCheckNoticesAnExchangedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, further := filepath.Join(dir, "plugin"), filepath.Join(dir, "further.js")
	text := "#!/bin/sh\n[ -e " + dir + "/again ] && echo 2 >" + further + "\ntouch " + dir + "/again\nexec " + program(t, "faultplugin") + " ok\n"
	for path, text := range map[string]string{script: text, further: "1"} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := pluginproc.Sum(further)
	if err != nil {
		t.Fatal(err)
	}
	spec := faulty(t, "ok")
	spec.Command, spec.Checksums = []string{script}, map[string]string{further: sum}
	if _, err := pluginproc.Check(t.Context(), spec, pluginproc.Options{}); err == nil || !strings.Contains(err.Error(), further+" has the checksum ") {
		t.Errorf("got %v", err)
	}
}

// The check of a plugin with a block holds its answers against what the block grants, and
// wants one: errors are none.
func TestCheckWantsAnAnswerWithinGrants(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]string{
		"done": "", "ungranted": `"is_admin", which is not granted`,
		"error": "each of 30 calls ended with an error and none with an answer: plugin unavailable: secret detail of the plugin",
	} {
		spec := faulty(t, "ok")
		spec.Roles, spec.Config = []string{pluginsdk.RoleDispenser}, []byte(`{"call": "`+way+`"}`)
		report, err := pluginproc.Check(t.Context(), spec, pluginproc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var failed []string
		for _, f := range report.Findings {
			if f.Err != nil {
				failed = append(failed, f.Check+": "+f.Err.Error())
			}
		}
		if want == "" && failed != nil || want != "" && (len(failed) != 1 || !strings.Contains(failed[0], want)) {
			t.Errorf("%s: failed %q, want %q", way, failed, want)
		}
	}
}

// A value that a column cannot hold breaks the contract, and is counted so.
func TestValueThatDoesNotFit(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.UserWrite = []string{"note", "number"}
	h := started(t, pluginproc.Options{Fits: func(_ context.Context, column string, v pluginsdk.Value) error {
		if column == "number" && v == "abc" {
			return errors.New(`column "number" cannot hold such a text`)
		}
		return nil
	}}, spec)
	if _, err := h.dispense(t, "column-word"); !errors.Is(err, pluginsdk.ErrContract) || !strings.Contains(err.Error(), `column "number" cannot hold such a text`) {
		t.Errorf("got %v", err)
	}
	if h.counts.get("dispense contract") != 1 || h.counts.get("dispense ok") != 0 {
		t.Errorf("counted %v", h.counts.n)
	}
	if may := h.MaySet([]string{"number"}); len(may) != 1 || h.MaySet([]string{"other"}) != nil {
		t.Errorf("%q may set the column", may)
	}
}

// Every class of fault in a call, with the answer that the pipeline gets. The
// plugin must work again afterwards, and nothing of it reach another call.
func TestFaultyCall(t *testing.T) {
	tests := []struct {
		way     string
		want    error
		text    string
		restart bool // it takes another process
	}{
		{"error", pluginsdk.ErrUnavailable, "secret detail", false},
		{"panic", pluginsdk.ErrUnavailable, "panic: in a call", false},
		{"panic-goroutine", pluginsdk.ErrUnavailable, "", true},
		{"exit", pluginsdk.ErrUnavailable, "", true},
		{"kill", pluginsdk.ErrUnavailable, "", true},
		{"hang", pluginsdk.ErrUnavailable, "did not answer in time", false},
		{"freeze", pluginsdk.ErrUnavailable, "did not answer in time", true},
		{"no-intent", pluginsdk.ErrContract, "no intent", false},
		{"unknown-kind", pluginsdk.ErrContract, `unknown kind "teleport"`, false},
		{"oversized", pluginsdk.ErrContract, "larger than 1048576 bytes", false},
		{"bad-utf8", pluginsdk.ErrContract, "UTF-8", false},
		{"raw-utf8", pluginsdk.ErrContract, "cannot be decoded", false},
		{"not-protobuf", pluginsdk.ErrContract, "cannot be decoded", false},
		{"no-effect", pluginsdk.ErrContract, "no known kind", false},
		{"long-target", pluginsdk.ErrContract, "the target has 9217 bytes", false},
		{"no-target", pluginsdk.ErrContract, "no target", false},
		{"ungranted", pluginsdk.ErrContract, `"is_admin", which is not granted: add it to user_write`, false},
		{"credential", pluginsdk.ErrContract, `"password", which is not granted`, false},
		{"not-a-number", pluginsdk.ErrContract, "not a number", false},
		{"big-value", pluginsdk.ErrContract, "65536 bytes", false},
		{"fork", nil, "", false},
		{"fork-away", nil, "", false},
		{"prints-long", nil, "", false},
		{"script-target", nil, "", false}, // targets are the pipeline's to check
		{"foreign-target", nil, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.way, func(t *testing.T) {
			t.Parallel()
			spec := faulty(t, "ok")
			spec.Timeout = 2 * time.Second
			h := started(t, pluginproc.Options{HealthInterval: time.Second}, spec)
			before := h.pid()
			_, err := h.dispense(t, tt.way)
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.text)
			}
			if tt.restart && !within(20*time.Second, func() bool { return h.Status()[0].PID != before && h.Ready() == nil }) {
				t.Fatal("it was not started again")
			}
			if _, err := h.dispense(t, "any"); err != nil {
				t.Error("afterwards:", err)
			}
			if !tt.restart && h.pid() != before {
				t.Error("it was started again without need")
			}
			if tt.want != nil && !strings.Contains(h.log.String(), "request_id=r1") {
				t.Error("the log does not tell which request failed")
			}
		})
	}
}

func TestFaultyHandle(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	tests := []struct {
		way, text string
		want      error
	}{
		{"not-a-result", "no result", pluginsdk.ErrContract},
		{"raw-status", `unknown status "maybe"`, pluginsdk.ErrContract},
		{"ungranted", "is_admin", pluginsdk.ErrContract},
		{"error", "secret detail", pluginsdk.ErrUnavailable},
		{"panic", "panic", pluginsdk.ErrUnavailable},
		{"any", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.way, func(t *testing.T) {
			_, err := h.handle(t, tt.way, map[string]pluginsdk.Value{"org_name": "x"})
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

// A dispense whose process dies is repeated on a fresh one; a form is not.
func TestOnlyDispenseIsRepeated(t *testing.T) {
	t.Parallel()
	t.Run("dispense", func(t *testing.T) {
		h := started(t, pluginproc.Options{}, faulty(t, "ok"))
		before := h.pid()
		if _, err := h.dispense(t, "once"); err != nil {
			t.Fatal(err)
		}
		if h.pid() == before {
			t.Error("the process did not die")
		}
	})
	t.Run("handle", func(t *testing.T) {
		h := started(t, pluginproc.Options{}, faulty(t, "ok"))
		if _, err := h.handle(t, "once", nil); !errors.Is(err, pluginsdk.ErrUnavailable) {
			t.Fatal(err)
		}
		if !within(patience, func() bool { return h.Ready() == nil }) {
			t.Error("not ready again")
		}
	})
	t.Run("dispense of a plugin that always dies", func(t *testing.T) {
		h := started(t, pluginproc.Options{}, faulty(t, "ok"))
		if _, err := h.dispense(t, "kill"); !errors.Is(err, pluginsdk.ErrUnavailable) {
			t.Fatal(err)
		}
		if !within(patience, func() bool { return h.counts.get("restart") == 2 }) {
			t.Errorf("%d restarts, want 2: one call, repeated once", h.counts.get("restart"))
		}
	})
}

func TestForgedLogLinesStayThePluginsOwn(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "forges"))
	if !within(patience, func() bool { return strings.Contains(h.log.String(), "odd keys") }) {
		t.Fatal("the lines did not arrive")
	}
	for line := range strings.Lines(h.log.String()) {
		if strings.ContainsAny(line, "\x1b\r") {
			t.Errorf("control characters in %q", line)
		}
		if !strings.Contains(line, " vestibule.plugin") && !strings.HasPrefix(line, "  ") {
			t.Errorf("a line that seems to be of somebody else: %q", line)
		}
	}
}

func TestFloodIsCounted(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "floods-stderr"))
	for range 20 {
		if _, err := h.dispense(t, "any"); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if h.counts.get("dropped") == 0 || !strings.Contains(h.log.String(), "logs too fast") {
		t.Error("lines were not dropped, or not counted")
	}
	if size := len(h.log.String()); size > 300_000 {
		t.Errorf("the flood left %d bytes of log", size)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}
