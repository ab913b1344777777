package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/suites/identity/visitor"
)

// followOpenID follows the page's first section from an empty home directory, with the
// certified provider that the page installs, which the tests of identities have already.
func followOpenID(t *testing.T, l *learner, text string) {
	packages, err := filepath.Abs(filepath.Join(root, "internal/suites/identity/node_modules"))
	l.check(err)
	node, err := exec.LookPath("node")
	if found, _ := filepath.Glob(filepath.Join(packages, "oidc-provider")); err != nil || found == nil {
		missingFor(t, "REQUIRE_IDENTITY", "no node, or no npm packages (npm ci in internal/suites/identity)")
	}
	secret := regexp.MustCompile(`(?m)^export (\w+=\S+)$`).FindStringSubmatch(text)
	if secret == nil {
		t.Fatal("the page does not export the secret")
	}
	l.env = append(l.env, "HOME="+t.TempDir(), secret[1], "PATH="+buildPlugins(t)+":"+os.Getenv("PATH"))
	_, hostPort, _ := strings.Cut(freeAddress(t), ":")
	host, provider := "localhost:"+hostPort, freeAddress(t)
	_, port, _ := strings.Cut(provider, ":")
	text = strings.NewReplacer("localhost:8080", host, "127.0.0.1:9000", provider, "listen(9000", "listen("+port,
		"npm install oidc-provider@9\n", "ln -s "+packages+" node_modules\n").Replace(text)
	section := func(from, to string) string {
		_, part, ok := strings.Cut(text, from)
		part, _, ok2 := strings.Cut(part, to)
		if !ok || !ok2 {
			t.Fatalf("the page has nothing from %q to %q", from, to)
		}
		return part
	}
	l.follow(section("## 1. ", "Start it with"))
	server := l.command("", node, "provider.mjs")
	l.check(server.Start())
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for range 600 { // until it listens
		if resp, err := http.Get("http://" + provider + "/.well-known/openid-configuration"); err == nil {
			l.check(resp.Body.Close())
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.follow(section("Start it with", "## 2. "))
	base, address := "http://"+host, []string{"server.address=127.0.0.1:" + hostPort}
	company, people := base+"/auth/identity/company?redirect=/people", base+"/people"
	l.serve("", address, func(string) {
		ada := visitor.New("ada", "any")
		arrives(t, ada, company, base+"/login")
		if first := post(t, ada.Client, base+"/auth/login", `{"login": "ada@example.com", "password": "analytical-engine-1843"}`); first != "redirect /people" {
			t.Errorf("the sign-in that links Ada leads to %q", first)
		}
		again := visitor.New("ada", "any")
		if status, body := look(t, again, people); status != http.StatusFound {
			t.Errorf("a guest's /people is %d %s", status, body)
		}
		arrives(t, again, company, people)
		if status, body := look(t, again, people); status != http.StatusOK || !strings.Contains(body, "You are in") {
			t.Errorf("Ada's /people is %d %s", status, body)
		}
		arrives(t, visitor.New("grace", "any"), company, base+"/login")
	})
	l.replace("config.hcl", `link   = "confirm"  `, "link = \"never\"\n  create = true #")
	l.serve("", address, func(string) {
		grace := visitor.New("grace", "any")
		arrives(t, grace, company, people)
		if status, body := look(t, grace, people); status != http.StatusOK || !strings.Contains(body, "You are in") {
			t.Errorf("Grace's /people is %d %s", status, body)
		}
		if who := l.run("", "vestibule", "user", "list"); strings.Count(who, "@example.com") != 2 || !strings.Contains(who, "grace@example.com") {
			t.Errorf("the users are\n%s", who)
		}
		if all := l.run("", "vestibule", "identity", "list"); strings.Count(all, "company") != 2 {
			t.Errorf("the identities are\n%s", all)
		}
	})
}

// arrives opens an address as a person with a browser, and fails the test unless its redirects and forms end at another one.
func arrives(t *testing.T, v *visitor.Visitor, address, want string) {
	t.Helper()
	if got, err := v.Visit(address, want); err != nil || got.String() != want {
		t.Errorf("%s leads %s to %v, want %s: %v", address, v.Login, got, want, err)
	}
}

// look returns what a page is for somebody with a browser.
func look(t *testing.T, v *visitor.Visitor, address string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	resp, err := v.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(body)
}
