package mail_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

func TestFileTransport(t *testing.T) {
	d := filepath.Join(t.TempDir(), "deep", "mail")
	s, err := mail.NewSender(mail.Config{Dir: d}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d); !os.IsNotExist(err) {
		t.Error("the directory was made before there was a mail")
	}
	m := message(t, "de")
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(d)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v (%v)", entries, err)
	}
	if want := "20261121-120000.000-password_reset-01234567.eml"; entries[0].Name() != want {
		t.Errorf("named %s, want %s", entries[0].Name(), want)
	}
	info, err := entries[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v): the file holds a link", info.Mode(), err)
	}
	text, err := os.ReadFile(filepath.Join(d, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	if _, parts := read(t, bytes.NewReader(text)); !strings.Contains(parts["text/plain"], data().Link) {
		t.Errorf("no link in\n%s", text)
	}
}

func TestFileTransportWithoutADirectory(t *testing.T) {
	d := t.TempDir()
	file := filepath.Join(d, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file} {
		if _, err := mail.NewSender(mail.Config{Transport: "file", Dir: dir}, nil); err == nil || !strings.Contains(err.Error(), "mail.dir") {
			t.Errorf("%q: got %v", dir, err)
		}
	}
	s, err := mail.NewSender(mail.Config{Dir: filepath.Join(file, "below")}, nil)
	if err == nil {
		err = s.Send(t.Context(), message(t, "en"))
	}
	if err == nil {
		t.Error("sent into a directory below a file")
	}
}

func TestLogTransport(t *testing.T) {
	var out bytes.Buffer
	log := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace})
	s, err := mail.NewSender(mail.Config{Transport: "log"}, log)
	if err != nil {
		t.Fatal(err)
	}
	m := message(t, "en")
	m.Subject += "\n2026-11-21 [INFO] forged"
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	line := out.String()
	for _, want := range []string{"ada@example.com", "Set a new password for Acme Shop"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %s", want, line)
		}
	}
	for _, secret := range []string{"t0ken", "http", "Ada Lovelace"} {
		if strings.Contains(line, secret) {
			t.Errorf("%q in the log: %s", secret, line)
		}
	}
	if regexp.MustCompile(`(?m)^2026-11-21 \[INFO\] forged`).MatchString(line) {
		t.Errorf("a subject forged a log line:\n%s", line)
	}
}

func TestConfigCheck(t *testing.T) {
	good := mail.Config{Dir: filepath.Join(t.TempDir(), "mail"), From: "Vestibule <no-reply@localhost>"}
	if err := good.Check(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	if _, err := os.Stat(good.Dir); !os.IsNotExist(err) {
		t.Error("Check made the directory")
	}
	bad := mail.Config{Transport: "pigeon", From: "nobody", Templates: filepath.Join(t.TempDir(), "missing")}
	err := bad.Check()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`mail.transport: "pigeon" is none: use file, log or smtp`,
		`mail.from: "nobody" is no sender: write it like`, "mail.templates",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	for _, from := range []string{"", "a b", "a@b, c@d", `"x"`, `"a b"@example.com`, "Eve <eve@[::1]>"} {
		c := good
		c.From = from
		if err := c.Check(); err == nil {
			t.Errorf("sender %q is accepted", from)
		}
	}
}

func TestMessagesOfOneMomentDoNotOverwrite(t *testing.T) {
	d := t.TempDir()
	s, err := mail.NewSender(mail.Config{Dir: d}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"aaaaaaaaaa@x", "bbbbbbbbbb@x"} {
		m := message(t, "en")
		m.ID, m.Date = id, m.Date.In(time.FixedZone("", 3600))
		if err := s.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(d); err != nil || len(entries) != 2 {
		t.Errorf("%v (%v)", entries, err)
	}
}
