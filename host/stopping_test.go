package host_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// A mail that hangs on a host that stops leaves from another one, and soon: the
// lease that the first one held would last for two minutes.
func TestMailOfAStoppedHostLeavesElsewhere(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		hung := make(chan struct{})
		silent := silentServer(t, hung)
		stopping := newSite(t, open(), func(o *host.Options) {
			o.Mail = host.MailOptions{Transport: "smtp", From: "no-reply@example.com", SMTP: host.SMTPOptions{Host: "127.0.0.1", Port: silent, TLS: "none"}}
		})
		stopping.browser(t).post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "")
		<-hung
		other := newSite(t, open(), func(o *host.Options) { o.Now = stopping.clock.Now })
		stopped := time.Now()
		if err := stopping.host.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		for len(other.letters(t, 0)) == 0 {
			if time.Since(stopped) > time.Minute {
				t.Fatal("the mail did not leave within a minute")
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("the mail left after %v", time.Since(stopped).Round(time.Millisecond))
	})
}

// silentServer takes connections and says nothing. The first one closes hung.
func silentServer(t *testing.T, hung chan<- struct{}) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := l.Accept()
		if err == nil {
			close(hung)
			defer func() { _ = conn.Close() }()
		}
		<-t.Context().Done()
	}()
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
