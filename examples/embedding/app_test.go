package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A person comes to the dashboard, signs in, sees it, and signs out.
func TestEmbedding(t *testing.T) {
	a, err := openApp(t.Context(), filepath.Join(t.TempDir(), "app.db"), t.TempDir(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	user, err := a.admin.AddUser(t.Context(), demoEmail, "Ada Lovelace", demoPassword)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.handler)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	do := func(method, path, body string) (status int, at, text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html") // as a browser asks for a page
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Request.URL.Path, string(b)
	}
	steps := []struct{ method, path, body, at, text string }{
		{"GET", "/", "", "/", "Home"},
		{"GET", "/dashboard?from=home", "", "/login", `"dashboard":"/dashboard","home":"/","privacy":null,"terms":"/terms"`},
		{"POST", "/auth/login", `{"login":"ADA@example.com","password":"` + demoPassword + `"}`, "/auth/login", `"target":"/dashboard?from=home"`},
		{"GET", "/dashboard", "", "/dashboard", "Hello, user " + user.ID},
		{"GET", "/login", "", "/dashboard", "Hello"},
		{"POST", "/logout", "", "/", "Home"},
		{"GET", "/dashboard", "", "/login", "bootstrap"},
	}
	for _, step := range steps {
		status, at, text := do(step.method, step.path, step.body)
		if status != 200 || at != step.at || !strings.Contains(text, step.text) {
			t.Fatalf("%s %s: %d at %s, want %s with %q\n%s", step.method, step.path, status, at, step.at, step.text, text)
		}
	}
}

// The README names the account that there is.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if want := "http://127.0.0.1:8081  sign in as " + demoEmail + " with " + demoPassword + "\n"; err != nil || !strings.Contains(string(readme), want) {
		t.Errorf("the README (%v) lacks %q", err, want)
	}
}
