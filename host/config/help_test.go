package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// write makes the files in a fresh directory, goes there, and returns it. Names
// ending in ! are executable.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if trimmed, ok := strings.CutSuffix(name, "!"); ok {
			name, mode = trimmed, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// load loads config.hcl of the current directory with nothing else around it.
func load(t *testing.T, environ []string, set ...string) (*config.Config, []string) {
	t.Helper()
	if environ == nil {
		environ = []string{}
	}
	cfg, findings := config.Load(config.Source{Environ: environ, Set: set})
	return cfg, lines(findings)
}

func lines(findings config.Findings) []string {
	var list []string
	for _, f := range findings {
		if !strings.Contains(f.What, "there is no route") { // said of every small example
			list = append(list, f.Error())
		}
	}
	return list
}

// mustLoad fails the test when there is any finding.
func mustLoad(t *testing.T, text string, environ []string, set ...string) *config.Config {
	t.Helper()
	write(t, map[string]string{"config.hcl": text})
	cfg, found := load(t, environ, set...)
	if found != nil {
		t.Fatalf("findings:\n%s", strings.Join(found, "\n"))
	}
	return cfg
}
