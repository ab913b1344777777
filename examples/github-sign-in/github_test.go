package githubsignin_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

const callback = "https://app.example.com/auth/identity/test/callback"

// A github answers as GitHub's web flow and its API do. The code of a sign-in is made of its
// challenge and names the account; each code counts once.
type github struct {
	mu    sync.Mutex
	spent map[string]bool
}

// ServeHTTP answers one request.
func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	account, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer token of ")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/login/oauth/access_token" && r.Header.Get("Accept") == "application/json":
		answer(w, g.token(r))
	case r.URL.Path == "/api/v3/user" && ok && account == "moved":
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	case r.URL.Path == "/elsewhere":
		answer(w, map[string]any{"id": 1, "login": "somebody-else"})
	case r.URL.Path == "/api/v3/user" && ok && account == "slow":
		for range 40 { // each wait is shorter than the time-out of one read
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(250 * time.Millisecond)
		}
	case r.URL.Path == "/api/v3/user" && ok:
		answer(w, map[string]any{"id": 583231, "login": account, "name": map[string]any{"ada": "Ada Lovelace"}[account], "email": "public@example.com"})
	case r.URL.Path == "/api/v3/user/emails" && ok && account == "mute":
		answer(w, []any{})
	case r.URL.Path == "/api/v3/user/emails" && ok:
		answer(w, []map[string]any{
			{"email": "other@example.com", "primary": false, "verified": true},
			{"email": account + "@example.com", "primary": true, "verified": account == "ada"},
		})
	default:
		http.Error(w, `{"message": "Bad credentials"}`, http.StatusUnauthorized)
	}
}

// token answers the exchange of a code; errors have the status 200.
func (g *github) token(r *http.Request) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	code := r.PostFormValue("code")
	account, challenge, _ := strings.Cut(code, ":")
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case r.PostFormValue("client_id") != "id" || r.PostFormValue("client_secret") != "secret":
		return map[string]any{"error": "incorrect_client_credentials"}
	case r.PostFormValue("redirect_uri") != callback:
		return map[string]any{"error": "redirect_uri_mismatch"}
	case g.spent[code] || challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		return map[string]any{"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."}
	}
	g.spent[code] = true
	return map[string]any{"access_token": "token of " + account, "scope": "user:email", "token_type": "bearer"}
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(body) // the test sees what is missing
}

// start starts a GitHub, and the plugin with a config block for it.
func start(t *testing.T, secret string) (*plugintest.Plugin, string, conformance.Program) {
	t.Helper()
	server := httptest.NewServer(&github{spent: map[string]bool{}})
	t.Cleanup(server.Close)
	setup := plugintest.Config(strings.ReplaceAll(
		`{"client_id": "id", "client_secret": "`+secret+`", "github": "HERE", "api": "HERE/api/v3"}`, "HERE", server.URL))
	program := conformance.Program{Command: []string{python(t), "github_sign_in.py"}, Setup: setup}
	return plugintest.Run(t, program, setup), server.URL, program
}

// People are who GitHub says they are, and their address is verified only if GitHub says so.
func TestSignIn(t *testing.T) {
	p, server, program := start(t, "secret")
	for account, verified := range map[string]string{"ada": "ada@example.com", "bob": "", "mute": ""} {
		begun := p.Begin().SendsTo(server+"/login/oauth/authorize").Asks("client_id", "id").Asks("redirect_uri", callback).
			Asks("state", "the-state-of-the-test").Asks("scope", "user:email").Asks("code_challenge_method", "S256")
		code := map[string]string{"code": account + ":" + begun.Parameter("code_challenge")}
		who, _ := begun.Finish(code).Identifies("583231").Verified(verified).Result.Identity()
		if want := map[string]string{"ada": "Ada Lovelace", "bob": "bob", "mute": "mute"}[account]; who.Name != want {
			t.Errorf("the name of %s is %q", account, who.Name)
		}
		if account == "bob" && who.Email != "bob@example.com" {
			t.Errorf("the address that is not verified is %q", who.Email)
		}
		begun.Finish(code).Fails("GitHub gives no token: bad_verification_code") // it is spent
	}
	plugintest.ConformanceOf(t, program)
}

// Whoever did not consent, or comes with a code that is not of this sign-in, is nobody.
func TestNobodyElseIsSignedIn(t *testing.T) {
	p, _, _ := start(t, "secret")
	begun, other := p.Begin(), p.Begin()
	begun.Finish(map[string]string{"error": "access_denied", "error_description": "The user has denied your application access."}).Refuses("")
	begun.Finish(map[string]string{"error": "application_suspended"}).Fails("GitHub says application_suspended")
	begun.Finish(map[string]string{"code": "ada:" + other.Parameter("code_challenge")}).Fails("bad_verification_code")
	begun.Finish(nil).Fails("bad_verification_code")
	begun.Finish(map[string]string{"code": "moved:" + begun.Parameter("code_challenge")}).Fails("HTTP Error 302")
	begun.Finish(map[string]string{"code": "slow:" + begun.Parameter("code_challenge")}).Fails("takes too long")
	p.Finish(pluginsdk.FinishRequest{Callback: callback, Parameters: map[string]string{"code": "ada:"}}).Refuses("did not begin here")
}

// A wrong secret is for the operator to read.
func TestWrongSecret(t *testing.T) {
	p, _, _ := start(t, "another")
	begun := p.Begin()
	begun.Finish(map[string]string{"code": "ada:" + begun.Parameter("code_challenge")}).Fails("GitHub gives no token: incorrect_client_credentials")
}

// python returns a Python with gRPC, Debian's first, or skips the test, or fails it
// with REQUIRE_PYTHON=1, when there is none.
func python(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import grpc").Run() == nil {
			return python
		}
	}
	if os.Getenv("REQUIRE_PYTHON") == "1" {
		t.Fatal("Python with grpcio is missing: apt-get install python3-grpcio")
	}
	t.Skip("Python with grpcio is missing: apt-get install python3-grpcio")
	return ""
}
