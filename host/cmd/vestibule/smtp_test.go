package main

import (
	"io"
	"net"
	"testing"

	"github.com/emersion/go-smtp"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// NewSession takes mail from anybody.
func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return delivery{m}, nil }

type delivery struct{ box *mailbox }

func (delivery) Mail(string, *smtp.MailOptions) error { return nil }
func (delivery) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (delivery) Reset()                               {}
func (delivery) Logout() error                        { return nil }

func (d delivery) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	d.box.got <- string(text)
	return err
}
