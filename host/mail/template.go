package mail

import (
	"bytes"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io/fs"
	"slices"
	"strings"
	texttemplate "text/template"
	"time"
)

// Templates are the texts of all mails in all languages. They are fixed once
// loaded and safe for concurrent use.
type Templates struct {
	purposes []string        // of the host itself, then those of plugins
	texts    map[string]text // by "<purpose>" or "<purpose>_<language>"
}

// text is one mail in one language. Both halves always exist.
type text struct {
	plain *texttemplate.Template
	html  *htmltemplate.Template
}

// Data is what a template may name.
type Data struct {
	// App is the application's name, Host the host name of its public address.
	App, Host string
	// Name is the person's name if it is safe in a greeting, else empty.
	Name string
	// Email is the recipient's address.
	Email string
	// Link is the absolute address to open: for the notices that of the screen where a
	// link to a new password is asked for.
	Link string
	// Logo is the absolute address of a picture; empty for none.
	Logo string
	// At is when the mail was asked for, in UTC.
	At time.Time
	// Device is what PasswordChanged was done with, such as "Firefox (Linux)"; empty
	// where nobody knows.
	Device string
	// Passkeys are those that the person has, in the mails about the password: they go on
	// working.
	Passkeys []Way
	// Identities are the accounts elsewhere that the person has, in the mails about the password.
	Identities []Way
	// Minutes and Days are how long the link works; Days is for Invitation.
	Minutes, Days int
	// Passkey reports that nobody has a password: the link of an Invitation is for a passkey, and that of a notice is
	// the address of the account.
	Passkey bool
	// Elsewhere reports that accounts elsewhere alone sign people in: the link of an Invitation is for one of them.
	Elsewhere bool
	// Lang is the language of the template, "en" for the default one.
	Lang string
	// Subject is the rendered subject; only HTML templates have it.
	Subject string

	texts   map[string]string // of a plugin's mail
	sampled bool              // any text is there
}

// A Way signs somebody in beside a password, such as a passkey.
type Way struct {
	// Name is that by which the person knows it.
	Name string
	// Created is when it was made or linked, in UTC.
	Created time.Time
}

// Text returns a text of a plugin's mail, for {{.Text "name"}}. The error is [ErrRejected]
// if the plugin did not send the text: another attempt would miss it, too.
func (d Data) Text(name string) (string, error) {
	text, ok := d.texts[name]
	switch {
	case ok:
		return text, nil
	case d.sampled:
		return "https://app.example.com/" + name, nil
	}
	return "", fmt.Errorf("%w: the mail has no text %q", ErrRejected, name)
}

// Content is a rendered mail.
type Content struct {
	Subject, Text, HTML, Lang string
}

// maxSubject is where a subject is cut, in characters. RFC 5322 2.1.1 allows
// more by folding, mail programs show less.
const maxSubject = 200

// Render renders the mail of the purpose in the language that fits locale best:
// the tag itself, then its first part, then the default.
func (t *Templates) Render(purpose, locale string, d Data) (Content, error) {
	lang, txt := t.find(purpose, locale)
	if txt.plain == nil {
		return Content{}, fmt.Errorf("no mail template for the purpose %q", purpose)
	}
	d.Lang = lang
	if d.Lang == "" {
		d.Lang = "en"
	}
	d.App, d.Name = oneLine(d.App), greetable(d.Name)

	var plain, html bytes.Buffer
	if err := txt.plain.Execute(&plain, d); err != nil {
		return Content{}, err
	}
	subject, body, err := splitSubject(plain.String())
	if err != nil {
		return Content{}, fmt.Errorf("template: %s: %w", txt.plain.Name(), err)
	}
	d.Subject = subject
	if err := txt.html.Execute(&html, d); err != nil {
		return Content{}, err
	}
	return Content{Subject: subject, Text: body, HTML: html.String(), Lang: d.Lang}, nil
}

func (t *Templates) find(purpose, locale string) (lang string, txt text) {
	locale = strings.ToLower(strings.ReplaceAll(locale, "_", "-"))
	base, _, _ := strings.Cut(locale, "-")
	for _, lang := range []string{locale, base} {
		if txt, ok := t.texts[purpose+"_"+lang]; ok && lang != "" {
			return lang, txt
		}
	}
	return "", t.texts[purpose]
}

// splitSubject takes the line "Subject: …" and the empty line after it off the
// rendered plain text.
func splitSubject(s string) (subject, body string, err error) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	first, rest, _ := strings.Cut(s, "\n")
	subject, ok := strings.CutPrefix(first, "Subject:")
	subject = oneLine(subject)
	if !ok || subject == "" {
		return "", "", errors.New(`the first line is not "Subject: …": put the subject there`)
	}
	blank, rest, _ := strings.Cut(rest, "\n")
	if strings.TrimSpace(blank) != "" {
		return "", "", errors.New("no empty line follows the subject: add one")
	}
	if strings.TrimSpace(rest) == "" {
		return "", "", errors.New("there is no text after the subject: add some")
	}
	if r := []rune(subject); len(r) > maxSubject {
		subject = string(r[:maxSubject-1]) + "…"
	}
	return subject, rest, nil
}

// parse reads the two halves of one mail.
func parse(fsys fs.FS, plain, html string) (text, error) {
	p, err := read(fsys, plain)
	if err != nil {
		return text{}, err
	}
	h, err := read(fsys, html)
	if err != nil {
		return text{}, err
	}
	var txt text
	txt.plain, err = texttemplate.New(plain).Option("missingkey=error").Parse(p)
	if err != nil {
		return text{}, err
	}
	txt.html, err = htmltemplate.New(html).Option("missingkey=error").Parse(h)
	return txt, err
}

// sample is what templates are tried with when they are loaded. Every field is
// filled, so that a mistake shows at the start and not in the first mail.
func sample(purpose string) Data {
	d := Data{
		App: "App", Host: "app.example.com", Name: "Ada", Email: "ada@example.com", Minutes: 60, Days: 7,
		Logo: "https://app.example.com/logo.png", At: time.Unix(0, 0).UTC(), Device: "Firefox (Linux)",
		Passkeys: []Way{{"Phone", time.Unix(0, 0).UTC()}}, Identities: []Way{{"Company account", time.Unix(0, 0).UTC()}},
	}
	if purpose == PasswordReset || purpose == Invitation {
		d.Link = "https://app.example.com/password/reset/token?email=ada%40example.com"
	}
	d.sampled = !slices.Contains(Purposes(), purpose)
	return d
}

// try renders the mail of one purpose and language with sample data.
func (t *Templates) try(purpose, lang string) error {
	d := sample(purpose)
	c, err := t.Render(purpose, lang, d)
	if err != nil {
		return err
	}
	for part, body := range map[string]string{".txt": c.Text, ".html": c.HTML} {
		if !strings.Contains(body, d.Link) {
			return fmt.Errorf("template: %s%s: it does not contain the link: write {{.Link}} where it belongs", key(purpose, lang), part)
		}
	}
	return nil
}

func key(purpose, lang string) string {
	if lang == "" {
		return purpose
	}
	return purpose + "_" + lang
}

// minutes rounds up, so that a mail never promises "0 minutes".
func minutes(d time.Duration) int {
	return int((d + time.Minute - 1) / time.Minute)
}

// days rounds down, so that a mail never promises more than there is.
func days(d time.Duration) int { return int(d / (24 * time.Hour)) }
