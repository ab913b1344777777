package identity_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

const redirect = "http://127.0.0.1:8080/auth/identity/company/callback"

// A site is the plugin as a process, with one provider in its config block.
type site struct {
	t      *testing.T
	client *pluginsdk.Client
}

// newSite starts the plugin. The lines are JSON of its config block.
func newSite(t *testing.T, program, issuer string, lines ...string) *site {
	t.Helper()
	block := strings.Join(append([]string{`"issuer": "` + issuer + `"`}, lines...), ", ")
	return &site{t, plugintest.Run(t, conformance.Program{Command: []string{program}}, plugintest.Config("{"+block+"}")).Client}
}

// client is the part of a config block that names the client.
func client(id string) string { return `"client_id": "` + id + `", "client_secret": "not-a-secret"` }

// begin returns the provider's address and the private bytes.
func (s *site) begin(fresh bool) pluginsdk.Authorization {
	s.t.Helper()
	a, err := s.client.Begin(s.context(), pluginsdk.BeginRequest{ID: "test", Callback: redirect, State: "the-state", Locale: "de", Fresh: fresh})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *site) finish(a pluginsdk.Authorization, fresh bool, parameters map[string]string) (pluginsdk.IdentityResult, error) {
	return s.client.Finish(s.context(), pluginsdk.FinishRequest{
		ID: "test", Callback: redirect, Parameters: parameters, Private: a.Private, Locale: "de", Fresh: fresh,
	})
}

func (s *site) context() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(cancel)
	return ctx
}

// signIn signs a person in, and fails the test unless they are the one that is wanted.
func (s *site) signIn(b *browser, fresh bool, want pluginsdk.Identity) (map[string]string, pluginsdk.Authorization) {
	s.t.Helper()
	a, began := s.begin(fresh), time.Now()
	parameters := b.visit(a.URL)
	result, err := s.finish(a, fresh, parameters)
	if err != nil {
		s.t.Fatalf("%v, of the callback %v", err, parameters)
	}
	got, found := result.Identity()
	if fresh && (got.AuthTime.Before(began.Add(-2*time.Second)) || got.AuthTime.After(time.Now().Add(2*time.Second))) {
		s.t.Errorf("the proof was made at %v, and the sign-in began at %v", got.AuthTime, began)
	}
	got.AuthTime = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" || !found {
		s.t.Errorf("refused: %q; (-want +got):\n%s", result.Reason(), diff)
	}
	return parameters, a
}

func person(login string, verified bool) pluginsdk.Identity {
	return pluginsdk.Identity{Subject: login, Email: login + "@example.com", EmailVerified: verified, Name: "The person " + login}
}

// A certified provider and the plugin understand each other.
func TestCertifiedProvider(t *testing.T) {
	program := plugintest.Build(t, "../../../plugins/oidc")
	issuer := certified(t)
	ordinary := newSite(t, program, issuer, client("vestibule"))

	t.Run("a person signs in", func(t *testing.T) {
		s := &site{t, ordinary.client}
		b := newBrowser(t, "ada")
		parameters, a := s.signIn(b, false, person("ada", true))
		if parameters["iss"] != issuer || parameters["state"] != "the-state" {
			t.Errorf("the callback has %v", parameters)
		}
		if _, err := s.finish(a, false, parameters); err == nil || !strings.Contains(err.Error(), "400 and the error invalid_grant") {
			t.Errorf("the code again: %v", err)
		}
		if b.Asked != 1 {
			t.Errorf("the provider asked for a password %d times", b.Asked)
		}
		s.signIn(b, false, person("ada", true))
		if b.Asked != 1 {
			t.Error("the provider does not remember the person, and the next test shows nothing")
		}
		s.signIn(b, true, person("ada", true))
		if b.Asked != 2 {
			t.Error("the provider did not ask anew for a proof made now")
		}
	})
	t.Run("another process finishes", func(t *testing.T) {
		s, other := &site{t, ordinary.client}, newSite(t, program, issuer, client("vestibule"))
		a := s.begin(true)
		result, err := other.finish(a, true, newBrowser(t, "ada").visit(a.URL))
		if i, _ := result.Identity(); err != nil || i.Subject != "ada" {
			t.Errorf("got %+v, %q, %v", i, result.Reason(), err)
		}
	})
	t.Run("another sign-in's private bytes", func(t *testing.T) {
		s := &site{t, ordinary.client}
		parameters, other := newBrowser(t, "ada").visit(s.begin(false).URL), s.begin(false)
		if _, err := s.finish(other, false, parameters); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
			t.Errorf("got %v, want the refusal of the verifier", err)
		}
	})
	t.Run("a callback without its issuer", func(t *testing.T) {
		s := &site{t, ordinary.client}
		a := s.begin(false)
		parameters := maps.Clone(newBrowser(t, "ada").visit(a.URL))
		delete(parameters, "iss")
		if _, err := s.finish(a, false, parameters); err == nil || !strings.Contains(err.Error(), "does not name its issuer") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an unverified address", func(t *testing.T) {
		(&site{t, ordinary.client}).signIn(newBrowser(t, "mallory"), false, person("mallory", false))
	})
	t.Run("a person who cancels", func(t *testing.T) {
		s := &site{t, ordinary.client}
		a, b := s.begin(false), newBrowser(t, "ada")
		b.Cancels = true
		parameters := b.visit(a.URL)
		result, err := s.finish(a, false, parameters)
		if _, found := result.Identity(); err != nil || found || !strings.Contains(result.Reason(), "abgelehnt oder abgebrochen") {
			t.Errorf("got %q, %v of %v", result.Reason(), err, parameters)
		}
	})
	t.Run("a wrong secret", func(t *testing.T) {
		s := newSite(t, program, issuer, `"client_id": "vestibule", "client_secret": "another"`)
		a := s.begin(false)
		_, err := s.finish(a, false, newBrowser(t, "ada").visit(a.URL))
		if !errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), "invalid_client") || strings.Contains(err.Error(), "another") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("rules", func(t *testing.T) {
		scopes := `"scopes": ["openid", "email", "profile", "groups"]`
		newSite(t, program, issuer, client("vestibule"), scopes, `"domains": ["example.com"], "claims": {"groups": ["staff"]}`).
			signIn(newBrowser(t, "ada"), false, person("ada", true))
		s := newSite(t, program, issuer, client("vestibule"), scopes, `"claims": {"groups": ["board"]}`)
		a := s.begin(false)
		result, err := s.finish(a, false, newBrowser(t, "ada").visit(a.URL))
		if _, found := result.Identity(); err != nil || found || result.Reason() == "" {
			t.Errorf("got %q, %v", result.Reason(), err)
		}
	})
	t.Run("a curve", func(t *testing.T) {
		newSite(t, program, issuer, client("elliptic")).signIn(newBrowser(t, "ada"), false, person("ada", true))
	})
	t.Run("claims in the token, and the secret in the body", func(t *testing.T) {
		issuer := certified(t, "CLAIMS_IN_TOKEN=true", "AUTH_METHODS=client_secret_post")
		newSite(t, program, issuer, client("posting")).signIn(newBrowser(t, "ada"), true, person("ada", true))
	})
	t.Run("conformance", func(t *testing.T) {
		plugintest.ConformanceOf(t, conformance.Program{
			Command: []string{program}, Setup: plugintest.Config(`{"issuer": "` + issuer + `", ` + client("vestibule") + "}"),
		})
	})
}

// A second provider, which others wrote, understands the plugin, too.
func TestSecondProvider(t *testing.T) {
	s := newSite(t, plugintest.Build(t, "../../../plugins/oidc"), second(t), client("vestibule"))
	b := newBrowser(t, "test-user@127.0.0.1")
	b.Password = "verysecure"
	want := pluginsdk.Identity{Subject: "id1", Email: "test-user@zitadel.ch", EmailVerified: true, Name: "Test User"}
	parameters, a := s.signIn(b, false, want)
	if _, err := s.finish(a, false, parameters); err == nil {
		t.Error("the code signed somebody in twice")
	}
	s.signIn(b, true, want)
}
