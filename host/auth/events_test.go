package auth_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// Every event that the source names is one of Events, so that it counts from 0 on, and
// every one of those is named somewhere.
func TestEvents(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:audit\((?:v\.)?r, |Audit\(|event :?= |event: +|failure: |endOwn\()"(\w+)"|event = .*, "(\w+)"\n`)
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			event := string(m[1]) + string(m[2])
			if found[event] = true; !slices.Contains(auth.Events(), event) {
				t.Errorf("%s names the event %q, which is none of Events", file, event)
			}
		}
	}
	for _, event := range auth.Events() {
		if !found[event] {
			t.Errorf("nothing names the event %q", event)
		}
	}
}
