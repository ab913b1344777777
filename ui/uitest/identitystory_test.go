package uitest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A story has two hosts with one database behind a proxy, and a certified OpenID provider.
type story struct {
	*real
	issuer string
	// to is the host that answers next, unless the path decides.
	to    [2]*url.URL
	front *httptest.Server

	mu    sync.Mutex
	asked []string
}

// newStory starts the provider and both hosts. The rest is of the block of the identity "company" and of others.
func newStory(t *testing.T, identity, blocks string, columns ...string) *story {
	t.Helper()
	s := &story{}
	s.front = httptest.NewServer(http.HandlerFunc(s.proxy))
	t.Cleanup(s.front.Close)
	s.issuer = certified(t, s.front.URL+"/auth/identity/company/callback")
	build(t)
	program := plugintest.Build(t, "../../plugins/oidc")
	s.real = newRealWith(t, "", fmt.Sprintf(`
server {
  public_url      = %q
  trusted_proxies = ["127.0.0.1/32"]
}
plugin "oidc" {
  command = [%q]
  roles   = ["identity_provider"]
  timeout = "10s"
  config {
    issuer        = %q
    client_id     = "vestibule"
    client_secret = "not-a-secret"
  }
}
identity "company" {
  plugin = "oidc"
  label  = "Company account"
  %s
}
%s`, s.front.URL, program, s.issuer, identity, blocks), columns...)
	for i := range s.to {
		if i > 0 {
			s.serve()
		}
		address, err := url.Parse(s.base)
		if err != nil {
			t.Fatal(err)
		}
		s.to[i] = address
	}
	s.base = s.front.URL
	return s
}

// proxy sends a person who begins at a provider to one host and those who come back to the other one.
func (s *story) proxy(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	to := s.to[len(s.asked)%2]
	s.asked = append(s.asked, r.URL.String())
	s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/callback"):
		to = s.to[1]
	case strings.HasPrefix(r.URL.Path, "/auth/"):
		to = s.to[0]
	}
	(&httputil.ReverseProxy{Rewrite: func(pr *httputil.ProxyRequest) {
		pr.SetURL(to)
		pr.Out.Host = pr.In.Host
		pr.SetXForwarded()
	}}).ServeHTTP(w, r)
}

// certified starts npm's oidc-provider, which takes any login with any password, and returns its issuer.
func certified(t *testing.T, callback string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "internal", "suites", "identity")
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "node_modules", "oidc-provider"))
	}
	switch {
	case err != nil && os.Getenv("REQUIRE_IDENTITY") != "":
		t.Fatalf("the OpenID provider required: %v", err)
	case err != nil:
		t.Skipf("skipped %s: the npm packages (npm ci in internal/suites/identity): %v", t.Name(), err)
	}
	cmd := exec.Command(node, "provider.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "REDIRECT="+callback)
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
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the OpenID provider did not come up: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return strings.TrimSpace(line)
}

// atProvider gives the login that the provider asks for, and the consent to tell the host.
func (s *story) atProvider(b *tab, login string) {
	b.T.Helper()
	b.Wait(`location.href.startsWith('` + s.issuer + `') && document.querySelector('input[name=login]')`)
	b.Fill("input[name=login]", login)
	b.Fill("input[name=password]", "any")
	b.Click("button[type=submit]")
	b.Wait(`!location.href.startsWith('` + s.issuer + `') || document.querySelector('input[value=consent]')`)
	if browsertest.Eval[bool](b.Tab, `document.querySelector('input[value=consent]') !== null`) {
		b.Click("button[type=submit]")
	}
}

// requested returns the addresses that the hosts were asked for.
func (s *story) requested() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *story) signOut(b *tab) {
	b.T.Helper()
	b.Visit(s.base + "/login#/sign-out")
	b.Ready(`form[action="/logout"]`)
	submit(b)
	b.At(s.base + "/")
}

// forgetProof ends the session of a browser that stays signed in: a device that comes back is no fresh proof.
func (s *story) forgetProof(b *tab) {
	b.T.Helper()
	browsertest.Call(b.Tab, network.DeleteCookies, network.DeleteCookiesParams{Name: "vestibule_session", URL: s.base})
}

func (s *story) identities() string {
	return s.command("", "identity", "list", "--email", person)
}

// Through two real hosts and a real provider: an account elsewhere is linked by a password, once, and signs in from then
// on, each time to the page that was wanted, with its fragment; it proves anew who somebody is, and is unlinked.
func TestRealIdentityIsLinked(t *testing.T) {
	b := open(t)
	s := newStory(t, `link = "confirm"`, "")
	b.Visit(s.base + "/dashboard?tab=2#/orders/17")
	b.Click("#identity-company")
	s.atProvider(b, "ada")
	b.See("Company account (ada@example.com) is then linked to your account")
	b.At(s.base + "/login?lang=en")
	if list := s.identities(); strings.Contains(list, "company") {
		t.Errorf("it is linked before the sign-in:\n%s", list)
	}
	b.Click(".tick:has(#remember)")
	b.signIn(password)
	b.At(s.base + "/dashboard?tab=2#/orders/17")
	if list := s.identities(); !strings.Contains(list, "company") {
		t.Errorf("it is not linked:\n%s", list)
	}

	s.forgetProof(b)
	b.Visit(s.base + "/login?account")
	b.Click("#identities-unlink-company")
	b.Click("dialog " + pressed)
	b.Wait(`document.querySelectorAll('dialog').length === 2`)
	b.Click("dialog:last-of-type .more button")
	s.atProvider(b, "ada") // who is signed in there, and is asked all the same
	b.See("It is confirmed that it is you.")
	b.Focused("#identities-unlink-company")
	b.Click("#identities-unlink-company")
	b.Click("dialog " + pressed)
	b.See("The account is not linked any more.")
	b.Click("#identities-link-company")
	b.See("The account is linked.")
	b.Focused("#identities-unlink-company")

	s.signOut(b)
	b.Visit(s.base + "/dashboard#/orders/18")
	b.Click("#identity-company")
	b.At(s.base + "/dashboard#/orders/18")
	for _, address := range s.requested() {
		if strings.Contains(address, "orders") {
			t.Errorf("the fragment has left the browser: %s", address)
		}
	}
}

// Who changes their mind there, and who finds that it is not theirs, has linked nothing.
func TestRealIdentityIsRefused(t *testing.T) {
	b := open(t)
	s := newStory(t, `link = "confirm"`, "")
	b.Visit(s.base + "/login?lang=de")
	b.Click("#identity-company")
	b.Wait(`location.href.startsWith('` + s.issuer + `') && document.querySelector('a[href$="/abort"]')`)
	b.Click(`a[href$="/abort"]`)
	b.See("Der Anbieter hat nicht bestätigt, wer Sie sind.")
	b.Wait(`document.querySelector('[data-code=identity_refused]')`)
	b.Click("main a.primary")
	b.Ready("#identity-company")
	b.At(s.base + "/login")

	b.Visit(s.base + "/dashboard#/orders/17")
	b.Click("#identity-company")
	s.atProvider(b, "mallory")
	b.See("Company account (The person mallory) is then linked to your account") // not by the address, which nobody has verified
	b.Click("#forget")
	b.See("Nothing is linked.")
	b.signIn(password)
	b.At(s.base + "/dashboard#/orders/17")
	if list := s.identities(); strings.Contains(list, "company") {
		t.Errorf("it is linked:\n%s", list)
	}

	stale := ""
	for _, address := range s.requested() {
		if strings.Contains(address, "/callback?") && !strings.Contains(address, "error=") {
			stale = address
		}
	}
	other := open(t) // login CSRF: the answer of one browser in another one
	for _, b := range []*tab{b, other} {
		b.Visit(s.base + stale)
		b.Wait(`document.querySelector('[data-code=identity_state]')`)
	}
	other.Visit(s.base + "/dashboard")
	other.Ready("#login")
}

// Where only a provider signs people in there is one button; somebody whom nobody knows becomes a user, does the step of
// the dispenser and gets to the page that they wanted. An address that the provider has not verified makes nobody.
func TestRealIdentityIsCreated(t *testing.T) {
	b := open(t)
	s := newStory(t, "create = true", fmt.Sprintf(`
auth {
  password {
    sign_in = false
  }
  passkeys {
    enabled = false
  }
}
plugin "orgs" {
  command    = [%q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}
`, filepath.Join(built.dir, "orgsetup")), "partner_id INTEGER")
	b.Visit(s.base + "/dashboard#/orders/17")
	b.Ready("#identity-company.primary")
	if n := browsertest.Eval[int](b.Tab, `document.querySelectorAll('main :is(a, button, input)').length`); n != 1 {
		t.Errorf("the card has %d controls, want one", n)
	}
	b.Click("#identity-company")
	s.atProvider(b, "grace")
	b.See("Welcome, The person grace")
	organisation(b)
	b.At(s.base + "/dashboard#/orders/17")
	if list := s.command("", "user", "list"); !strings.Contains(list, "grace@example.com") {
		t.Errorf("the users are:\n%s", list)
	}

	other := open(t)
	other.Visit(s.base + "/dashboard")
	other.Click("#identity-company")
	s.atProvider(other, "mallory")
	other.See("Nobody here has this account.")
	other.Wait(`document.querySelector('[data-code=identity_unknown] a.primary[href="/login"]')`)
	if list := s.command("", "user", "list"); strings.Contains(list, "mallory") {
		t.Errorf("the users are:\n%s", list)
	}
}

// Where identities alone sign people in, somebody who was invited links one by the mailed link, whatever its address is, and is
// signed in. The link works once.
func TestRealInvitationToAnIdentity(t *testing.T) {
	const invited = "eve@example.com"
	b := open(t)
	s := newStory(t, "", `
auth {
  password {
    sign_in = false
  }
  passkeys {
    enabled = false
  }
}
`)
	s.command("", "user", "add", "--email", invited, "--name", "Eve", "--invite")
	link := s.sink.link(t)
	b.Visit(link)
	b.At(s.base + "/login?invited#/set-password")
	b.See("Choose the account that you have elsewhere")
	submit(b)
	s.atProvider(b, "grace")
	b.At(s.base + "/dashboard")
	if list := s.command("", "identity", "list", "--email", invited); !strings.Contains(list, "company") {
		t.Errorf("the identities are:\n%s", list)
	}
	other := open(t)
	other.Visit(link)
	other.See("has been used, has expired or is incomplete")
	other.Click("#identity-company")
	s.atProvider(other, "grace")
	other.At(s.base + "/dashboard")
}
