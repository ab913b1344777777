package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A person at the demo: signs in with a browser, is asked for the organisation and for the
// acceptance of the terms, lands on the dashboard, and signs out. Everything is real:
// binary, plugins, configuration, shop.
func TestBrowserSignInAndOrgSetup(t *testing.T) {
	b := browsertest.Open(t, nil)
	base := startDemo(t)
	b.Visit(base + "/dashboard")
	b.Ready("#login")
	b.PictureOfAll("demo-sign-in")
	b.Fill("#login", seed.Email)
	b.Fill("#password", "wrong")
	b.Click("button[type=submit]")
	b.See("password is wrong")
	b.Fill("#password", seed.Password)
	b.Click("button[type=submit]")
	b.Ready("#org_name")
	b.PictureOfAll("demo-org-setup")

	// The plugin demands an address for invoices of larger companies, with a
	// message at the field.
	b.Click("#legal_form-2")
	b.Fill("#org_name", "Analytical Engines")
	b.Choose("#company_size", "enterprise")
	b.Choose("#function", "architect")
	b.Click("button[type=submit]")
	b.Ready("#billing_email[aria-invalid=true]")
	b.PictureOfAll("demo-org-setup-more")
	b.Fill("#billing_email", "bill@example.com")
	b.Click("button[type=submit]")
	b.At(base + "/accept-terms")
	b.Ready("#accept .primary:not([disabled])")
	b.PictureOfAll("demo-accept-terms")
	b.Visit(base + "/dashboard") // typed in between, it sends back
	b.At(base + "/accept-terms")
	b.Ready("#accept .primary:not([disabled])")
	b.Click("#accept .primary")
	b.At(base + "/dashboard")
	b.Wait(`document.querySelectorAll('table tr').length > 20 && [...document.querySelectorAll('dd')].every((d) => d.textContent.trim())`)
	b.PictureOfAll("demo-dashboard")
	b.Media("dark")
	b.PictureOfAll("demo-dashboard-dark")
	b.Media("light")

	b.Visit(base + "/ui/auth/#/sign-out")
	b.Ready("form button")
	b.Click("form button")
	b.At(base + "/")
	b.Visit(base + "/dashboard")
	b.Ready("#login")
}

// A forgotten password, from the request to the new one, through a real mail
// server and the link in the mail. Older sessions and devices end.
func TestBrowserPasswordReset(t *testing.T) {
	b := browsertest.Open(t, nil)
	sink := startSMTP(t)
	base := startDemo(t,
		"--set", "mail.transport=smtp", "--set", "mail.smtp.tls=none", "--set", "mail.smtp.host=127.0.0.1", "--set", "mail.smtp.port="+sink.port)
	b.Visit(base + "/login")
	b.Ready("#login")
	b.Fill("#login", seed.Email)
	b.Fill("#password", seed.Password)
	b.Click(".tick")
	b.Click("button[type=submit]")
	b.Ready("#org_name")

	elsewhere := browsertest.Open(t, nil)
	elsewhere.Visit(base + "/login")
	elsewhere.Ready("#forgot")
	elsewhere.Click("#forgot")
	elsewhere.Ready("#email")
	elsewhere.Fill("#email", strings.ToUpper(seed.Email))
	elsewhere.Click("button[type=submit]")
	link := sink.link(t)
	elsewhere.Visit(link)
	elsewhere.Ready("#password_confirmation")
	if href := browsertest.Eval[string](elsewhere, "location.href"); strings.Contains(href, seed.Email) || strings.Contains(href, link[len(link)-20:]) {
		t.Errorf("the link is still in the address bar: %s", href)
	}
	elsewhere.Fill("#password", "difference engine no. 2")
	elsewhere.Fill("#password_confirmation", "difference engine no. 2")
	elsewhere.Click("button[type=submit]")
	elsewhere.Ready("#login")
	elsewhere.Fill("#login", seed.Email)
	elsewhere.Fill("#password", "difference engine no. 2")
	elsewhere.Click("button[type=submit]")
	elsewhere.Ready("#org_name")

	b.Visit(base + "/dashboard")
	b.Ready("#login")
	elsewhere.Visit(link) // used once: as good as forged
	elsewhere.Wait(`document.querySelector('#org_name, #login')?.checkVisibility()`)
}

// startDemo serves a copy of the demo and returns its address.
func startDemo(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	copyShop(t, dir)
	return startHost(t, "", append([]string{
		"-c", "../../../config.hcl", "--set", "server.address=127.0.0.1:0",
		"--set", "database.dsn=" + filepath.Join(dir, "shop.db"), "--set", "mail.dir=" + filepath.Join(dir, "mail"),
		"--set", fmt.Sprintf("plugin.orgs.command=[%q]", filepath.Join(buildPlugins(t), "orgsetup")),
		"--set", fmt.Sprintf("plugin.terms.command=[%q]", filepath.Join(buildPlugins(t), "terms")), "serve",
	}, flags...)...)
}

// startHost runs the command in a directory, waits until it serves, and returns its
// address.
func startHost(t *testing.T, dir string, args ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Args[0] = dir, "vestibule" // which is what TestMain then runs
	cmd.Stderr = os.Stderr
	if !testing.Verbose() {
		cmd.Stderr = nil
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	base := regexp.MustCompile(`http://\S+`).FindString(line)
	if base == "" {
		t.Fatalf("the host did not get ready: %q, %v", line, err)
	}
	return base
}

// A mailbox is an SMTP server that keeps what it gets.
type mailbox struct {
	port string
	got  chan string
}

func startSMTP(t *testing.T) *mailbox {
	t.Helper()
	box := &mailbox{got: make(chan string, 10)}
	server := smtp.NewServer(box)
	server.Domain = "localhost"
	l := listen(t)
	_, box.port, _ = strings.Cut(l.Addr().String(), ":")
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return box
}

// link waits for a mail and returns the link in it.
func (m *mailbox) link(t *testing.T) string {
	t.Helper()
	select {
	case text := <-m.got:
		text = strings.ReplaceAll(strings.ReplaceAll(text, "=\r\n", ""), "=3D", "=")
		link := regexp.MustCompile(`http://\S+/password/reset/[^\s"<>]+`).FindString(text)
		if link == "" {
			t.Fatalf("no link in the mail:\n%s", text)
		}
		return link
	case <-time.After(time.Minute):
		t.Fatal("no mail within a minute")
		return ""
	}
}
