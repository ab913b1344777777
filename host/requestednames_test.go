package host_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// Without a public URL the links of a mail begin with the name that the person asked under,
// with one always with that.
func TestMailedLinksNameTheRequestedHost(t *testing.T) {
	const changed = "/login#/forgot-password"
	for _, test := range []struct{ name, asked, public, want string }{
		{"localhost", "localhost", "", "http://localhost:%"},
		{"in capitals", "LocalHost", "", "http://localhost:%"},
		{"IPv4", "127.0.0.1", "", "http://127.0.0.1:%"},
		{"IPv6", "[::1]", "", "http://[::1]:%"},
		{"a public URL", "localhost", "https://app.example.com", "https://app.example.com"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), func(o *host.Options) {
				if test.public != "" {
					o.Server.PublicURL, _ = url.Parse(test.public)
				}
				o.Server.PublicDir = logos(t)
			})
			_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
			want := strings.Replace(test.want, "%", port, 1)
			b := s.browser(t)
			asked := []string{"Host", test.asked + ":" + port}
			if test.public != "" {
				asked = append(asked, "Origin", test.public)
			}
			b.post("/auth/forgot-password", map[string]any{"email": adaEmail}, asked...).want(t, 200, "reset_link_sent")
			mail := s.letters(t, 1)[0]
			u, err := url.Parse(want)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{want + "/password/reset/", want + "/assets/ci/logo-mail.png", "(" + u.Host + ")"} {
				if !strings.Contains(mail, part) {
					t.Errorf("the mail has no %s:\n%s", part, mail)
				}
			}
			b.post("/auth/reset-password", resetBody(tokenIn(mail), newPassword), asked...).want(t, 200, "reset_success")
			if both := s.letters(t, 2); !strings.Contains(both[0]+both[1], want+changed) {
				t.Errorf("the notice has no %s", want+changed)
			}
		})
	}
}

// logos returns a public directory with a logo for mails.
func logos(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/assets/ci", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/assets/ci/logo-mail.png", []byte("png"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What the outbox holds of a base is not believed: a mail that names another host, by
// whomever it was written, leads to the site itself.
func TestMailedLinksNameNoOtherHost(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	for i, base := range []string{
		"http://evil.example:8080", "http://localhost.evil.example:8080", "http://localhost@evil.example:8080", "https://localhost:8080", "http://localhost:8080/x", "http://localhost:8080?", "//localhost:8080",
		"http://u@localhost:8080", "http://localhost:8080#", "javascript:alert(1)", " http://localhost:8080", "http://[::2]:8080", "http://localhost:port",
	} {
		const insert = `INSERT INTO vestibule_outbox (id, user_id, purpose, locale, base, attempts, created, due, held, buried, reason) VALUES (?, ?, 'password_changed', 'en', ?, 0, 0, 0, 0, 0, '')`
		if _, err := s.db.Writer().Exec(insert, base, s.user.ID, base); err != nil {
			t.Fatal(err)
		}
		all := s.lettersAfterKick(t, i+1)
		for _, mail := range all {
			if !strings.Contains(mail, "http://127.0.0.1:8080/login#/forgot-password") {
				t.Fatalf("%s: %s", base, mail)
			}
		}
	}
}

// lettersAfterKick makes the worker look into the outbox, and waits for n mails.
func (s *testSite) lettersAfterKick(t *testing.T, n int) []string {
	t.Helper()
	s.browser(t).post("/auth/forgot-password", map[string]any{"email": "nobody@example.com"})
	s.clock.Advance(2 * time.Minute)
	return s.letters(t, n)
}

// A host that listens by itself sends no link to another port than its own.
func TestMailedLinksNameTheOwnPort(t *testing.T) {
	db := sqliteStore(t)
	mails := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	ready := make(chan string, 1)
	h, err := host.New(host.Options{
		Store: db, Mail: host.MailOptions{Transport: "file", Dir: mails, From: "Vestibule <no-reply@example.com>"},
		Server: host.ServerOptions{Address: "127.0.0.1:0", OnReady: func(listening, _ string) { ready <- listening }},
	})
	if err != nil {
		t.Fatal(err)
	}
	user, err := db.AddUser(t.Context(), adaEmail, "Ada", weakHash())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	base := ""
	select {
	case base = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	local := "http://localhost:" + port
	const insert = `INSERT INTO vestibule_outbox (id, user_id, purpose, locale, base, attempts, created, due, held, buried, reason) VALUES (?, ?, 'password_changed', 'en', ?, 0, 0, 0, 0, 0, '')`
	for id, asked := range map[string]string{"own": local, "other": "http://localhost:1"} {
		if _, err := db.Writer().Exec(insert, id, user.ID, asked); err != nil {
			t.Fatal(err)
		}
	}
	s := &testSite{mails: mails, log: &logs{}}
	both := strings.Join(s.letters(t, 2), "")
	for _, want := range []string{local, base} {
		if !strings.Contains(both, want+"/login#/forgot-password") {
			t.Errorf("no link to %s:\n%s", want, both)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
