package host_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// tables are all that the store knows.
func tables() []string {
	return []string{
		"users", "password_reset_tokens", "vestibule_sessions", "vestibule_counters", "vestibule_remember_tokens",
		"vestibule_reset_claims", "vestibule_outbox", "vestibule_disabled_users", "vestibule_audit", "vestibule_tokens", "vestibule_invitations",
	}
}

// rows returns every row of a table, column by column, as text.
func rows(t *testing.T, db *store.DB, table string) []map[string]string {
	t.Helper()
	result, err := db.Reader().Queryx("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var list []map[string]string
	for result.Next() {
		row := map[string]any{}
		if err := result.MapScan(row); err != nil {
			t.Fatal(err)
		}
		text := map[string]string{}
		for name, v := range row {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			text[name] = fmt.Sprint(v)
		}
		list = append(list, text)
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// spellings are the forms in which a secret might be kept.
func spellings(secret string) []string {
	list := []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))}
	if raw, err := base64.RawURLEncoding.DecodeString(secret); err == nil && len(raw) >= 16 {
		list = append(list, string(raw), hex.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw))
	}
	return list
}

// What a thief of the database finds opens nothing: no password, no cookie, and
// no token stands in any table, in whatever spelling.
func TestNothingAtRestOpensAnything(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), selfService)
		b := s.browser(t)
		b.get("/dashboard").want(t, 302, "")
		secrets := map[string]string{"guest session": b.cookie(sessionName), "password": adaPassword}
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		secrets["session"], secrets["device token"] = b.cookie(sessionName), b.cookie(deviceName)
		device, err := base64.RawURLEncoding.DecodeString(secrets["device token"])
		if err != nil {
			t.Fatal(err)
		}
		// The selector is stored, since it finds the row; the verifier never is.
		secrets["verifier"] = base64.RawURLEncoding.EncodeToString(device[16:])
		b.forget(sessionName)
		b.get("/dashboard").want(t, 302, "")
		secrets["next session"], secrets["next device token"] = b.cookie(sessionName), b.cookie(deviceName)
		_, secrets["reset token"] = s.link(t, b, 1)
		_, token := s.token(t, adaEmail, host.TokenRequest{})
		own, _ := s.signedIn(t).post("/auth/tokens", map[string]string{"name": "own"}).json(t)["token"].(string)
		secrets["machine token"], secrets["digits of it"] = token, token[len("vst_"):47]
		secrets["own machine token"], secrets["digits of that"] = own, own[len("vst_"):47]
		b.login(adaEmail, "wrong-"+adaPassword, false).want(t, 422, "")
		for _, table := range tables() {
			for _, row := range rows(t, s.db, table) {
				for column, text := range row {
					for name, secret := range secrets {
						for _, spelling := range spellings(secret) {
							if spelling != "" && strings.Contains(text, spelling) {
								t.Errorf("%s.%s holds the %s", table, column, name)
							}
						}
					}
				}
			}
		}
		if n := len(rows(t, s.db, "password_reset_tokens")); n != 1 {
			t.Errorf("%d reset tokens, want the hash of one", n)
		}
	})
}

// A gossip takes mail only to repeat it in its refusal, as some servers do.
type gossip struct {
	mu     sync.Mutex
	heard  []string
	code   int
	refuse bool
}

func (g *gossip) NewSession(*smtp.Conn) (smtp.Session, error) { return gossipSession{g}, nil }

type gossipSession struct{ g *gossip }

func (gossipSession) Mail(string, *smtp.MailOptions) error { return nil }
func (gossipSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (gossipSession) Reset()                               {}
func (gossipSession) Logout() error                        { return nil }

func (s gossipSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	plain := strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(string(text))
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.g.heard = append(s.g.heard, plain)
	if !s.g.refuse {
		return nil
	}
	return &smtp.SMTPError{Code: s.g.code, EnhancedCode: smtp.EnhancedCode{s.g.code / 100, 7, 1}, Message: "will not take " + linkPattern.FindString(plain)}
}

func (g *gossip) last(t *testing.T) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		g.mu.Lock()
		n := len(g.heard)
		g.mu.Unlock()
		if n > 0 {
			break
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.heard) == 0 {
		t.Fatal("no mail came")
	}
	return g.heard[len(g.heard)-1]
}

// listenSMTP starts g as a mail server, and returns how to reach it.
func listenSMTP(t *testing.T, g *gossip) host.MailOptions {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(g)
	server.Domain = "localhost"
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return host.MailOptions{
		Transport: "smtp", From: "Vestibule <no-reply@example.com>",
		SMTP: host.SMTPOptions{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, TLS: "none"},
	}
}

// The outbox holds user and purpose only. Even when a mail server quotes the
// mail in its refusal, the token gets neither into the table nor into the log.
func TestOutboxHoldsNoToken(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		for name, code := range map[string]int{"to be repeated": 451, "given up": 554} {
			t.Run(name, func(t *testing.T) {
				g := &gossip{code: code, refuse: true}
				s := newSite(t, open(), func(o *host.Options) { o.Mail = listenSMTP(t, g) })
				if _, err := s.admin.ClearCounters(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				s.browser(t).post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "")
				link := linkPattern.FindString(g.last(t))
				token := strings.TrimPrefix(regexp.MustCompile(`/reset/[^?]+`).FindString(link), "/reset/")
				if len(token) < 40 {
					t.Fatalf("link %q", link)
				}
				var row map[string]string
				for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					if list := rows(t, s.db, "vestibule_outbox"); len(list) > 0 {
						row = list[len(list)-1]
					}
					if row["reason"] != "" {
						break
					}
				}
				if row["reason"] == "" || row["user_id"] != s.user.ID || row["purpose"] != "password_reset" {
					t.Fatalf("row %v", row)
				}
				var columns []string
				for column, text := range row {
					columns = append(columns, column)
					for _, spelling := range append(spellings(token), "/password/reset/", adaEmail) {
						if strings.Contains(text, spelling) {
							t.Errorf("column %s holds %q", column, spelling)
						}
					}
				}
				want := []string{"attempts", "base", "buried", "created", "device", "due", "held", "id", "listener", "locale", "purpose", "reason", "sealed", "user_id"}
				if diff := cmp.Diff(want, sorted(columns)); diff != "" {
					t.Errorf("columns: %s", diff)
				}
				if sealed := row["sealed"]; sealed != "" && sealed != "<nil>" {
					t.Errorf("a mail of the host has sealed texts: %q", sealed)
				}
				if strings.Contains(s.log.String(), token) {
					t.Error("the log holds the token")
				}
				if _, err := s.db.Writer().Exec("DELETE FROM vestibule_outbox"); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// No line of the log, not of the access log and not of any fault, holds a
// password, a cookie or a reset token, at whatever level.
func TestNoSecretInAnyLogLine(t *testing.T) {
	traced := &logs{}
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: traced, Level: hclog.Trace})
		o.Auth.ResetAttempts, o.Auth.ResetResend = 100, time.Millisecond
	})
	b := s.browser(t)
	b.get("/login?redirect=/dashboard").want(t, 200, "")
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	secrets := []string{adaPassword, newPassword, b.cookie(sessionName), b.cookie(deviceName)}
	path, token := s.link(t, b, 1)
	secrets = append(secrets, token)
	email := "?email=" + adaEmail
	for _, p := range []string{
		path, "/password/reset/" + token + "/" + email, "/PASSWORD/RESET/" + token, "/odata/password/reset/" + token, "/app/password/reset/" + token,
	} {
		b.get(p)
		b.do("POST", p, "", "")
	}
	b.post("/auth/reset-password", resetBody(token+"x", newPassword)).want(t, 422, "reset_failed")
	b.post("/auth/reset-password", resetBody(token, "short")).want(t, 422, "password_too_short")
	b.do("POST", "/auth/reset-password", "application/json", `{"token":"`+token+`","token":"`+token+`"}`).want(t, 400, "")
	b.do("POST", "/auth/login", "application/json", `{"login":"a","password":["`+adaPassword+`"]}`).want(t, 400, "")
	b.get("/auth/intents/current", "Cookie", deviceName+"="+b.cookie(deviceName)).want(t, 200, "")
	b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "")
	b.login(adaEmail, adaPassword, false).want(t, 422, "")
	b.login(adaEmail, newPassword, false).want(t, 200, "")
	secrets = append(secrets, b.cookie(sessionName))
	s.clock.Advance(time.Second)
	_, second := s.link(t, b, 3)
	secrets = append(secrets, second)
	// The database goes away: every fault has a cause now, and a line.
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	b.get("/password/reset/"+second+email).want(t, 500, "internal_error")
	b.login(adaEmail, newPassword, false).want(t, 500, "")
	b.post("/auth/reset-password", resetBody(second, newPassword)).want(t, 500, "")
	b.get("/dashboard").want(t, 500, "")
	log := traced.String()
	if !strings.Contains(log, "/password/reset/***") || strings.Count(log, "status=500") != 4 {
		t.Fatalf("the log lacks lines:\n%s", log)
	}
	for i, secret := range secrets {
		for _, spelling := range spellings(secret) {
			if strings.Contains(log, spelling) {
				t.Errorf("secret %d stands in the log", i)
			}
		}
	}
}

// Nobody who reads an answer learns what is inside: faults carry codes.
func TestFaultsTellNothing(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dashboard", "/login", "/auth/bootstrap", "/auth/intents/current", "/password/reset/x?email=" + adaEmail} {
		a := b.get(path)
		a.want(t, 500, "internal_error")
		for _, word := range []string{"sql", "closed", "database", "session"} {
			if bytes.Contains(bytes.ToLower([]byte(a.body)), []byte(word)) {
				t.Errorf("%s: %s", path, a.body)
			}
		}
	}
}
