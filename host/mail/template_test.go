package mail_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

func builtin(t *testing.T) *mail.Templates {
	t.Helper()
	tmpl, err := mail.LoadTemplates("")
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

// dir writes files into a fresh directory.
func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	d := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func data() mail.Data {
	return mail.Data{
		App: "Acme Shop", Host: "shop.example.com", Name: "Ada Lovelace", Email: "ada@example.com",
		Link: "https://shop.example.com/password/reset/t0ken?email=ada%2Bshop%40example.com", Minutes: 60, Days: 7, At: time.Date(2026, 11, 22, 13, 4, 0, 0, time.UTC), Device: "Firefox (Linux)",
	}
}

func TestLanguageOfTheRequest(t *testing.T) {
	tmpl := builtin(t)
	for _, tc := range []struct{ purpose, locale, lang, subject, text string }{
		{mail.PasswordReset, "", "en", "Set a new password for Acme Shop", "Hello Ada Lovelace,"},
		{mail.PasswordReset, "en", "en", "Set a new password for Acme Shop", "for 60 minutes"},
		{mail.PasswordReset, "de", "de", "Neues Passwort für Acme Shop festlegen", "60 Minuten"},
		{mail.PasswordReset, "de-AT", "de", "Neues Passwort für Acme Shop festlegen", "Guten Tag Ada Lovelace,"},
		{mail.PasswordReset, "DE_CH", "de", "Neues Passwort für Acme Shop festlegen", "Guten Tag"},
		{mail.PasswordReset, "fr", "en", "Set a new password for Acme Shop", "Hello"},
		{mail.PasswordReset, "../de", "en", "Set a new password for Acme Shop", "Hello"},
		{mail.Invitation, "", "en", "Your account with Acme Shop", "with\nthe address ada@example.com. To sign in, choose a password first.\nThe link works once and for 7 days:"},
		{mail.Invitation, "en-GB", "en", "Your account with Acme Shop", "Hello Ada Lovelace,"},
		{mail.Invitation, "de-AT", "de", "Ihr Konto bei Acme Shop", "Der Link gilt einmal und 7 Tage lang:"},
		{mail.PasswordChanged, "", "en", "Your password for Acme Shop was changed", "on 22 November 2026 at 13:04 UTC, with Firefox (Linux),\nand all devices were signed out"},
		{mail.PasswordChanged, "en-GB", "en", "Your password for Acme Shop was changed", "(shop.example.com)"},
		{mail.PasswordChanged, "de", "de", "Ihr Passwort für Acme Shop wurde geändert", "22.11.2026 um 13:04 Uhr (UTC) mit Firefox (Linux) geändert,\nund alle Geräte"},
		{mail.TokenAdded, "", "en", "New access token for Acme Shop", "on 22 November 2026 at 13:04 UTC, with Firefox (Linux). Programs"},
		{mail.TokenAdded, "de-AT", "de", "Neues Zugriffstoken für Acme Shop", "22.11.2026 um 13:04 Uhr (UTC) mit Firefox (Linux) ein neues Zugriffstoken"},
		{mail.ManyFailures, "fr", "en", "Many failed attempts to sign in to Acme Shop", "about a hundred times within a day, until 22 November 2026 at 13:04 UTC"},
		{mail.ManyFailures, "de", "de", "Viele fehlgeschlagene Anmeldungen bei Acme Shop", "jemand hat bis 22.11.2026 um 13:04 Uhr"},
	} {
		t.Run(tc.purpose+" "+tc.locale, func(t *testing.T) {
			d := data()
			c, err := tmpl.Render(tc.purpose, tc.locale, d)
			if err != nil {
				t.Fatal(err)
			}
			if c.Subject != tc.subject || c.Lang != tc.lang {
				t.Errorf("got %q in %q, want %q in %q", c.Subject, c.Lang, tc.subject, tc.lang)
			}
			if !strings.Contains(c.Text, tc.text) || strings.Contains(c.Text, "Subject:") {
				t.Errorf("no %q in the text, or the subject is:\n%s", tc.text, c.Text)
			}
			for _, want := range []string{`<html lang="` + tc.lang + `">`, "Ada Lovelace", "Acme Shop", "shop.example.com"} {
				if !strings.Contains(c.HTML, want) {
					t.Errorf("no %q in the HTML:\n%s", want, c.HTML)
				}
			}
			if !strings.Contains(c.Text, "\n"+d.Link+"\n") || !strings.Contains(c.HTML, `href="`+d.Link+`"`) {
				t.Error("the link is not whole in both parts")
			}
		})
	}
}

// The default language is English, so its files and those of en are the same
// text twice. An operator may replace either.
func TestDefaultIsEnglish(t *testing.T) {
	for _, purpose := range mail.Purposes() {
		for _, ext := range []string{".txt", ".html"} {
			a, errA := os.ReadFile(filepath.Join("templates", purpose+ext))
			b, errB := os.ReadFile(filepath.Join("templates", purpose+"_en"+ext))
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Errorf("%s%s and %s_en%s differ (%v, %v)", purpose, ext, purpose, ext, errA, errB)
			}
		}
	}
}

func TestUnitsFollowTheNumber(t *testing.T) {
	d := data()
	d.Minutes = 1
	for locale, want := range map[string]string{"en": "1 minute:", "de": "1 Minute lang:"} {
		c, err := builtin(t).Render(mail.PasswordReset, locale, d)
		if err != nil || !strings.Contains(c.Text, want) {
			t.Errorf("%s: no %q (%v) in:\n%s", locale, want, err, c.Text)
		}
	}
	d.Days = 1
	for locale, want := range map[string]string{"en": "for 1 day:", "de": "1 Tag lang:"} {
		c, err := builtin(t).Render(mail.Invitation, locale, d)
		if err != nil || !strings.Contains(c.Text, want) {
			t.Errorf("%s: no %q (%v) in:\n%s", locale, want, err, c.Text)
		}
	}
}

func TestGreetsOnlyWithWhatIsAName(t *testing.T) {
	for _, tc := range []struct{ name, greeting string }{
		{"Ada Lovelace", "Hello Ada Lovelace,"},
		{"", "Hello,"},
		{"  Ada \t Lovelace ", "Hello Ada Lovelace,"},
		{"Jörg Müller-Lüdenscheidt", "Hello Jörg Müller-Lüdenscheidt,"},
		{"李小龍", "Hello 李小龍,"},
		{"O'Neill, Tip", "Hello O'Neill, Tip,"},
		{"St. John J.", "Hello St. John J.,"},
		{"http://evil.example is waiting", "Hello,"},
		{"visit evil.example", "Hello,"},
		{"visit evil。example", "Hello,"},
		{"ada@evil", "Hello,"},
		{"<b>Ada</b>", "Hello,"},
		{"Ada\r\nBcc: eve", "Hello,"},
		{"Ada\nYour account is closed", "Hello Ada Your account is closed,"},
		{"Ada\u202eevoL", "Hello Ada evoL,"},
		{strings.Repeat("a", 65), "Hello,"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := data()
			d.Name = tc.name
			c, err := builtin(t).Render(mail.PasswordReset, "", d)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(c.Text, "\n"); first != tc.greeting {
				t.Errorf("got %q, want %q", first, tc.greeting)
			}
		})
	}
}

func TestSubjectIsOneLineOfModerateLength(t *testing.T) {
	d := data()
	d.App = "Acme\r\nBcc: eve@example.com\x00" + strings.Repeat("é", 300)
	c, err := builtin(t).Render(mail.PasswordReset, "", d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(c.Subject, "\r\n\x00") || len([]rune(c.Subject)) != 200 {
		t.Errorf("got %d characters: %q", len([]rune(c.Subject)), c.Subject)
	}
}

func TestOwnTemplatesReplaceSingleFiles(t *testing.T) {
	tmpl, err := mail.LoadTemplates(dir(t, map[string]string{
		"password_reset_de.txt": "Subject: Moin von {{.App}}\r\n\r\nMoin {{.Name}}: {{.Link}}\r\n",
		"password_reset_fr.txt": "Subject: Nouveau mot de passe\n\n{{.Link}}\n", "password_reset_fr.html": "<p lang={{.Lang}}>{{.Link}}</p>",
		"README.md": "not a template", ".password_reset.txt.swp": "nor this",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ locale, subject, html string }{
		{"de", "Moin von Acme Shop", "Neues Passwort wählen"},
		{"en", "Set a new password for Acme Shop", "Set a new password"},
		{"fr-CA", "Nouveau mot de passe", "<p lang=fr>"},
		{"nl", "Set a new password for Acme Shop", "Set a new password"},
	} {
		c, err := tmpl.Render(mail.PasswordReset, tc.locale, data())
		if err != nil {
			t.Fatal(err)
		}
		if c.Subject != tc.subject || !strings.Contains(c.HTML, tc.html) {
			t.Errorf("%s: got %q and\n%s", tc.locale, c.Subject, c.HTML)
		}
	}
}

func TestFaultyTemplatesAreNamed(t *testing.T) {
	const ok = "Subject: s\n\n{{.Link}}"
	for _, tc := range []struct {
		name  string
		files map[string]string
		wants []string
	}{
		{"syntax", map[string]string{"password_reset.txt": "Subject: s\n\n{{.Link}\n"}, []string{"password_reset.txt:3"}},
		{"unknown field", map[string]string{"password_reset_de.txt": "Subject: s\n\n{{.Link}}{{.Token}}"}, []string{"password_reset_de.txt:3", "Token"}},
		{"html syntax", map[string]string{"password_changed.html": "<p>{{if}}</p>"}, []string{"password_changed.html:1"}},
		{"html context", map[string]string{"password_reset.html": "<a href='{{.Link}}' {{if .Name}}title='{{end}}>"}, []string{"password_reset.html"}},
		{"no subject", map[string]string{"password_reset.txt": "Hello\n\n{{.Link}}"}, []string{"password_reset.txt", "Subject"}},
		{"empty subject", map[string]string{"password_reset.txt": "Subject: \n\n{{.Link}}"}, []string{"Subject"}},
		{"no empty line", map[string]string{"password_reset.txt": "Subject: s\n{{.Link}}"}, []string{"empty line"}},
		{"no text", map[string]string{"password_changed.txt": "Subject: s\n\n \n"}, []string{"no text"}},
		{"no link in the text", map[string]string{"password_reset.txt": "Subject: s\n\nHello"}, []string{"password_reset.txt", "{{.Link}}"}},
		{"no link in the HTML", map[string]string{"password_reset_de.html": "<p>Hallo"}, []string{"password_reset_de.html", "{{.Link}}"}},
		{"misspelt", map[string]string{"pasword_reset.txt": ok}, []string{"pasword_reset.txt", "use password_reset or password_changed"}},
		{"upper-case language", map[string]string{"password_reset_DE.txt": ok}, []string{"password_reset_DE.txt"}},
		{"half a language", map[string]string{"password_reset_fr.txt": ok}, []string{"password_reset_fr.html", "add the missing one"}},
		{"huge", map[string]string{"password_reset.txt": ok + strings.Repeat(" ", 300<<10)}, []string{"password_reset.txt", "larger"}},
		{"two at once", map[string]string{"password_reset.txt": "x", "password_changed_de.txt": "y"}, []string{"password_reset.txt", "password_changed_de.txt"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := mail.LoadTemplates(dir(t, tc.files))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tc.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in: %v", want, err)
				}
			}
		})
	}
	t.Run("no such directory", func(t *testing.T) {
		_, err := mail.LoadTemplates(filepath.Join(t.TempDir(), "missing"))
		if err == nil || !strings.Contains(err.Error(), "mail.templates") {
			t.Errorf("got %v", err)
		}
	})
}

// The directory of templates may be writable for others than the operator.
func TestTemplatesDoNotLeaveTheirDirectory(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("Subject: s\n\n{{.Link}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(d, "password_reset.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := mail.LoadTemplates(d); err == nil {
		t.Error("a link out of the directory was followed")
	}
}

// The logo stands in place of the name, and only where there is one.
func TestLogo(t *testing.T) {
	d := data()
	for logo, want := range map[string]string{"": ">Acme Shop</p>", "https://shop.example.com/l.png": `<img src="https://shop.example.com/l.png" alt="Acme Shop"`} {
		d.Logo = logo
		c, err := builtin(t).Render(mail.PasswordChanged, "de", d)
		if err != nil || !strings.Contains(c.HTML, want) {
			t.Errorf("no %s (%v) in\n%s", want, err, c.HTML)
		}
	}
}

// The mails of plugins have their templates in the directory, in all languages that it has.
func TestMailsOfPlugins(t *testing.T) {
	files := map[string]string{
		"greeting.txt": "Subject: Hi {{.Text \"who\"}}\n\nOpen {{.Text \"link\"}}", "greeting.html": `<a href="{{.Text "link"}}">{{.Text "who"}}</a>`,
		"greeting_de.txt": "Subject: Moin\n\n{{.Text \"link\"}}", "greeting_de.html": "<p>{{.Text `link`}}",
	}
	if _, err := mail.LoadTemplates(dir(t, files), "greeting"); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		mails []string
		add   map[string]string
		want  string
	}{
		"nobody's":       {nil, nil, "greeting.txt: no mail is named so"},
		"missing":        {[]string{"greeting", "other"}, nil, "other.txt and other.html belong together"},
		"half":           {[]string{"greeting", "other"}, map[string]string{"other.txt": "Subject: x\n\nx"}, "other.txt and other.html belong together"},
		"the host's own": {[]string{"greeting", "password_reset"}, nil, `"password_reset" is no name of a mail`},
		"a path":         {[]string{"greeting", "../greeting"}, nil, `"../greeting" is no name of a mail`},
		"broken":         {[]string{"greeting"}, map[string]string{"greeting.html": "{{.Text}}"}, "greeting.html"},
	} {
		all := maps.Clone(files)
		maps.Copy(all, tt.add)
		if _, err := mail.LoadTemplates(dir(t, all), tt.mails...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// No plugin can have a mail of the host's own.
func TestMailsOfTheHostAreReserved(t *testing.T) {
	for _, purpose := range mail.Purposes() {
		if reserved.MailName(purpose) {
			t.Errorf("a plugin may send a mail named %s", purpose)
		}
	}
}
