package host_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"golang.org/x/net/http2"
	"golang.org/x/net/websocket"
)

// upstream starts an application and returns its address.
func upstream(t *testing.T, handler http.Handler) *url.URL {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// An upstream that answers with the head of what it was sent.
func mirror(t *testing.T) *url.URL {
	t.Helper()
	return upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s\nHost: %s\n", r.Method, r.RequestURI, r.Host)
		_ = r.Header.Write(w)
	}))
}

// withProxies starts a site with the guarded route /app and the open route /open to
// one application.
func withProxies(t *testing.T, app *url.URL, change func(*host.Options)) *testSite {
	t.Helper()
	return withProxiesOver(t, sqliteStore(t), app, change)
}

func withProxiesOver(t *testing.T, db *store.DB, app *url.URL, change func(*host.Options)) *testSite {
	t.Helper()
	return newSite(t, db, func(o *host.Options) {
		o.Routes = append(o.Routes,
			host.Route{Name: "app", Path: "/app", Proxy: app, Guard: host.GuardSettled},
			host.Route{Name: "open", Path: "/open", Proxy: app, Guard: host.GuardNone},
		)
		if change != nil {
			change(o)
		}
	})
}

// signedIn returns a browser that has signed in.
func (s *testSite) signedIn(t *testing.T) *browser {
	t.Helper()
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	return b
}

// raw sends a request as it stands and returns the head of the answer and the rest.
func (s *testSite) raw(t *testing.T, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	request = strings.ReplaceAll(strings.ReplaceAll(request, "$HOST", s.Listener.Addr().String()), "\n", "\r\n")
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, ""
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// An application that speaks HTTP/2 once it is asked to (RFC 7540 3.2).
func h2cApplication(t *testing.T) *url.URL {
	t.Helper()
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s [%s%s%s]", r.Proto, r.Header.Get("Upgrade"), r.Header.Get("Connection"), r.Header.Get("Http2-Settings"))
	})
	return upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Upgrade"), ",")), "h2c") {
			answer(w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
		new(http2.Server).ServeConn(conn, &http2.ServeConnOpts{Handler: answer}) //nolint:staticcheck // it serves a connection that was upgraded
	}))
}

func TestProxyUpgradesToWebSocketsOnly(t *testing.T) {
	app := h2cApplication(t)
	s := withProxies(t, app, nil)
	for _, upgrade := range []string{"h2c", "H2C", "websocket, h2c", "TLS/1.0", "websocket\nUpgrade: h2c", "h2c\nUpgrade: websocket"} {
		resp, body := s.raw(t, "GET /open/ HTTP/1.1\nHost: $HOST\nConnection: Upgrade, HTTP2-Settings, close\nUpgrade: "+upgrade+"\nHTTP2-Settings: AAMAAABkAAQAAP__\n\n")
		if resp.StatusCode != 200 || body != "HTTP/1.1 []" {
			t.Errorf("Upgrade %q: %s, %q", upgrade, resp.Status, body)
		}
	}
	resp, _ := s.raw(t, "POST /open/ HTTP/1.1\nHost: $HOST\nConnection: Upgrade, close\nUpgrade: websocket\nContent-Length: 0\n\n")
	if resp.StatusCode != 200 {
		t.Errorf("POST: %s", resp.Status)
	}
}

// An application that switches protocols without having been asked gets no tunnel.
func TestProxyRefusesUnaskedSwitch(t *testing.T) {
	app := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}))
	s := withProxies(t, app, nil)
	if resp, _ := s.raw(t, "GET /open/ HTTP/1.1\nHost: $HOST\nConnection: close\n\n"); resp.StatusCode != 502 {
		t.Errorf("status %s", resp.Status)
	}
}

// sockets is an application with a WebSocket that first sends the identity
// headers, and then echoes what it receives.
func sockets(t *testing.T) *url.URL {
	t.Helper()
	return upstream(t, websocket.Server{Handler: func(c *websocket.Conn) {
		_, _ = fmt.Fprintf(c, "hello %s", c.Request().Header.Get("X-Vestibule-Email"))
		_, _ = io.Copy(c, c)
	}})
}

// dial opens a WebSocket with the cookies of a browser.
func (b *browser) dial(path, origin string, header ...string) (*websocket.Conn, error) {
	cfg, err := websocket.NewConfig(strings.Replace(b.base, "http", "ws", 1)+path, origin)
	if err != nil {
		return nil, err
	}
	cfg.Header.Set("Cookie", sessionName+"="+b.cookie(sessionName))
	for i := 0; i+1 < len(header); i += 2 {
		cfg.Header.Set(header[i], header[i+1])
	}
	return websocket.DialConfig(cfg)
}

func received(t *testing.T, c *websocket.Conn) string {
	t.Helper()
	var text string
	if err := websocket.Message.Receive(c, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWebSocketOrigins(t *testing.T) {
	s := withProxies(t, sockets(t), nil)
	b := s.signedIn(t)
	for _, path := range []string{"/app/ws", "/open/ws"} {
		c, err := b.dial(path, s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := received(t, c); got != "hello "+adaEmail {
			t.Errorf("%s of this site: %q", path, got)
		}
		_ = c.Close()
	}
	const head = " HTTP/1.1\nHost: $HOST\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"
	for _, from := range []string{"Origin: https://evil.example\n", "Origin: null\n", "Sec-Fetch-Site: cross-site\n"} {
		resp, body := s.raw(t, "GET /app/ws"+head+from+"Cookie: "+sessionName+"="+b.cookie(sessionName)+"\n\n")
		if resp.StatusCode != 403 || !strings.Contains(body, `"cross_origin"`) {
			t.Errorf("%s behind a guard: %s %s", strings.TrimSpace(from), resp.Status, body)
		}
	}
	c, err := b.dial("/open/ws", "https://evil.example")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := received(t, c); got != "hello " {
		t.Errorf("of another site, open: %q", got)
	}
}

// A WebSocket ends within five seconds of its session, however that ends, and no
// other one does.
func TestWebSocketEndsWithItsSession(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		webSocketEnds(t, withProxiesOver(t, open(), sockets(t), nil))
	})
}

func webSocketEnds(t *testing.T, s *testSite) {
	t.Helper()
	for name, end := range map[string]func(t *testing.T, b *browser){
		"sign-out": func(t *testing.T, b *browser) { b.do("POST", "/logout", "", "").want(t, 303, "") },
		"revoke": func(t *testing.T, _ *browser) {
			if err := s.admin.RevokeUser(t.Context(), adaEmail); err != nil {
				t.Fatal(err)
			}
		},
		"disable": func(t *testing.T, _ *browser) {
			if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.admin.SetDisabled(context.Background(), adaEmail, false) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, guest := s.signedIn(t), s.browser(t)
			conns := map[string]*websocket.Conn{}
			for path, as := range map[string]*browser{"/app/ws": b, "/open/ws": b, "/open/guest": guest} {
				c, err := as.dial(path, s.URL)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				received(t, c)
				conns[path] = c
			}
			end(t, b)
			deadline := time.Now().Add(5 * time.Second)
			for _, path := range []string{"/app/ws", "/open/ws"} {
				_ = conns[path].SetReadDeadline(deadline)
				var text string
				err := websocket.Message.Receive(conns[path], &text)
				var timeout net.Error
				if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
					t.Errorf("%s is still open: %q, %v", path, text, err)
				}
			}
			if err := websocket.Message.Send(conns["/open/guest"], "still"); err != nil {
				t.Fatal(err)
			}
			if got := received(t, conns["/open/guest"]); got != "still" {
				t.Errorf("the guest's connection says %q", got)
			}
		})
	}
}

func TestProxyPassesCookiesAsTheyCame(t *testing.T) {
	s := withProxies(t, mirror(t), nil)
	b := s.signedIn(t)
	ours := sessionName + "=" + b.cookie(sessionName)
	for sent, want := range map[string]string{
		`prefs={"theme":"dark"}`:               `prefs={"theme":"dark"}`,
		`list=1,2`:                             `list=1,2`,
		`name=Zoë; x="a b"`:                    `name=Zoë; x="a b"`,
		ours + `; prefs={"a":1};  b=2`:         `prefs={"a":1};  b=2`,
		`a=1; ` + ours + `; c==d=;e`:           `a=1; c==d=;e`,
		`a=1;vestibule_remember=x`:             `a=1`,
		`__Host-vestibule_session=x; a=1`:      `a=1`,
		`__Host-vestibule_guest=x`:             ``,
		"\tvestibule_session =x; b=2":          `b=2`,
		`session=vestibule_session; notours=1`: `session=vestibule_session; notours=1`,
	} {
		_, body := s.raw(t, "GET /open/ HTTP/1.1\nHost: $HOST\nConnection: close\nCookie: "+sent+"\n\n")
		got, _, _ := strings.Cut(body[strings.Index(body, "Cookie: ")+1:], "\r\n")
		if got = strings.TrimPrefix(got, "ookie: "); !strings.Contains(body, "Cookie: ") {
			got = ""
		}
		if got != want {
			t.Errorf("Cookie: %s\n got %s\nwant %s", sent, got, want)
		}
	}
}

func TestUpstreamsCannotSetOurCookies(t *testing.T) {
	forged := []string{
		"vestibule_session=x", "__Host-vestibule_session=x; Path=/; Secure", "vestibule_remember=x", "__Host-vestibule_guest=x", "vestibule_guest=x",
		"Vestibule_Session=x", "__host-vestibule_session=x", "__Secure-vestibule_session=x", " vestibule_session =x", "=vestibule_session=x", "vestibule_session", "vestibule_screen=1",
	}
	app := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, line := range append(forged, "theme=dark; Path=/", `prefs={"a":1}`) {
			w.Header().Add("Set-Cookie", line)
		}
		if r.URL.Path == "/open/hints" {
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
		}
	}))
	s := withProxies(t, app, nil)
	for _, path := range []string{"/open/", "/open/hints"} {
		a := s.browser(t).get(path)
		if got := strings.Join(a.Header.Values("Set-Cookie"), "|"); got != `theme=dark; Path=/|prefs={"a":1}` {
			t.Errorf("%s: Set-Cookie %s", path, got)
		}
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: early hints took our headers: %v", path, a.Header)
		}
	}
	resp, _ := s.raw(t, "GET /open/hints HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
	if resp.StatusCode != 103 || resp.Header.Get("Link") == "" || resp.Header.Get("Set-Cookie") != "" {
		t.Errorf("early hints: %s %v", resp.Status, resp.Header)
	}
}

func TestProxyRebuildsForwardingHeaders(t *testing.T) {
	app := mirror(t)
	public := &url.URL{Scheme: "https", Host: "app.example.com"}
	forged := []string{
		"X-Forwarded-For", "6.6.6.6", "X-Forwarded-Host", "evil.example", "X_Forwarded_Host", "evil.example", "X-Forwarded-Proto", "gopher", "X.Forwarded.Proto", "gopher",
		"Forwarded", "for=6.6.6.6", "X-Real-IP", "6.6.6.6", "X-Forwarded-Prefix", "/evil", "X-Forwarded-Port", "1", "X-Original-URL", "/evil", "X_Request_Id", "evil",
	}
	for name, test := range map[string]struct {
		public     *url.URL
		host, want string
	}{
		"public URL":         {public, "evil.example", "Host: app.example.com X-Forwarded-For: 127.0.0.1 X-Forwarded-Host: app.example.com X-Forwarded-Proto: https"},
		"without public URL": {nil, "localhost:$PORT", "Host: localhost:$PORT X-Forwarded-For: 127.0.0.1 X-Forwarded-Host: localhost:$PORT X-Forwarded-Proto: http"},
	} {
		t.Run(name, func(t *testing.T) {
			s := withProxies(t, app, func(o *host.Options) { o.Server.PublicURL = test.public })
			_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
			a := s.browser(t).get("/open/", append(forged, "Host", strings.ReplaceAll(test.host, "$PORT", port))...)
			var found []string
			for line := range strings.Lines(a.body) {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "Host: ") || strings.HasPrefix(line, "X-Forwarded-") {
					found = append(found, line)
				}
			}
			if got, want := strings.Join(found, " "), strings.ReplaceAll(test.want, "$PORT", port); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			for _, word := range []string{"evil", "6.6.6.6", "gopher"} {
				if strings.Contains(a.body, word) {
					t.Errorf("%s reaches the application:\n%s", word, a.body)
				}
			}
		})
	}
}

func TestProxyIdentityHeaders(t *testing.T) {
	s := withProxies(t, mirror(t), func(o *host.Options) {
		o.Routes[2].Headers = map[string]string{"Remote-User": "email", "X-Who": "id", "X-Since": "created_at", "X-Checked": "email_verified_at", "X-Secret": "password"}
		o.Routes[3].Headers = o.Routes[2].Headers
	})
	if _, err := s.db.Writer().Exec(s.db.Writer().Rebind("UPDATE users SET name = ? WHERE email = ?"), "Zoë 100%\n", adaEmail); err != nil {
		t.Fatal(err)
	}
	forged := []string{
		"X-Vestibule-User", "evil", "X_Vestibule_User", "evil", "X.Vestibule.Email", "evil", "x-VESTIBULE_name", "evil", "X-Vestibule-Anything", "evil",
		"Remote-User", "evil", "Remote_User", "evil", "REMOTE.USER", "evil", "X_Who", "evil", "X-Secret", "evil", "X.Checked", "evil",
	}
	guest := s.browser(t).get("/open/", forged...)
	if strings.Contains(guest.body, "evil") || strings.Contains(guest.body, "Vestibule-User") || strings.Contains(guest.body, "Remote-User") {
		t.Errorf("a guest:\n%s", guest.body)
	}
	body := s.signedIn(t).get("/app/", forged...).body
	for _, want := range []string{"X-Vestibule-User: " + s.user.ID, "X-Vestibule-Email: " + adaEmail, "X-Vestibule-Name: Zo%C3%AB 100%25%0A", "Remote-User: " + adaEmail, "X-Who: " + s.user.ID, "X-Since: "} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	for _, not := range []string{"evil", "X-Secret", "X-Checked", "$argon2"} {
		if strings.Contains(body, not) {
			t.Errorf("%q in\n%s", not, body)
		}
	}
}

func TestIdentityOnSameOriginRequestsOnly(t *testing.T) {
	s := withProxies(t, mirror(t), nil)
	b := s.signedIn(t)
	for _, test := range []struct {
		name, method string
		headers      []string
		identity     bool
	}{
		{"own form", "POST", []string{"Origin", s.URL, "Sec-Fetch-Site", "same-origin"}, true},
		{"no browser", "POST", nil, true},
		{"a link elsewhere", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, true},
		{"form elsewhere", "POST", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, false},
		{"by origin alone", "POST", []string{"Origin", "https://evil.example"}, false},
		{"null", "PUT", []string{"Origin", "null"}, false},
		{"by the browser's word", "DELETE", []string{"Sec-Fetch-Site", "same-site"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := b.do(test.method, "/open/x", "", "", test.headers...)
			if got := strings.Contains(a.body, "X-Vestibule-"); a.StatusCode != 200 || got != test.identity {
				t.Errorf("%s, identity %v:\n%s", a.Status, got, a.body)
			}
		})
	}
}

// What no guard and no header rule concerns arrives byte for byte.
func TestProxyPassesPathAndQueryAsTheyCame(t *testing.T) {
	s := withProxies(t, mirror(t), nil)
	for _, target := range []string{
		"/open", "/open/", "/open/a%2Fb", "/open/@scope%2fname", "/open/a|b^c", `/open/a"b`, "/open/%7Euser/~user", "/open/http%3A%2F%2Fexample.com%2Fx", "/open/http://example.com/x", "/open/a;v=1/b", "/open/a%5Cb", "/open/a/%2e/b", "/open/x?", "/open/x?a=1;b=%zz&c=|",
		"/open/100%25", "/open/%F0%9F%98%80",
	} {
		_, body := s.raw(t, "GET "+target+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if line, _, _ := strings.Cut(body, "\n"); line != "GET "+target {
			t.Errorf("%s arrives as %q", target, line)
		}
	}
}

// An application is told of the trace that the request belongs to, with a span of the
// host's own: what a stranger tells of one does not reach it, in no spelling.
func TestProxyPassesTheTraceOn(t *testing.T) {
	const id, sent = "4bf92f3577b34da6a3ce929d0e0e4736", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, trusted := range map[string]bool{"a trusted proxy": true, "a stranger": false} {
		t.Run(name, func(t *testing.T) {
			s := withProxies(t, mirror(t), func(o *host.Options) {
				if trusted {
					o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
				}
			})
			a := s.browser(t).get("/open", "Traceparent", sent, "Trace-Parent", sent, "Tracestate", "a=1", "X-Request-Id", "told")
			if strings.Contains(a.body, sent) || strings.Count(a.body, "race") != map[bool]int{true: 2, false: 1}[trusted] {
				t.Errorf("the application was told:\n%s", a.body)
			}
			for text, want := range map[string]bool{"Traceparent: 00-": true, "Traceparent: 00-" + id: trusted, "Tracestate: a=1": trusted, "X-Request-Id: told": trusted} {
				if strings.Contains(a.body, text) != want {
					t.Errorf("%q: want %t in\n%s", text, want, a.body)
				}
			}
		})
	}
}
