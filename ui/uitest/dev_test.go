package uitest

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// startDev runs the development server before h and returns its address.
func startDev(t *testing.T, h *host, i18n string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join("..", "node_modules", "esbuild")); err != nil {
		if os.Getenv("REQUIRE_BROWSER") != "" {
			t.Fatalf("esbuild required, run npm ci in ui: %v", err)
		}
		t.Skipf("skipped %s: esbuild is missing, run npm ci in ui", t.Name())
	}
	cmd := exec.Command("node", "tools/dev.mjs")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "HOST_URL="+h.URL, "PORT=0", "I18N_DIR="+i18n)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the development server says %q: %v", line, err)
	}
	return regexp.MustCompile(`http://[^/]+`).FindString(line)
}

// Under the development server the page comes from the sources, the host sees
// its own origin, and changed words appear with what was typed still there.
func TestDevelopmentServer(t *testing.T) {
	h := newHost(t)
	i18n := t.TempDir()
	if err := os.CopyFS(i18n, os.DirFS(filepath.Join("..", "i18n"))); err != nil {
		t.Fatal(err)
	}
	origins := make(chan string, 1)
	h.answer("POST /auth/login", func(w http.ResponseWriter, r *http.Request) {
		origins <- r.Header.Get("Origin")
		writeJSON(w, 200, loggedIn(redirectTo("/dashboard")))
	})
	b := open(t)
	base := startDev(t, h, i18n)
	b.Visit(base + "/login?lang=de")
	b.Ready("#login")
	b.Fill("#login", "ada@example.com")
	b.Fill("#password", "correct horse")
	name := filepath.Join(i18n, "messagebundle_de.properties")
	words, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(words), "login.title=Anmelden", "login.title=Herein!", 1)
	if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	b.See("Herein!")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('#login').value + ' ' + document.querySelector('#password').value`); got != "ada@example.com correct horse" {
		t.Errorf("the form holds %q after the change", got)
	}
	submit(b)
	b.At(base + "/dashboard")
	if got := <-origins; got != h.URL {
		t.Errorf("the host sees the origin %q, want its own, %q", got, h.URL)
	}
}
