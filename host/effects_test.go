package host_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// execute runs a statement on the database of a test.
func execute(t *testing.T, db *store.DB, statement string) {
	t.Helper()
	if _, err := db.Writer().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until done returns true, while the clock of the site goes on.
func (s *testSite) eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		s.clock.Advance(500 * time.Millisecond)
		if time.Now().After(end) {
			t.Fatalf("%s; log:\n%s", what, s.log)
		}
	}
}

// A listener clears a column of the person whose password was reset, and the dispenser of
// the same plugin, which held the person, lets them pass then.
func TestListenerChangesColumns(t *testing.T) {
	program := plugintest.Build(t, "../examples/must-change-password")
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		execute(t, db, `ALTER TABLE users ADD COLUMN must_change_password BOOLEAN`)
		s := newSite(t, db, func(o *host.Options) {
			o.Plugins = []host.Plugin{{
				Name: "password", Command: []string{program}, Roles: []string{"dispenser", "listener"},
				UserRead: []string{"must_change_password"}, UserWrite: []string{"must_change_password"},
			}}
		})
		execute(t, db, `UPDATE users SET must_change_password = (1 = 1)`)
		b := s.browser(t)
		if n := b.login(adaEmail, adaPassword, false).next(t); n.Target() != "/change-password" {
			t.Fatalf("next is %+v", n)
		}
		b.get("/dashboard").isTurnedAway(t, "somebody without a new password")
		_, token := s.link(t, b, 1)
		b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
		s.eventually(t, "the listener was not told", func() bool { return len(rows(t, db, "vestibule_outbox")) == 0 })
		if n := b.login(adaEmail, newPassword, false).next(t); n.Target() != "/dashboard" {
			t.Errorf("after the reset next is %+v; log:\n%s", n, s.log)
		}
	})
}

// faulty is a plugin that asks for the effects which the user's address names.
func faulty(t *testing.T) host.Plugin {
	return host.Plugin{
		Name: "fault", Command: []string{plugintest.Build(t, "pluginproc/internal/faultplugin")}, Roles: []string{"listener"},
		UserWrite: []string{"must_change"}, Mails: []string{"changed"},
	}
}

// templates makes a directory with the templates of mails, each of which shows a link.
func templates(t *testing.T, mails ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range mails {
		for file, text := range map[string]string{
			name + ".txt": "Subject: It is " + name + "\n\nOpen {{.Text \"link\"}}\n", name + ".html": `<a href="{{.Text "link"}}">{{.Text "link"}}</a>`,
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// The effects of a listener are applied with the mark that it knows of the event. Effects that the
// contract forbids, or that the column cannot hold, change nothing: the event is given up
// at once, with the plugin in the log, and holds back no other.
func TestEffectsOfListeners(t *testing.T) {
	plugin := faulty(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		execute(t, db, `ALTER TABLE users ADD COLUMN must_change BOOLEAN`)
		s := newSite(t, db, func(o *host.Options) {
			o.Plugins, o.Mail.Templates = []host.Plugin{plugin}, templates(t, "changed")
		})
		for _, way := range []string{"sets-another", "sets-session", "mails", "sets-badly", "sets"} {
			u, err := s.db.AddUser(t.Context(), way+"@example.com", way, weakHash())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.db.Outbox().Announce(t.Context(), "password_reset", u.ID, []string{"fault"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.db.Outbox().Announce(t.Context(), "password_reset", "4711", []string{"fault"}); err != nil { // of nobody
			t.Fatal(err)
		}
		given := map[string]string{}
		s.eventually(t, "not everybody was told", func() bool {
			left := 0
			clear(given)
			for _, row := range rows(t, db, "vestibule_outbox") {
				if row["buried"] == "0" {
					left++
				}
				given[row["user_id"]] = row["reason"]
			}
			return left == 0
		})
		if mail := s.letters(t, 1)[0]; !strings.Contains(mail, "To: <sets@example.com>") || !strings.Contains(mail, s.URL+"/account") && !strings.Contains(mail, "://127.0.0.1:8080/account") {
			t.Errorf("the mail is\n%s", mail)
		}
		set := 0
		for _, row := range rows(t, db, "users") {
			way, _, _ := strings.Cut(row["email"], "@")
			if row["must_change"] != "" && row["must_change"] != "<nil>" {
				set++
			}
			want := map[string]string{
				"sets-another": `"is_admin", which is not granted`, "sets-session": "no session", "mails": `"another", which is not granted`, "sets-badly": "must_change",
			}[way]
			if reason := given[row["id"]]; want == "" && reason != "" || !strings.Contains(reason, want) {
				t.Errorf("%s was given up because of %q, want %q", way, reason, want)
			}
		}
		if set != 1 {
			t.Errorf("%d people have the mark, want one: %v", set, rows(t, db, "users"))
		}
		if n := strings.Count(s.log.String(), "not delivered and given up"); n != 4 || strings.Contains(s.log.String(), "to be repeated") {
			t.Errorf("%d events were given up, want 4; log:\n%s", n, s.log)
		}
	})
}

// A constraint of the table refuses what a listener sets: the event is given up at once,
// counted and logged with the plugin, and nothing of the answer is applied.
func TestRefusedEffectsOfListeners(t *testing.T) {
	plugin := faulty(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db, log := open(), &logs{}
		execute(t, db, `ALTER TABLE users ADD COLUMN must_change BOOLEAN CHECK (must_change IS NOT TRUE)`)
		u, err := db.AddUser(t.Context(), "sets@example.com", "Ada", weakHash())
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Outbox().Announce(t.Context(), "password_reset", u.ID, []string{"fault"}); err != nil {
			t.Fatal(err)
		}
		_, admin := runWithAdmin(t, host.Options{
			Store: db, Plugins: []host.Plugin{plugin}, Mail: host.MailOptions{Templates: templates(t, "changed")},
			Logger: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info}),
		})
		for end := time.Now().Add(30 * time.Second); rows(t, db, "vestibule_outbox")[0]["buried"] == "0"; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the event was not given up; log:\n%s", log)
			}
		}
		list := rows(t, db, "vestibule_outbox")
		if len(list) != 1 || list[0]["attempts"] != "1" || !strings.Contains(list[0]["reason"], "set by fault") || !strings.Contains(list[0]["reason"], "must_change") {
			t.Errorf("the outbox has %q", list)
		}
		if n := scrape(t, admin)[`vestibule_plugin_events_total{event="value_refused",plugin="fault"}`]; n != "1" {
			t.Errorf("%s refused values are counted", n)
		}
		if !strings.Contains(log.String(), "not delivered and given up") {
			t.Errorf("log:\n%s", log)
		}
	})
}

var verifyLink = regexp.MustCompile(`https?://[^\s"<>]+(/verify-email\?token=[A-Za-z0-9_-]+)`)

// verifying starts a site with examples/verify-email.
func verifying(t *testing.T, db *store.DB, program string, change func(*host.Options)) *testSite {
	return newSite(t, db, func(o *host.Options) {
		o.Mail.Templates = "../examples/verify-email/mails"
		o.Plugins = []host.Plugin{{
			Name: "verify", Command: []string{program}, Roles: []string{"dispenser"}, Mails: []string{"verify-email"},
			UserRead: []string{"email_verified_at"}, UserWrite: []string{"email_verified_at"}, Config: []byte(`{"secret": "0123456789abcdef0123456789abcdef"}`),
		}}
		if change != nil {
			change(o)
		}
	})
}

// A dispenser sends the person a mail with an absolute link to the site, holds them until
// they have opened it, and writes down then that the address is theirs.
func TestPluginsSendMail(t *testing.T) {
	program := plugintest.Build(t, "../examples/verify-email")
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		s := verifying(t, db, program, nil)
		b := s.browser(t)
		if n := b.login(adaEmail, adaPassword, false).next(t); n.Target() != "/verify-email" {
			t.Fatalf("next is %+v", n)
		}
		found := verifyLink.FindStringSubmatch(s.letters(t, 1)[0])
		if found == nil {
			t.Fatalf("no link in\n%s", s.letters(t, 1)[0])
		}
		s.eventually(t, "the mail is still in the outbox", func() bool { return len(rows(t, db, "vestibule_outbox")) == 0 })
		post := func(token string) answer {
			return b.post("/auth/intents/redirect", map[string]any{"token": token})
		}
		post("x").want(t, 200, "")
		b.get("/dashboard").isTurnedAway(t, "somebody whose address is not verified")
		_, token, _ := strings.Cut(found[1], "token=")
		if n := post(token).next(t); n.Target() != "/dashboard" {
			t.Errorf("after the link next is %+v", n)
		}
		if got := rows(t, db, "users")[0]["email_verified_at"]; got == "" || got == "<nil>" {
			t.Errorf("the column is %q", got)
		}
		if n := s.browser(t).login(adaEmail, adaPassword, false).next(t); n.Target() != "/dashboard" || len(s.letters(t, 1)) != 1 {
			t.Errorf("the next sign-in leads to %+v, %d mails", n, len(s.letters(t, 1)))
		}
	})
}

// While a mail of a plugin waits, its row shows no text; once it is given up, the row has
// none.
func TestTextsOfMailsAreSealed(t *testing.T) {
	program := plugintest.Build(t, "../examples/verify-email")
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		s := verifying(t, db, program, func(o *host.Options) {
			o.Mail.Transport, o.Mail.SMTP = "smtp", host.SMTPOptions{Host: "127.0.0.1", Port: 1, TLS: "none"}
		})
		s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "login_success")
		waiting := rows(t, db, "vestibule_outbox")
		if len(waiting) != 1 || len(waiting[0]["sealed"]) < 50 || strings.Contains(fmt.Sprint(waiting), "token") || waiting[0]["purpose"] != "verify-email" {
			t.Fatalf("the outbox has %q", waiting)
		}
		s.eventually(t, "the mail was not given up", func() bool {
			s.clock.Advance(15 * time.Minute)
			return rows(t, db, "vestibule_outbox")[0]["buried"] != "0"
		})
		if left := rows(t, db, "vestibule_outbox")[0]["sealed"]; left != "" && left != "<nil>" {
			t.Errorf("the texts are still there: %q", left)
		}
		if log := s.log.String(); strings.Contains(log, "token=") {
			t.Errorf("the log has the link:\n%s", log)
		}
	})
}

// A person gets at most ten mails of plugins an hour. The others are dropped, logged and
// counted.
func TestMailsOfPluginsAreBounded(t *testing.T) {
	program := plugintest.Build(t, "../examples/verify-email")
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := verifying(t, open(), program, nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
		for range 12 {
			b.post("/auth/intents/redirect", map[string]any{"again": true}).want(t, 200, "")
		}
		if n := strings.Count(s.log.String(), `a mail of a plugin is dropped`); n != 3 || len(s.letters(t, 10)) != 10 {
			t.Errorf("%d mails are logged as dropped, want 3; %d were sent; log:\n%s", n, len(s.letters(t, 10)), s.log)
		}
		if !strings.Contains(s.log.String(), "mail=verify/verify-email") {
			t.Errorf("the log does not name the plugin:\n%s", s.log)
		}
		s.clock.Advance(time.Hour)
		b.post("/auth/intents/redirect", map[string]any{"again": true}).want(t, 200, "")
		s.letters(t, 11)
	})
}

// The embedding program's own dispenser sends mails, too. A template that lacks a text
// gives the mail up at once.
func TestOwnDispenserSendsMail(t *testing.T) {
	g := &gate{}
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Dispenser, o.Mail.Mails, o.Mail.Templates = g, []string{"note", "other"}, templates(t, "note", "other")
	})
	g.answers(pluginsdk.Done().With(pluginsdk.Mail("note", map[string]string{"link": `/a?b=<"x">`}), pluginsdk.Mail("other", nil)), nil)
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	mail := s.letters(t, 1)[0]
	if !strings.Contains(mail, "Subject: It is note") || !strings.Contains(mail, `/a?b=<"x">`) || !strings.Contains(mail, `href="http://127.0.0.1:`) || strings.Contains(mail, `<"x">"`) {
		t.Errorf("the mail is\n%s", mail)
	}
	s.eventually(t, "the mail without its text was not given up", func() bool {
		return strings.Contains(s.log.String(), `the mail has no text \"link\"`) || strings.Contains(s.log.String(), `the mail has no text "link"`)
	})
}

// A reload reads the templates of mails that plugins send from then on, or changes nothing.
func TestReloadReadsTemplatesOfMails(t *testing.T) {
	program, letters := plugintest.Build(t, "../examples/verify-email"), t.TempDir()
	var o host.Options
	s := newSite(t, sqliteStore(t), func(opts *host.Options) {
		opts.Mail.Templates = letters
		o = *opts
	})
	o.Plugins = []host.Plugin{{
		Name: "verify", Command: []string{program}, Roles: []string{"dispenser"}, Mails: []string{"verify-email"},
		UserRead: []string{"email_verified_at"}, UserWrite: []string{"email_verified_at"}, Config: []byte(`{"secret": "0123456789abcdef0123456789abcdef"}`),
	}}
	if err := s.host.Reload(t.Context(), o); err == nil || !strings.Contains(err.Error(), "verify-email.txt and verify-email.html") {
		t.Fatalf("without templates: %v", err)
	}
	if err := os.CopyFS(letters, os.DirFS("../examples/verify-email/mails")); err != nil {
		t.Fatal(err)
	}
	if err := s.host.Reload(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	if mail := s.letters(t, 1)[0]; !verifyLink.MatchString(mail) {
		t.Errorf("no link in\n%s", mail)
	}
}

// Who can write to the outbox cannot send the texts of one person to another.
func TestSealedTextsOpenForTheirUserAlone(t *testing.T) {
	db := sqliteStore(t)
	s := verifying(t, db, plugintest.Build(t, "../examples/verify-email"), func(o *host.Options) {
		o.Mail.Transport, o.Mail.SMTP = "smtp", host.SMTPOptions{Host: "127.0.0.1", Port: 1, TLS: "none"}
	})
	eve, err := s.db.AddUser(t.Context(), "eve@example.com", "Eve", weakHash())
	if err != nil {
		t.Fatal(err)
	}
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	execute(t, db, `UPDATE vestibule_outbox SET user_id = `+eve.ID)
	s.eventually(t, "the mail was not given up", func() bool {
		s.clock.Advance(15 * time.Minute)
		return rows(t, db, "vestibule_outbox")[0]["buried"] != "0"
	})
	if row := rows(t, db, "vestibule_outbox")[0]; !strings.Contains(row["reason"], "cannot be opened") || row["attempts"] == "10" {
		t.Errorf("given up after %s attempts: %s", row["attempts"], row["reason"])
	}
}

// A plugin learns the address of the site and its mails, whoever embeds the host.
func TestPluginsLearnThePublicURL(t *testing.T) {
	plugin := faulty(t)
	plugin.Command = append(plugin.Command, "configure-repeats")
	h, err := host.New(host.Options{
		Store: sqliteStore(t), Plugins: []host.Plugin{plugin}, Mail: host.MailOptions{Templates: templates(t, "changed")},
		Server: host.ServerOptions{PublicURL: &url.URL{Scheme: "https", Host: "app.example.com"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "it learned https://app.example.com [changed]") {
		t.Errorf("the plugin says %v", err)
	}
}
