package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The times in the manifests fit the host's defaults.
func TestKubernetesManifests(t *testing.T) {
	text := document(t, "kubernetes/vestibule.yaml")
	drain, start := defaultOf(t, "drain"), defaultOf(t, "start_wait")
	if grace := manifestSeconds(t, text, `terminationGracePeriodSeconds: (\d+)`); grace < drain+20*time.Second {
		t.Errorf("a pod has %v to end: it drains for %v, requests have 10s, and plugins take a while", grace, drain)
	}
	probe := func(name string) time.Duration {
		_, block, _ := strings.Cut(text, name+":\n")
		block, _, _ = strings.Cut(block, "Probe:") // where the next one begins
		times, err := strconv.Atoi(regexp.MustCompile(`failureThreshold: (\d+)`).FindStringSubmatch(block)[1])
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(times) * manifestSeconds(t, block, `periodSeconds: (\d+)`)
	}
	if noticed := probe("readinessProbe"); noticed > 4*time.Second || 3*noticed > drain {
		t.Errorf("a host that drains for %v is noticed after %v", drain, noticed)
	}
	if waits := probe("startupProbe"); waits <= start+10*time.Second {
		t.Errorf("a pod has %v to start, and waits for its database for %v", waits, start)
	}
	if probe("livenessProbe") < 30*time.Second {
		t.Errorf("a busy host is restarted after %v", probe("livenessProbe"))
	}
}

func manifestSeconds(t *testing.T, text, pattern string) time.Duration {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("the manifests do not say %s", pattern)
	}
	seconds, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds) * time.Second
}

// vestibule check takes the configuration in the manifests.
func TestKubernetesConfiguration(t *testing.T) {
	_, block, _ := strings.Cut(document(t, "kubernetes/vestibule.yaml"), "  config.hcl: |\n")
	block, _, _ = strings.Cut(block, "\n---\n")
	dir := t.TempDir()
	config := filepath.Join(dir, "config.hcl")
	if err := os.WriteFile(config, []byte(strings.ReplaceAll("\n"+block, "\n    ", "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// check looks whether the database answers and the folder is there.
	cmd := vestibuleCommand(t, "check", "-c", config, "--show", "--set", "server.run_dir="+os.TempDir(), "--set", "database.driver=sqlite", "--set", "database.dsn="+filepath.Join(dir, "db"))
	cmd.Env = append(os.Environ(), "POD_IP=10.1.2.3", "SMTP_PASSWORD=x", "DATABASE_DSN=postgres://vestibule@db1/app")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"10.1.2.3:9090"`) {
		t.Errorf("%v: %s", err, out)
	}
}
