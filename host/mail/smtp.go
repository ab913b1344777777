package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

const (
	defaultSMTPPort    = 587 // RFC 6409
	defaultSMTPTimeout = 15 * time.Second
)

// smtpSender opens a connection for every mail: they are few, and servers close
// idle ones.
type smtpSender struct {
	cfg  SMTP
	opts []gomail.Option
}

func newSMTPSender(c SMTP) (Sender, error) {
	if c.Port == 0 {
		c.Port = defaultSMTPPort
	}
	if c.TLS == "" {
		c.TLS = "starttls"
	}
	if c.Timeout == 0 {
		c.Timeout = defaultSMTPTimeout
	}
	opts := []gomail.Option{
		gomail.WithPort(c.Port), gomail.WithTimeout(c.Timeout),
		gomail.WithTLSConfig(c.tls()), gomail.WithoutNoop(), gomail.WithoutRset(),
	}
	switch c.TLS {
	case "starttls":
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case "implicit":
		opts = append(opts, gomail.WithSSL())
	case "none":
		if c.Username != "" && !loopback(c.Host) {
			return nil, wrong("none would send the password over the network in clear", "use starttls or implicit", "smtp", "tls")
		}
		opts = append(opts, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, wrong(fmt.Sprintf("%q is none", c.TLS), "use starttls, implicit or none", "smtp", "tls")
	}
	if c.Username != "" {
		// PLAIN first: all servers have it, and the connection is encrypted.
		opts = append(opts, gomail.WithUsername(c.Username), gomail.WithPassword(c.Password), gomail.WithOpportunisticSMTPAuth(
			gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthCramMD5))
	} else if c.Password != "" {
		return nil, wrong("null, but there is a password", "set both or none", "smtp", "username")
	}
	if _, err := gomail.NewClient(c.Host, opts...); err != nil {
		return nil, wrong(err.Error(), "correct host and port", "smtp")
	}
	return &smtpSender{cfg: c, opts: opts}, nil
}

func (s SMTP) tls() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.Host, RootCAs: s.RootCAs}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send delivers the message. It returns when ctx ends, and when the server is
// silent for longer than the timeout.
func (s *smtpSender) Send(ctx context.Context, m Message) error {
	msg, err := m.compose(gomail.EncodingQP)
	if err != nil {
		return errors.Join(ErrRejected, err)
	}
	// The library does not close the connection when ctx ends after dialing or
	// when the greeting fails, so it is kept here to be closed.
	var conn net.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	dial := func(dialCtx context.Context, network, addr string) (net.Conn, error) {
		raw, err := (&net.Dialer{}).DialContext(dialCtx, network, addr)
		if err != nil {
			return nil, err
		}
		conn = raw
		context.AfterFunc(ctx, func() { _ = raw.Close() })
		if s.cfg.TLS != "implicit" {
			return raw, nil
		}
		secure := tls.Client(raw, s.cfg.tls())
		return secure, secure.HandshakeContext(dialCtx)
	}
	opts := append([]gomail.Option{gomail.WithDialContextFunc(dial)}, s.opts...)
	client, err := gomail.NewClient(s.cfg.Host, opts...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("%w: %s", err, remedy(err))
	}
	err = client.SendWithSMTPClient(session, msg)
	if msg.IsDelivered() {
		_ = client.CloseWithSMTPClient(session) // the server has accepted the mail; errors of QUIT do not matter
		return nil
	}
	return classify(err)
}

// classify marks the refusals that are about the recipient or the mail. Codes
// 5.7.x are policy, such as a sender that the server does not know: the operator
// can mend that, and then another attempt succeeds.
func classify(err error) error {
	var sent *gomail.SendError
	if !errors.As(err, &sent) {
		return err
	}
	policy := strings.HasPrefix(sent.EnhancedStatusCode(), "5.7.")
	switch sent.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		if sent.ErrorCode() >= 500 && !policy {
			return errors.Join(ErrRejected, err)
		}
	}
	return err
}

// remedy tells the operator what to look at when no mail can be handed over.
func remedy(err error) string {
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &cert):
		return "the server's certificate is not trusted: correct mail.smtp.host, or have the certificate replaced"
	case errors.As(err, &dns):
		return "correct mail.smtp.host"
	case errors.As(err, &op) && op.Op == "dial":
		return "correct mail.smtp.host and port, or start the server"
	case strings.Contains(err.Error(), "AUTH"):
		return "correct mail.smtp.username and password"
	case strings.Contains(err.Error(), "STARTTLS"), strings.Contains(err.Error(), "tls:"):
		return "set mail.smtp.tls to what the server offers on this port: starttls (587), implicit (465), none"
	}
	return "check the block mail.smtp"
}
