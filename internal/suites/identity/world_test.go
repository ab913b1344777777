package identity_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/internal/suites/identity/visitor"
)

// need skips the test for want of something, by name.
func need(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("REQUIRE_IDENTITY") != "":
		t.Fatalf("%s required: %v", what, err)
	default:
		t.Skipf("skipped %s: %s: %v", t.Name(), what, err)
	}
}

// certified starts npm's oidc-provider and returns its issuer.
func certified(t *testing.T, env ...string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("node_modules", "oidc-provider"))
	}
	need(t, "the npm packages (npm ci in internal/suites/identity)", err)
	return start(t, exec.Command(node, "provider.mjs"), env)
}

// second builds and starts the provider of zitadel/oidc and returns its issuer.
func second(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "zitadel")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join("testdata", "zitadel")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s", out)
	}
	need(t, "the modules of internal/suites/identity/testdata/zitadel", err)
	return start(t, exec.Command(program), nil)
}

// start starts a provider, which ends with the test, and returns the address that it prints.
func start(t *testing.T, cmd *exec.Cmd, env []string) string {
	t.Helper()
	cmd.Env = append(append(os.Environ(), "REDIRECT="+redirect), env...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%s", cmd, text)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return strings.TrimSpace(line)
}

// A browser is that of a person who has an account at a provider.
type browser struct {
	*visitor.Visitor
	t *testing.T
}

func newBrowser(t *testing.T, login string) *browser {
	t.Helper()
	return &browser{visitor.New(login, "any"), t}
}

// visit returns the parameters with which the provider sends the browser back.
func (b *browser) visit(address string) map[string]string {
	b.t.Helper()
	back, err := b.Visit(address, redirect)
	if err != nil {
		b.t.Fatal(err)
	}
	parameters := map[string]string{}
	for name := range back.Query() {
		parameters[name] = back.Query().Get(name)
	}
	return parameters
}
