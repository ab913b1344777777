package mail

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

// Sender delivers one message. It is safe for concurrent use.
//
// An error that is [ErrRejected] is final; after any other the message may be
// sent again. An error may quote what a server answered, the link included, so
// the worker redacts errors before it logs them.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// ErrRejected marks an error that another attempt does not mend: the server of
// the recipient refused the address or the mail for good.
var ErrRejected = outbox.ErrRejected

// Config is the block mail of config.hcl.
type Config struct {
	// Transport is "file" (the default), "log" or "smtp".
	Transport string
	// Dir is where "file" puts its .eml files; it is created when missing.
	Dir string
	// From is the sender, such as "Vestibule <no-reply@example.com>".
	From string
	// Templates is a directory of templates, see [LoadTemplates]; may be empty.
	Templates string
	// Mails are the mails that plugins send, which have their templates there.
	Mails []string
	// SMTP is for "smtp".
	SMTP SMTP
}

// SMTP tells how to reach the server that takes our mail.
type SMTP struct {
	// Host and Port are the server's; the port is 587 when zero.
	Host string
	Port int
	// Username and Password are empty where the server asks for none.
	Username, Password string
	// TLS is "starttls" (the default, and then a must), "implicit" or "none".
	TLS string
	// RootCAs are trusted instead of the system's when not nil.
	RootCAs *x509.CertPool
	// Timeout bounds the connection and each of its steps; 15 s when zero.
	Timeout time.Duration
}

// String returns the address without the credentials.
func (s SMTP) String() string {
	return fmt.Sprintf("smtp://%s:%d (%s)", s.Host, s.Port, s.TLS)
}

// Check finds what is wrong with the configuration, the templates included,
// without sending, connecting or creating anything. The error names each setting
// and its remedy.
func (c Config) Check() error {
	_, tmplErr := LoadTemplates(c.Templates, c.Mails...)
	_, sendErr := NewSender(c, hclog.NewNullLogger())
	_, fromErr := c.sender()
	return errors.Join(fromErr, sendErr, tmplErr)
}

// wrong returns a finding about a setting of the block mail; path leads to it
// from there.
func wrong(what, remedy string, path ...string) error {
	return finding.Finding{Path: append([]string{"mail"}, path...), What: what, Remedy: remedy}
}

// sender returns the bare address of From, strictly checked.
func (c Config) sender() (string, error) {
	const remedy = `write it like "Vestibule <no-reply@example.com>"`
	_, bare, err := reserved.Sender(c.From)
	if err != nil {
		return "", wrong(fmt.Sprintf("%q is no sender", c.From), remedy, "from")
	}
	return bare, nil
}

// displayName returns the name in From, and "Vestibule" when it has none.
func (c Config) displayName() string {
	if a, err := netmail.ParseAddress(c.From); err == nil && oneLine(a.Name) != "" {
		return oneLine(a.Name)
	}
	return "Vestibule"
}

// NewSender returns the transport that the configuration names.
func NewSender(c Config, log hclog.Logger) (Sender, error) {
	switch c.Transport {
	case "", "file":
		return newFileSender(c.Dir)
	case "log":
		return logSender{log}, nil
	case "smtp":
		return newSMTPSender(c.SMTP)
	}
	return nil, wrong(fmt.Sprintf("%q is none", c.Transport), "use file, log or smtp", "transport")
}

// logSender logs recipient and subject in place of sending; the text may hold a
// secret link.
type logSender struct{ log hclog.Logger }

func (s logSender) Send(_ context.Context, m Message) error {
	if _, err := m.WriteTo(&bytes.Buffer{}); err != nil {
		return errors.Join(ErrRejected, err) // as every other transport would
	}
	s.log.Info("mail not sent, mail.transport is log", "to", m.To, "subject", m.Subject)
	return nil
}

// fileSender writes a file for every mail.
type fileSender struct{ dir string }

func newFileSender(dir string) (Sender, error) {
	if dir == "" {
		return nil, wrong("empty", "name the directory for the .eml files", "dir")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist): // made with the first mail
	case err != nil:
		return nil, wrong(err.Error(), "name another directory", "dir")
	case !info.IsDir():
		return nil, wrong(dir+" is no directory", "name another", "dir")
	}
	return fileSender{dir}, nil
}

// Send writes the file under a name that sorts by time. It appears complete or
// not at all, and only its owner can read it, since it holds a link.
func (s fileSender) Send(_ context.Context, m Message) error {
	var text bytes.Buffer
	if _, err := m.WriteTo(&text); err != nil {
		return errors.Join(ErrRejected, err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	id, _, _ := strings.Cut(m.ID, "@")
	name := fmt.Sprintf("%s-%s-%.8s.eml", m.Date.UTC().Format("20060102-150405.000"), m.Purpose, id)
	f, err := os.CreateTemp(s.dir, ".mail-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
