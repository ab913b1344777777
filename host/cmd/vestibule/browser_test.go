package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/emersion/go-smtp"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
)

// A person at the demo: signs in with a browser, is asked for the organisation,
// lands on the dashboard, and signs out. Everything is real: binary, plugin,
// configuration, shop.
func TestBrowserSignInAndOrgSetup(t *testing.T) {
	b := openBrowser(t)
	base := startDemo(t)
	b.visit(base + "/dashboard")
	b.ready("#login")
	b.picture("demo-sign-in")
	b.fill("#login", seed.Email)
	b.fill("#password", "wrong")
	b.click("button[type=submit]")
	b.ready("#login[aria-invalid=true]")
	b.fill("#password", seed.Password)
	b.click("button[type=submit]")
	b.ready("#org_name")
	b.picture("demo-org-setup")

	// The plugin wants an address for invoices of larger companies, and says so
	// at the field.
	b.click("#legal_form-2")
	b.fill("#org_name", "Analytical Engines")
	b.choose("#company_size", "enterprise")
	b.choose("#function", "architect")
	b.click("button[type=submit]")
	b.ready("#billing_email[aria-invalid=true]")
	b.picture("demo-org-setup-more")
	b.fill("#billing_email", "bill@example.com")
	b.click("button[type=submit]")
	b.at(base + "/dashboard")
	b.wait(`document.querySelectorAll('table tr').length > 20 && [...document.querySelectorAll('dd')].every((d) => d.textContent.trim())`)
	b.picture("demo-dashboard")
	b.scheme("dark")
	b.picture("demo-dashboard-dark")
	b.scheme("light")

	b.visit(base + "/ui/auth/#/sign-out")
	b.ready("form button")
	b.click("form button")
	b.at(base + "/")
	b.visit(base + "/dashboard")
	b.ready("#login")
	b.quiet()
}

// A forgotten password, from the request to the new one, through a real mail
// server and the link in the mail. Older sessions and devices end.
func TestBrowserPasswordReset(t *testing.T) {
	b := openBrowser(t)
	sink := startSMTP(t)
	base := startDemo(t,
		"--set", "mail.transport=smtp", "--set", "mail.smtp.tls=none", "--set", "mail.smtp.host=127.0.0.1", "--set", "mail.smtp.port="+sink.port)
	b.visit(base + "/login")
	b.ready("#login")
	b.fill("#login", seed.Email)
	b.fill("#password", seed.Password)
	b.click(".tick")
	b.click("button[type=submit]")
	b.ready("#org_name")

	elsewhere := openBrowser(t)
	elsewhere.visit(base + "/login")
	elsewhere.ready("#forgot")
	elsewhere.click("#forgot")
	elsewhere.ready("#email")
	elsewhere.fill("#email", strings.ToUpper(seed.Email))
	elsewhere.click("button[type=submit]")
	link := sink.link(t)
	elsewhere.visit(link)
	elsewhere.ready("#password_confirmation")
	if href := evaluate[string](elsewhere, "location.href"); strings.Contains(href, seed.Email) || strings.Contains(href, link[len(link)-20:]) {
		t.Errorf("the link is still in the address bar: %s", href)
	}
	elsewhere.fill("#password", "difference engine no. 2")
	elsewhere.fill("#password_confirmation", "difference engine no. 2")
	elsewhere.click("button[type=submit]")
	elsewhere.ready("#login")
	elsewhere.fill("#login", seed.Email)
	elsewhere.fill("#password", "difference engine no. 2")
	elsewhere.click("button[type=submit]")
	elsewhere.ready("#org_name")
	elsewhere.quiet()

	b.visit(base + "/dashboard")
	b.ready("#login")
	elsewhere.visit(link) // used once: as good as forged
	elsewhere.wait(`document.querySelector('#org_name, #login')?.checkVisibility()`)
}

// startDemo serves a copy of the demo and returns its address.
func startDemo(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	buildPlugins(t, dir)
	copyShop(t, dir)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{
		"-c", "../../../config.hcl", "--set", "server.address=127.0.0.1:0",
		"--set", "database.dsn=" + filepath.Join(dir, "shop.db"), "--set", "mail.dir=" + filepath.Join(dir, "mail"),
		"--set", fmt.Sprintf("plugin.orgs.command=[%q]", filepath.Join(dir, "orgsetup")), "serve",
	}, flags...)...)
	cmd.Args[0] = "vestibule" // which is what TestMain then runs
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
		_ = cmd.Process.Signal(syscall.SIGTERM)
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

// A tab is a page of a browser of its own.
type tab struct {
	t          *testing.T
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
}

// openBrowser starts a browser, or skips the test where there is none.
func openBrowser(t *testing.T) *tab {
	t.Helper()
	path, err := findChromium()
	if err != nil {
		if os.Getenv("REQUIRE_BROWSER") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(90*time.Second))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		stop()
		stopAlloc()
	})
	b := &tab{t: t, ctx: ctx}
	b.must(chromedp.Do(ctx))
	b.must(chromedp.Listen(ctx, b.hear))
	protocol(b, runtime.Enable, cdp.Empty{})
	protocol(b, log.Enable, cdp.Empty{})
	protocol(b, page.Enable, page.EnableParams{})
	b.scheme("light")
	return b
}

func findChromium() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium in PATH: install the package chromium, or set CHROMIUM")
}

// hear keeps script errors and violations of the content security policy.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}
}

func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the page complains: %s", c)
	}
}

func (b *tab) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

func protocol[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, c, params)
	b.must(err)
	return result
}

func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	b.must(err)
	return value
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 60*time.Second)
	defer cancel()
	b.must(chromedp.Do(ctx, actions...))
}

func (b *tab) scheme(name string) {
	b.t.Helper()
	protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

func (b *tab) visit(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
}

// wait asks until the expression is true. It outlives a change of the page.
func (b *tab) wait(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 60*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`))
		if ok && err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("waited for %s at\n%s", expression, evaluate[string](b, `location.href + '\n' + document.body.innerText`))
}

func (b *tab) ready(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
}

func (b *tab) at(url string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`location.href === %q`, url))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) fill(selector, value string) {
	b.t.Helper()
	evaluate[any](b, fmt.Sprintf(`document.querySelector(%q).select(); null`, selector))
	b.do(chromedp.SendKeys(chromedp.CSS(selector), value))
}

func (b *tab) choose(selector, value string) {
	b.t.Helper()
	evaluate[any](b, fmt.Sprintf(`document.querySelector(%q).value = %q; null`, selector, value))
}

// picture writes what is seen to SCREENS_DIR, when that is set.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENS_DIR")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	b.must(err)
	b.must(os.MkdirAll(dir, 0o755))
	b.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
