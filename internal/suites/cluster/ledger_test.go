package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A ledger is everything that hosts have acknowledged, and what clients met.
type ledger struct {
	mu       sync.Mutex
	sessions []string          // cookies of sign-ins
	tokens   []string          // machine tokens
	changed  map[string]string // by address, passwords after a reset
	wanted   map[string]bool   // addresses whose mail was promised
	under    atomic.Int64      // requests under way

	asked, failed, repeatable int
	slowest                   time.Duration
	slow                      string // the slowest request
	examples                  []string
	answered                  time.Time // the last success of all
	silence                   time.Duration
}

func newLedger() *ledger {
	return &ledger{changed: map[string]string{}, wanted: map[string]bool{}, answered: time.Now()}
}

// A client asks one balancer from an address of its own, with cookies of its own.
type client struct {
	http *http.Client
	base string
	book *ledger
}

func newClient(from, base string, book *ledger) *client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}
	return &client{
		base: base, book: book,
		http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: dialer.DialContext}},
	}
}

// A request of a client. What may be repeated reads, or leaves the same behind when it
// is done twice.
type request struct {
	method, path, body string
	cookie, bearer     string
	want               int
	repeatable         bool
}

// ask sends the request and notes what came of it.
func (c *client) ask(ctx context.Context, in request) (header http.Header, body string, ok bool) {
	began := time.Now()
	c.book.under.Add(1)
	defer c.book.under.Add(-1)
	header, body, err := c.send(ctx, in)
	c.book.note(began, in, err)
	return header, body, err == nil
}

func (c *client) send(ctx context.Context, in request) (http.Header, string, error) {
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), in.method, c.base+in.path, strings.NewReader(in.body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if in.cookie != "" {
		r.Header.Set("Cookie", in.cookie)
	}
	if in.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+in.bearer)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != in.want {
		err = fmt.Errorf("%d %.160s", resp.StatusCode, text)
	}
	return resp.Header, string(text), err
}

func (l *ledger) note(began time.Time, in request, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	now := time.Now()
	if took := now.Sub(began); took > l.slowest {
		l.slowest, l.slow = took, fmt.Sprintf("%s %s: %v", in.method, in.path, err)
	}
	if err == nil {
		l.silence = max(l.silence, now.Sub(l.answered))
		l.answered = now
		return
	}
	l.failed++
	if in.repeatable {
		l.repeatable++
	}
	if len(l.examples) < 2000 {
		l.examples = append(l.examples, fmt.Sprintf("%s %s after %v: %v", in.method, in.path, now.Sub(began).Round(time.Millisecond), err))
	}
}

// A mailbox is the folder that all hosts write mails to.
type mailbox struct {
	dir    string
	mu     sync.Mutex
	read   map[string]bool
	tokens map[string]string // by address
}

var mailed = regexp.MustCompile(`/password/reset/([^?\s]+)\?email=(\S+)`)

// token returns that of a mail to somebody, or "" while there is none.
func (m *mailbox) token(to string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, _ := filepath.Glob(filepath.Join(m.dir, "*-password_reset-*.eml"))
	for _, path := range found {
		if m.read[path] {
			continue
		}
		text, _ := os.ReadFile(path)
		if link := mailed.FindStringSubmatch(string(text)); link != nil {
			who, _ := url.QueryUnescape(link[2])
			m.tokens[who], m.read[path] = link[1], true
		}
	}
	return m.tokens[to]
}

// lost checks everything acknowledged against a host and returns what is not so, and how
// many mails were late.
func (l *ledger) lost(t *testing.T, w *site) (late int, lost []string) {
	t.Helper()
	c := newClient("127.0.0.200", "http://"+w.hosts[0].address, newLedger())
	check := func(what string, in request) {
		var err error
		for range 3 { // a fault that has just been healed is no loss
			if _, _, err = c.send(t.Context(), in); err == nil {
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
		lost = append(lost, fmt.Sprintf("%s: %v", what, err))
	}
	for _, cookie := range l.sessions {
		check("a session", current(cookie))
	}
	for _, token := range l.tokens {
		check("a token", request{method: "GET", path: "/odata/shelves", bearer: token, want: 200})
	}
	for who, now := range l.changed {
		check("a password of "+who, signIn(who, now))
	}
	for end := time.Now().Add(10 * time.Second); len(l.unsent(w)) > 0 && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
	}
	late = len(l.unsent(w))
	for end := time.Now().Add(leased); len(l.unsent(w)) > 0 && time.Now().Before(end); {
		time.Sleep(time.Second)
	}
	for _, who := range l.unsent(w) {
		lost = append(lost, "a mail to "+who)
	}
	return late, lost
}

// leased is how long a mail is held by a host that has lost its database, and a bit.
const leased = 135 * time.Second

// unsent returns who has not got the mail that was promised.
func (l *ledger) unsent(w *site) []string {
	var list []string
	for who := range l.wanted {
		if w.mails.token(who) == "" {
			list = append(list, who)
		}
	}
	return list
}

func current(cookie string) request {
	return request{method: "GET", path: "/auth/intents/current", cookie: cookie, want: 200, repeatable: true}
}

func signIn(who, with string) request {
	body, _ := json.Marshal(map[string]string{"login": who, "password": with})
	return request{method: "POST", path: "/auth/login", body: string(body), want: 200, repeatable: true}
}
