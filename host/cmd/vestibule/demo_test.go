package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/internal/suites/identity/visitor"
)

// TestDemoShowsAllOfIt walks through what examples/shop/demo.sh serves: three steps, a written row, the UI5 application, and
// a company account that signs in where the password did before.
func TestDemoShowsAllOfIt(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(root, "internal/suites/identity/node_modules/oidc-provider")); err != nil {
		missingFor(t, "REQUIRE_IDENTITY", "no npm packages (npm ci in internal/suites/identity)")
	}
	if _, err := os.Stat(filepath.Join(root, "examples/ui5-dashboard/dist/index.html")); err != nil {
		missingFor(t, "REQUIRE_UI5", "the UI5 application is not built (make -C examples/ui5-dashboard build)")
	}
	base := serveDemo(t)
	ada := visitor.New("ada", "any")
	arrives(t, ada, base+"/auth/identity/company?redirect=/ui5/", base+"/login")
	for _, step := range []struct{ name, path, body, next string }{
		{"password, which links the account", "/auth/login", `{"login": "demo@example.com", "password": "analytical-engine-1843"}`, "org_setup "},
		{
			"organisation", "/auth/intents/org-setup",
			`{"legal_form": 1, "org_name": "Acme", "company_size": "solo", "function": "developer", "marketing_consent": false}`, "redirect /accept-terms",
		},
		{"terms", "/auth/intents/redirect", `{"accept": "2026-11"}`, "redirect /second-factor"},
		{"second factor", "/auth/intents/redirect", `{"action": "skip"}`, "redirect /ui5/"},
	} {
		if got := post(t, ada.Client, base+step.path, step.body); got != step.next {
			t.Fatalf("%s leads to %q, want %q", step.name, got, step.next)
		}
	}
	if status, body := look(t, ada, base+"/ui5/"); status != http.StatusOK || !strings.Contains(body, "sap-ui") {
		t.Errorf("the UI5 application is %d %.200s", status, body)
	}
	order, err := ada.Client.Post(base+"/odata/Orders", "application/json", strings.NewReader(`{"customer_id": 1, "status": "Placed", "total": 1}`))
	if err != nil || order.StatusCode != http.StatusCreated {
		t.Errorf("an order: %v, %v", order, err)
	}
	if err == nil {
		_ = order.Body.Close()
	}
	again := visitor.New("ada", "any")
	arrives(t, again, base+"/auth/identity/company?redirect=/odata/", base+"/second-factor")
}

// serveDemo runs demo.sh on a free port with data of its own, and returns its address.
func serveDemo(t *testing.T) (base string) {
	programs := t.TempDir()
	built, err := filepath.Glob(filepath.Join(buildPlugins(t), "*"))
	if err != nil {
		t.Fatal(err)
	}
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(built, this) {
		name := filepath.Base(p)
		if p == this {
			name = "vestibule" // which TestMain runs by its name
		}
		if err := os.Symlink(p, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, port, _ := strings.Cut(freeAddress(t), ":")
	demo := exec.Command(filepath.Join(root, "examples/shop/demo.sh"))
	demo.Env = append(os.Environ(), "PORT="+port, "PROGRAMS="+programs, "DATABASE="+filepath.Join(t.TempDir(), "demo.db"))
	demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-demo.Process.Pid, syscall.SIGINT)
		_ = demo.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), " is ready at ") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // so that the program can go on to write
			return "http://localhost:" + port
		}
	}
	t.Fatal("the demo ended before it was ready")
	return ""
}
