package cluster

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopWithMail stops a host whose mail server hangs, and returns the row that tells
// how long it takes until another host has sent the mail.
func (w *site) stopWithMail(t *testing.T) string {
	t.Helper()
	hangs, works := newPostOffice(t), newPostOffice(t)
	hangs.frozen = true
	for _, h := range w.hosts { // which would write the mail to a folder
		kill(h.dir)
		_ = h.cmd.Wait()
	}
	var two []*host
	for i, office := range []*postOffice{hangs, works} {
		h := w.newHost(t, fmt.Sprintf("%s-mail%d", w.driver, i+1))
		path := filepath.Join(h.dir, "config.hcl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(office.address)
		smtp := fmt.Sprintf("mail {\n  transport = \"smtp\"\n  smtp {\n    host = \"127.0.0.1\"\n    port = %s\n    tls = \"none\"\n  }\n", port)
		write(t, path, strings.Replace(string(text), "mail {\n", smtp, 1), "")
		h.serve(t)
		two = append(two, h)
	}
	c := newClient("127.0.0.202", "http://"+two[0].address, newLedger())
	for taken := false; !taken; { // until the host that hangs has taken a mail
		if _, _, err := c.send(t.Context(), request{method: "POST", path: "/auth/forgot-password", body: fmt.Sprintf(`{"email":%q}`, w.person()), want: 200}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-hangs.came:
			taken = true
		case <-works.came:
		case <-time.After(30 * time.Second):
			t.Fatal("nobody has sent the mail")
		}
	}
	began := time.Now()
	if err := two[0].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-works.came:
	case <-time.After(time.Minute):
	}
	took := time.Since(began)
	if took > 10*time.Second {
		t.Errorf("SHORT: the mail of a stopped host left after %v", took)
	}
	return fmt.Sprintf("| %s | a host stopped whose mail was under way | 1 | 0 | 0 | sent %.1f s later | – | – | – | 0 | 0 |", w.name, took.Seconds())
}

// A postOffice takes mails by SMTP.
type postOffice struct {
	address string
	frozen  bool // it takes connections and says nothing
	came    chan struct{}
}

func newPostOffice(t *testing.T) *postOffice {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &postOffice{address: l.Addr().String(), came: make(chan struct{}, 16)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *postOffice) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	lines := bufio.NewScanner(c)
	if p.frozen {
		p.came <- struct{}{}
		lines.Scan() // until the other side has had enough
		return
	}
	say := func(s string) { _, _ = fmt.Fprintf(c, "%s\r\n", s) }
	say("220 office")
	letter := false
	for lines.Scan() {
		switch line := strings.ToUpper(lines.Text()); {
		case letter && line == ".":
			letter = false
			say("250 taken")
			p.came <- struct{}{}
		case letter:
		case line == "DATA":
			letter = true
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			say("250 office")
		}
	}
}
