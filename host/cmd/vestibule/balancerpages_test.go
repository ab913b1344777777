package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Each balancer does with the configuration of its page what the page says.
func TestBalancerPages(t *testing.T) {
	for _, name := range []string{"nginx", "caddy", "haproxy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &balanced{newBalancer(t, name), [2]*behind{newBehind(t), newBehind(t)}, nil}
			f.start(t, "200ms", f.hosts[0].address(), f.hosts[1].address())
			f.ask = f.client(true)
			t.Cleanup(f.ask.CloseIdleConnections)
			f.untilReached(t)
			t.Run("tells of the client", f.tellsOfTheClient)
			t.Run("hands on upgrades", f.handsOnUpgrades)
			t.Run("sends no write twice", f.sendsNoWriteTwice)
			if name != "nginx" { // which asks no host
				t.Run("asks who is ready", f.asksWhoIsReady)
			}
			t.Run("goes on where a host refuses connections", f.goesOnWithoutOneHost)
		})
	}
}

// The pages' times fit those of the host: a balancer has noticed that it drains long
// before it stops, and waits for an answer longer than the host may take.
func TestBalancerPagesFitTheHost(t *testing.T) {
	drain := defaultOf(t, "drain")
	for page, every := range map[string]string{
		"caddy.md": `health_interval (\S+)`, "haproxy.md": `check inter (\S+) fall 2`, "traefik.md": `(?m)^ +interval: (\S+)$`, "nginx.md": `interval=(\S+) fails=2`,
	} {
		if asks := durationIn(t, page, every); asks > 2*time.Second || 3*asks >= drain {
			t.Errorf("docs/operations/%s asks every %v, and a host drains for %v", page, asks, drain)
		}
	}
	longest := max(defaultOf(t, "timeout"), defaultOf(t, "wait")) // of odata.limits and database
	for page, silence := range map[string]string{
		"caddy.md": `response_header_timeout (\S+)`, "haproxy.md": `timeout server (\S+)`, "traefik.md": `responseHeaderTimeout: (\S+)`, "nginx.md": `proxy_read_timeout ([^;]+);`,
	} {
		if waits := durationIn(t, page, silence); waits <= longest {
			t.Errorf("docs/operations/%s waits %v for an answer, and a host may take %v", page, waits, longest)
		}
	}
}

// defaultOf returns the longest default of a duration with this key.
func defaultOf(t *testing.T, key string) time.Duration {
	t.Helper()
	var longest time.Duration
	for _, m := range regexp.MustCompile("(?m)^\\| `"+key+"` \\| duration[^|`]*`\"([^\"]+)\"`").FindAllStringSubmatch(document(t, "configuration.md"), -1) {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, d)
	}
	if longest == 0 {
		t.Fatalf("docs/configuration.md has no duration %s", key)
	}
	return longest
}

func durationIn(t *testing.T, page, pattern string) time.Duration {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(document(t, "operations/"+page))
	if m == nil {
		t.Fatalf("docs/operations/%s does not say %s", page, pattern)
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A balanced site is a balancer with two programs behind it, which stand for hosts.
type balanced struct {
	*balancer
	hosts [2]*behind
	ask   *http.Client
}

// A behind keeps what it was sent.
type behind struct {
	*httptest.Server
	notReady atomic.Bool
	mu       sync.Mutex
	got      []*http.Request
}

func newBehind(t *testing.T) *behind {
	t.Helper()
	b := &behind{}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

func (b *behind) address() string { return b.Listener.Addr().String() }

func (b *behind) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.URL.Path == "/readyz" {
		if b.notReady.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	b.mu.Lock()
	b.got = append(b.got, r.Clone(r.Context()))
	b.mu.Unlock()
	switch r.URL.Path {
	case "/lost": // the answer of what was done
		panic(http.ErrAbortHandler)
	case "/upgrade":
		b.upgrade(w)
	}
}

// upgrade says again what it hears, in one line.
func (b *behind) upgrade(w http.ResponseWriter) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n") // which HAProxy looks at
	line, _ := rw.ReadString('\n')
	_, _ = io.WriteString(conn, "again: "+line)
}

// taken returns the requests to a path since the last time.
func (f *balanced) taken(path string) (all [2][]*http.Request) {
	for i, b := range f.hosts {
		b.mu.Lock()
		for _, r := range b.got {
			if r.URL.Path == path {
				all[i] = append(all[i], r)
			}
		}
		b.got = nil
		b.mu.Unlock()
	}
	return all
}

func (f *balanced) do(method, path, body string, header ...string) (int, error) {
	r, err := http.NewRequest(method, "https://app.example.com"+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.ask.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, err
}

// untilReached waits until the balancer uses both hosts.
func (f *balanced) untilReached(t *testing.T) {
	t.Helper()
	var reached [2]bool
	for range 1200 {
		_, _ = f.do("GET", "/", "")
		for i, got := range f.taken("/") {
			reached[i] = reached[i] || len(got) > 0
		}
		if reached[0] && reached[1] {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the balancer does not use both hosts: %v", reached)
}

func (f *balanced) tellsOfTheClient(t *testing.T) {
	status, err := f.do("GET", "/told?a=%2F", "", "X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "gopher", "X-Forwarded-Host", "evil.example",
		"X-Request-Id", "forged", "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Tracestate", "forged=1")
	got := f.taken("/told")
	all := append(got[0], got[1]...)
	if err != nil || status != 200 || len(all) != 1 {
		t.Fatalf("%d, %v; hosts got %d requests, want one", status, err, len(all))
	}
	h := all[0].Header
	for name, want := range map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example.com", "Traceparent": "", "Tracestate": ""} {
		if values := strings.Join(h.Values(name), ", "); values != want {
			t.Errorf("%s is %q, want %q", name, values, want)
		}
	}
	if ids := h.Values("X-Request-Id"); len(ids) != 1 || len(ids[0]) < 16 {
		t.Errorf("X-Request-Id is %q, want one of the balancer's own", ids)
	}
	if all[0].Host != "app.example.com" || all[0].RequestURI != "/told?a=%2F" {
		t.Errorf("a host is asked for %s%s", all[0].Host, all[0].RequestURI)
	}
}

func (f *balanced) handsOnUpgrades(t *testing.T) {
	conn, err := tls.Dial("tcp", f.listen, &tls.Config{RootCAs: f.trusted, ServerName: "app.example.com", NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = fmt.Fprint(conn, "GET /upgrade HTTP/1.1\r\nHost: app.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	in := bufio.NewReader(conn)
	if status, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(status, "HTTP/1.1 101 ") {
		t.Fatalf("%q, %v", status, err)
	}
	_, _ = io.WriteString(conn, "ping\n")
	if rest, err := io.ReadAll(in); !bytes.HasSuffix(rest, []byte("\r\n\r\nagain: ping\n")) {
		t.Errorf("%q, %v", rest, err)
	}
}

func (f *balanced) sendsNoWriteTwice(t *testing.T) {
	for _, body := range []string{"", "an order"} {
		status, err := f.do("POST", "/lost", body)
		got := f.taken("/lost")
		if times := len(got[0]) + len(got[1]); times != 1 {
			t.Errorf("POST %q came %d times, want once", body, times)
		}
		if err == nil && status < 500 {
			t.Errorf("POST %q without an answer is told as %d", body, status)
		}
	}
}

func (f *balanced) asksWhoIsReady(t *testing.T) {
	f.untilReached(t) // after answers were lost
	f.hosts[0].notReady.Store(true)
	for quiet, n := 0, 0; quiet < 10; n++ {
		if n == 1200 {
			t.Fatal("a host that is not ready is used")
		}
		if status, err := f.do("GET", "/used", ""); err != nil || status != 200 {
			t.Fatalf("%d, %v", status, err)
		}
		if quiet++; len(f.taken("/used")[0]) > 0 {
			quiet = 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	f.hosts[0].notReady.Store(false)
	f.untilReached(t)
}

func (f *balanced) goesOnWithoutOneHost(t *testing.T) {
	// A write on a kept connection that ends just then is lost with it: none is kept.
	f.hosts[0].Config.SetKeepAlivesEnabled(false)
	for range 3 {
		f.untilReached(t)
	}
	f.hosts[0].Close()
	body := "x"
	if f.name == "caddy" {
		body = "" // caddyserver/caddy#7546
	}
	for n := range 20 {
		if status, err := f.do("POST", "/written", body); err != nil || status != 200 {
			t.Fatalf("request %d: %d, %v", n, status, err)
		}
	}
}
