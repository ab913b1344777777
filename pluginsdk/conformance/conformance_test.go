package conformance_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
)

// faulty builds the plugin that misbehaves on demand.
func faulty(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "faultplugin")
	cmd := exec.Command("go", "build", "-o", path, "../../host/pluginproc/internal/faultplugin")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// Each check fails for a plugin that is wrong in that respect, and only then.
func TestChecksFindWhatIsWrong(t *testing.T) {
	path := faulty(t)
	everything := []string{
		"answers as dispenser whatever", "answers as dispenser for many", "answers as org_setup whatever", "answers as org_setup for many",
	}
	tests := []struct {
		name, start, config string
		failed              []string
	}{
		{"a good plugin", "ok", `{"call": "done"}`, nil},
		{"every call ends with an error", "ok", `{"call": "error"}`, []string{
			"answers as dispenser whatever a host may send: each of 30 calls ended with an error and none with an answer: plugin unavailable: secret detail",
			"answers as org_setup whatever a host may send: each of ", "answers as listener whatever a host may send: each of ",
			"answers as identity_provider whatever a host may send: each of ", "answers as validator whatever a host may send: each of ",
		}},
		{"no intent", "ok", `{"call": "no-intent"}`, []string{"answers as dispenser whatever a host may send", "answers as dispenser for many at once"}},
		{"an unknown kind", "ok", `{"call": "unknown-kind"}`, everything},
		{"bytes that are no message", "ok", `{"call": "not-protobuf"}`, append(everything, "answers as validator whatever", "answers as validator for many")},
		{"no result", "ok", `{"call": "not-a-result"}`, []string{"answers as org_setup whatever", "answers as org_setup for many"}},
		{"prints", "prints", `{"call": "done"}`, []string{"prints nothing on standard output", "ends when the host is gone"}},
		{"ignores its end", "ignores-stop", `{"call": "done"}`, []string{"ends when it is told to", "ends when the host is gone"}},
		{"a step without a title", "offers-untitled", `{"call": "done"}`, []string{"says what it is: it offers a step in Describe, and has no title", "ends when the host is gone"}},
		{"one role", "lacks-role", `{}`, []string{"ends when the host is gone"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			setup := pluginsdk.Setup{Config: []byte(tt.config)}
			r, err := conformance.Run(t.Context(), conformance.Program{
				Command: []string{path, tt.start}, Setup: setup, Timeout: time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range r.Findings {
				if f.Err != nil {
					failed = append(failed, f.Check+": "+f.Err.Error())
				}
			}
			if r.Failed() != (len(tt.failed) > 0) || len(failed) != len(tt.failed) {
				t.Fatalf("failed: %q, want %q", failed, tt.failed)
			}
			for i, want := range tt.failed {
				if !strings.HasPrefix(failed[i], want) {
					t.Errorf("failed: %q, want %q", failed[i], want)
				}
			}
		})
	}
}

func TestProgramThatCannotBeChecked(t *testing.T) {
	path := faulty(t)
	for start, want := range map[string]string{
		"exit": "no licence found", "address-tcp": "not unix", "address-missing": "is no socket", "address-foreign": "not in PLUGIN_UNIX_SOCKET_DIR",
		"wrong-protocol": `protocol is "99"`, "net-rpc": "not grpc", "configure-fails": "does not answer",
	} {
		t.Run(start, func(t *testing.T) {
			_, err := conformance.Run(t.Context(), conformance.Program{Command: []string{path, start}, Env: map[string]string{"TMPDIR": t.TempDir()}})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	var mistakes *pluginsdk.ConfigError
	_, err := conformance.Run(t.Context(), conformance.Program{Command: []string{path, "configure-mistake"}})
	if !errors.As(err, &mistakes) || mistakes.Problems[0].Path != "rules[1].target" {
		t.Errorf("got %v", err)
	}
	if _, err := conformance.Run(t.Context(), conformance.Program{Command: []string{path + ".none"}}); err == nil {
		t.Error("a program that does not exist was checked")
	}
	if _, err := conformance.Run(t.Context(), conformance.Program{}); err == nil {
		t.Error("no program was checked")
	}
}
