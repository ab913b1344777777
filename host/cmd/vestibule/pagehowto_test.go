package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What the pages of docs/how-to build is what they say: each is followed in a folder of
// its own, and looked at through the host that it configures.
func TestPagesFollow(t *testing.T) {
	t.Parallel()
	for page, c := range map[string]func(t *testing.T, l *learner, text string){
		"php.md": followPHP, "screens.md": followScreens, "step.md": followStep, "openid-connect.md": followOpenID,
		"data-alone.md": followData, "ui5.md": followUI5, "development.md": followDevelopment,
		"totp.md": followTOTP, "deactivated.md": followDeactivated, "users-table.md": followUsers,
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			l := newLearner(t, "docs/how-to/"+page, append(os.Environ(), "HOME="+t.TempDir()))
			_, port, _ := strings.Cut(l.app, ":")
			c(t, l, strings.ReplaceAll(document(t, "how-to/"+page), "127.0.0.1:3000", "127.0.0.1:"+port))
		})
	}
}

// followPHP makes the table of Laravel, with a person whose password PHP has hashed.
func followPHP(t *testing.T, l *learner, text string) {
	if _, err := exec.LookPath("php"); err != nil {
		missingFor(t, "REQUIRE_UPSTREAMS", "no php")
	}
	database := filepath.Join(l.dir, "app.db")
	hash := l.run("", "php", "-r", `echo password_hash("analytical-engine-1843", PASSWORD_BCRYPT, ["cost" => 10]);`)
	change(t, database, `CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR NOT NULL, email VARCHAR NOT NULL UNIQUE,
		email_verified_at DATETIME, password VARCHAR NOT NULL, remember_token VARCHAR, created_at DATETIME, updated_at DATETIME)`)
	change(t, database, `INSERT INTO users (name, email, password) VALUES ('Ada Löwe', 'ada@example.com', '`+hash+`')`)
	l.follow(text)
	app := l.command("", "php", "-S", l.app, "index.php")
	l.check(app.Start())
	t.Cleanup(func() { _ = app.Process.Kill(); _ = app.Wait() })
	for range 600 { // until PHP listens
		if resp, err := http.Get("http://" + l.app); err == nil {
			l.check(resp.Body.Close())
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.host(func(get func(string) (int, string, string), _ func(string, string) string) {
		if status, body, _ := get("/orders"); status != 200 || !strings.Contains(body, "Orders of Ada Löwe") {
			t.Errorf("/orders is %d %s", status, body)
		}
		if _, _, where := get("/bye"); where != "/login" {
			t.Errorf("/bye leads to %q", where)
		}
	})
	l.host(func(get func(string) (int, string, string), _ func(string, string) string) {
		for _, path := range []string{"/auth/google/callback", "/password/reset", "/ui/x", "/login/x"} {
			if status, body, _ := get(path); status != 200 || !strings.Contains(body, "Orders of Ada Löwe") {
				t.Errorf("%s does not reach the application: %d %s", path, status, body)
			}
		}
		for _, path := range []string{"/login", "/logout", "/healthz", "/readyz", "/ui/modules.json", "/odata/x", "/ui/auth/x", "/ui/vestibule/x", "/auth/bootstrap", "/password/reset/x", "/.well-known/change-password"} {
			if status, body, _ := get(path); strings.Contains(body, "Orders of") {
				t.Errorf("%s reaches the application: %d", path, status)
			}
		}
	})
	l.serve("", nil, func(base string) {
		for path, want := range map[string]string{"/orders": "", "/register": "<h1>Welcome</h1>"} {
			if body := guest(t, base+path); (want == "") == strings.Contains(body, "<h1>") || !strings.Contains(body, want) {
				t.Errorf("a guest's %s is %s", path, body)
			}
		}
	})
}

// followScreens takes the example where a clone is beside the folder.
func followScreens(t *testing.T, l *learner, text string) {
	link(t, filepath.Join(root, "examples"), filepath.Join(l.dir, "examples"))
	l.run("", "vestibule", "init")
	l.follow(text)
	l.serve("", nil, func(base string) {
		if body := guest(t, base+"/login"); !strings.Contains(body, "The reading room") {
			t.Errorf("/login is %s", body)
		}
	})
}

// followStep makes a step of one field, which comes once, and keeps what the page sends.
func followStep(t *testing.T, l *learner, text string) {
	python := pythonWithGRPC()
	if python == "" {
		missingFor(t, "REQUIRE_PYTHON", "no python3 with grpc")
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		missingFor(t, "REQUIRE_TUTORIAL", "no sqlite3")
	}
	tools := t.TempDir()
	l.check(os.Symlink(python, filepath.Join(tools, "python3")))
	l.env = append(l.env, "PATH="+tools+":"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
	text, _, _ = strings.Cut(text, "## What the module does")
	l.follow(text)
	l.host(func(get func(string) (int, string, string), send func(string, string) string) {
		if _, body, _ := get("/login"); !strings.Contains(body, `"target":"/phone"`) {
			t.Errorf("after the sign-in /login is %s", body)
		}
		status, body, _ := get("/phone")
		for _, file := range regexp.MustCompile(`(?:href|src)="(/[^"]+)"`).FindAllStringSubmatch(body, -1) {
			if status, _, _ := get(file[1]); status != http.StatusOK {
				t.Errorf("the page asks for %s: %d", file[1], status)
			}
		}
		if status != http.StatusOK || !strings.Contains(body, "data-step") {
			t.Errorf("/phone is %d %s", status, body)
		}
		if next := send("/auth/intents/redirect", `{"number":"12"}`); strings.HasPrefix(next, "redirect") {
			t.Errorf("a number that is too short leads to %q", next)
		}
		if next := send("/auth/intents/redirect", `{"number":"0431 123456"}`); !strings.HasPrefix(next, "redirect /") || next == "redirect /phone" {
			t.Errorf("a number leads to %q", next)
		}
	})
	if kept := l.run("", "sqlite3", "vestibule.db", "SELECT phone FROM users"); strings.TrimSpace(kept) != "0431 123456" {
		t.Errorf("the column holds %q", kept)
	}
}

// guest is what somebody who is not signed in gets.
func guest(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	var body strings.Builder
	if err := resp.Write(&body); err != nil {
		t.Error(err)
	}
	return body.String()
}
