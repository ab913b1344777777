package main

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// What is linked has its licence in the notices of a release, which end with an error
// where they know none: who adds a library reads its licence. Releases look at all
// platforms.
func TestNoticesNameWhatIsLinked(t *testing.T) {
	programs := []string{"./host/cmd/vestibule", "./plugins/..."}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = "../../.."
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, problems.String())
		}
		return string(out)
	}
	notices := run(append([]string{"run", "./.ci/notices", "-platforms", runtime.GOOS + "/" + runtime.GOARCH}, programs...)...)
	linked := run(append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"}, programs...)...)
	for line := range strings.Lines(linked) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(notices, "\n- "+line+": ") {
			t.Errorf("the notices lack %s", line)
		}
	}
	for _, want := range []string{"Mozilla Public License Version 2.0", "go mod download github.com/hashicorp/yamux@v", "Permission is hereby granted"} {
		if !strings.Contains(notices, want) {
			t.Errorf("the notices lack %q", want)
		}
	}
}
