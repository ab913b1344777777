package mail_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

// sink is an SMTP server that keeps what it is given.
type sink struct {
	username, password string // asked for when not empty
	plain              bool   // takes mail without TLS
	refusals
	hangup bool // closes the connection right after it took a mail

	host string
	port int

	mu    sync.Mutex
	mails []received
}

// refusals are the answers to the commands of one mail; nil takes it.
type refusals struct{ mail, rcpt, data error }

type received struct {
	from, to, user string
	tls            bool
	data           []byte
}

func (s *sink) received() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.mails...)
}

// serve starts the sink; tlsMode is as in the configuration.
func (s *sink) serve(t *testing.T, tlsMode string, cert tls.Certificate) {
	t.Helper()
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{sink: s, conn: c}, nil
	}))
	srv.Domain, srv.EnableSMTPUTF8, srv.AllowInsecureAuth = "sink.example", true, s.plain
	srv.ErrorLog = quiet{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	s.host, s.port = "127.0.0.1", addr.Port
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	switch tlsMode {
	case "starttls":
		srv.TLSConfig = config
	case "implicit":
		l = tls.NewListener(l, config)
	}
	go func() { _ = srv.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close() })
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

type session struct {
	*sink
	conn *smtp.Conn
	mail received
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string {
	if s.username == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != s.username || password != s.password {
			return smtp.ErrAuthFailed
		}
		s.mail.user = username
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	_, s.mail.tls = s.conn.TLSConnectionState()
	if s.username != "" && s.mail.user == "" {
		return smtp.ErrAuthRequired
	}
	if !s.plain && !s.mail.tls {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Must issue STARTTLS first"}
	}
	s.mail.from = from
	return s.refusals.mail
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.to = to
	return s.rcpt
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.refusals.data != nil {
		return s.refusals.data
	}
	s.mail.data = data
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, s.mail)
	if s.hangup {
		time.AfterFunc(0, func() { _ = s.conn.Conn().(*net.TCPConn).CloseRead() })
	}
	return nil
}

// certificate makes one for 127.0.0.1 that only the returned pool trusts.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sink"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func smtpSender(t *testing.T, c mail.SMTP) mail.Sender {
	t.Helper()
	s, err := mail.NewSender(mail.Config{Transport: "smtp", SMTP: c}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSMTPDelivers(t *testing.T) {
	for _, tc := range []struct {
		tls, username string
	}{
		{"starttls", ""},
		{"starttls", "vestibule"},
		{"implicit", ""},
		{"implicit", "vestibule"},
		{"none", ""},
		{"none", "vestibule"}, // over loopback only
	} {
		t.Run(tc.tls+" "+tc.username, func(t *testing.T) {
			cert, pool := certificate(t)
			s := &sink{username: tc.username, password: "s3cret", plain: tc.tls == "none"}
			s.serve(t, tc.tls, cert)
			c := mail.SMTP{Host: s.host, Port: s.port, TLS: tc.tls, RootCAs: pool}
			if tc.username != "" {
				c.Username, c.Password = tc.username, "s3cret"
			}
			sender := smtpSender(t, c)
			for _, locale := range []string{"en", "de"} {
				if err := sender.Send(t.Context(), message(t, locale)); err != nil {
					t.Fatal(err)
				}
			}
			got := s.received()
			if len(got) != 2 {
				t.Fatalf("%d mails arrived", len(got))
			}
			for _, m := range got {
				if m.from != "no-reply@shop.example.com" || m.to != "ada@example.com" || m.tls != (tc.tls != "none") || m.user != tc.username {
					t.Errorf("envelope: %+v", m)
				}
				_, parts := read(t, bytes.NewReader(m.data))
				if !strings.Contains(parts["text/plain"], data().Link) || !strings.Contains(parts["text/html"], data().Link) {
					t.Errorf("no link in %v", parts)
				}
				for _, b := range m.data {
					if b >= 0x80 {
						t.Fatal("8-bit bytes went over the wire")
					}
				}
			}
		})
	}
}

func TestSMTPAddressesBeyondASCII(t *testing.T) {
	s := &sink{plain: true}
	s.serve(t, "none", tls.Certificate{})
	m := message(t, "de")
	m.To = "jörg@büro.example"
	if err := smtpSender(t, mail.SMTP{Host: s.host, Port: s.port, TLS: "none"}).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := s.received(); len(got) != 1 || got[0].to != "jörg@xn--bro-hoa.example" {
		t.Errorf("got %+v", got)
	}
}

// Mail that the server has taken is sent, whatever happens to the connection
// then: sending it again would be a second mail, whose link kills the first's.
func TestSMTPGoodbyeDoesNotMatter(t *testing.T) {
	s := &sink{plain: true, hangup: true}
	s.serve(t, "none", tls.Certificate{})
	if err := smtpSender(t, mail.SMTP{Host: s.host, Port: s.port, TLS: "none"}).Send(t.Context(), message(t, "en")); err != nil {
		t.Errorf("got %v", err)
	}
}

func reply(code, a, b, c int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{a, b, c}, Message: text}
}

func TestSMTPRefusals(t *testing.T) {
	for _, tc := range []struct {
		name  string
		says  refusals
		final bool
	}{
		{"unknown person", refusals{rcpt: reply(550, 5, 1, 1, "No such user")}, true},
		{"mail refused", refusals{data: reply(554, 5, 6, 0, "Spam")}, true},
		{"greylisted", refusals{rcpt: reply(451, 4, 7, 1, "Try again later")}, false},
		{"mailbox full", refusals{data: reply(452, 4, 2, 2, "Full")}, false},
		{"relay denied, which the operator can mend", refusals{rcpt: reply(554, 5, 7, 1, "Relay access denied")}, false},
		{"sender unknown, which the operator can mend", refusals{mail: reply(550, 5, 1, 8, "Sender rejected")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &sink{plain: true, refusals: tc.says}
			s.serve(t, "none", tls.Certificate{})
			err := smtpSender(t, mail.SMTP{Host: s.host, Port: s.port, TLS: "none"}).Send(t.Context(), message(t, "en"))
			if err == nil || errors.Is(err, mail.ErrRejected) != tc.final {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSMTPFaultsSayWhatToMend(t *testing.T) {
	cert, pool := certificate(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().(*net.TCPAddr).Port
	_ = closed.Close()
	for _, tc := range []struct {
		name, serves string
		change       func(c *mail.SMTP)
		want         string
	}{
		{"nobody listens", "", func(c *mail.SMTP) { c.Port = nobody }, "mail.smtp.host and port"},
		{"untrusted certificate", "starttls", func(c *mail.SMTP) { c.RootCAs = x509.NewCertPool() }, "certificate is not trusted"},
		{"untrusted certificate, implicit", "implicit", func(c *mail.SMTP) { c.TLS, c.RootCAs = "implicit", nil }, "certificate is not trusted"},
		{"no STARTTLS", "none", func(*mail.SMTP) {}, "set mail.smtp.tls"},
		{"implicit where there is none", "none", func(c *mail.SMTP) { c.TLS = "implicit" }, "set mail.smtp.tls"},
		{"wrong password", "starttls", func(c *mail.SMTP) { c.Username, c.Password = "vestibule", "wrong" }, "mail.smtp.username and password"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &sink{username: "vestibule", password: "s3cret", plain: tc.serves == "none"}
			if tc.serves != "" {
				s.serve(t, tc.serves, cert)
			}
			c := mail.SMTP{Host: "127.0.0.1", Port: s.port, TLS: "starttls", RootCAs: pool}
			tc.change(&c)
			err := smtpSender(t, c).Send(t.Context(), message(t, "en"))
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, mail.ErrRejected) {
				t.Errorf("no %q in %v", tc.want, err)
			}
			if err != nil && (strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("the password is in %v", err)
			}
			if len(s.received()) > 0 {
				t.Error("a mail went out")
			}
		})
	}
}

// A password is never offered to a server that could not prove who it is.
func TestSMTPPasswordStaysPrivate(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() { // a server without STARTTLS that would like to have the password
		conn, err := l.Accept()
		if err != nil {
			heard <- ""
			return
		}
		_, _ = io.WriteString(conn, "220 sink\r\n")
		var all bytes.Buffer
		buf := make([]byte, 1024)
		for {
			n, err := conn.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				heard <- all.String()
				return
			}
			_, _ = io.WriteString(conn, "250-sink\r\n250 AUTH PLAIN LOGIN\r\n")
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	sender := smtpSender(t, mail.SMTP{Host: "localhost", Port: l.Addr().(*net.TCPAddr).Port, Username: "vestibule", Password: "s3cret"})
	if err := sender.Send(t.Context(), message(t, "en")); err == nil {
		t.Error("sent without TLS")
	}
	if got := <-heard; !strings.Contains(got, "EHLO") || strings.Contains(got, "AUTH") {
		t.Errorf("the server heard %q", got)
	}
}

// A server that accepts and then says nothing must not hold a worker, nor its
// connection, after the attempt is over.
func TestSMTPSilentServer(t *testing.T) {
	for name, stop := range map[string]func() (mail.SMTP, context.Context){
		"timeout": func() (mail.SMTP, context.Context) {
			return mail.SMTP{Timeout: 50 * time.Millisecond}, t.Context()
		},
		"context": func() (mail.SMTP, context.Context) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			return mail.SMTP{Timeout: time.Hour}, ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			c, ctx := stop()
			c.Host, c.Port = "127.0.0.1", l.Addr().(*net.TCPAddr).Port
			gone := make(chan error, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = io.ReadAll(conn) // returns when the client has closed
				}
				gone <- err
			}()
			if err := smtpSender(t, c).Send(ctx, message(t, "en")); err == nil {
				t.Error("sent")
			}
			_ = l.Close() // the end may have been ahead of the connection
			<-gone
		})
	}
}

// From the outbox to a server whose refusals quote the mail.
func TestWorkerOverSMTP(t *testing.T) {
	cert, pool := certificate(t)
	s := &sink{username: "vestibule", password: "s3cret"}
	s.serve(t, "starttls", cert)
	c := mail.SMTP{Host: s.host, Port: s.port, Username: "vestibule", Password: "s3cret", RootCAs: pool}
	if err := worker(t, nil, mail.Config{From: shop, Transport: "smtp", SMTP: c}).Deliver(t.Context(), reset("ada")); err != nil {
		t.Fatal(err)
	}
	got := s.received()
	if len(got) != 1 {
		t.Fatalf("%d mails arrived", len(got))
	}
	if _, parts := read(t, bytes.NewReader(got[0].data)); !strings.Contains(parts["text/plain"], secret) {
		t.Error("the link did not arrive")
	}

	s = &sink{plain: true, refusals: refusals{data: reply(554, 5, 6, 0, "link https://shop.example.com/password/reset/"+secret+" is listed")}}
	s.serve(t, "none", cert)
	c = mail.SMTP{Host: s.host, Port: s.port, TLS: "none"}
	err := worker(t, nil, mail.Config{From: shop, Transport: "smtp", SMTP: c}).Deliver(t.Context(), reset("bob"))
	if !errors.Is(err, mail.ErrRejected) || !strings.Contains(err.Error(), "554") || strings.Contains(err.Error(), secret) {
		t.Errorf("refused with %v", err)
	}
}

func TestSMTPOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    mail.SMTP
		want string
	}{
		{"password in clear", mail.SMTP{Host: "mail.example.com", TLS: "none", Username: "a", Password: "b"}, "in clear"},
		{"unknown mode", mail.SMTP{Host: "mail.example.com", TLS: "ssl"}, `"ssl" is none: use starttls, implicit or none`},
		{"no host", mail.SMTP{}, "correct host"},
		{"port out of range", mail.SMTP{Host: "a.example", Port: 70000}, "port"},
		{"password without a name", mail.SMTP{Host: "a.example", Password: "b"}, "mail.smtp.username"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := mail.NewSender(mail.Config{Transport: "smtp", SMTP: tc.c}, hclog.NewNullLogger())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("no %q in %v", tc.want, err)
			}
		})
	}
	c := mail.SMTP{Host: "a.example", Port: 25, Username: "ada", Password: "s3cret"}
	if s := c.String(); strings.Contains(s, "s3cret") || !strings.Contains(s, "a.example:"+strconv.Itoa(c.Port)) {
		t.Errorf("printed as %s", s)
	}
}
