package host_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Debian has no package of Traefik. A small stand-in of the test's own does what the
// recipe says as Traefik's documentation tells of routers by priority, of the
// middleware forwardAuth and of headers: it is no Traefik, and shows what the recipe
// asks for, not what Traefik makes of it.
type traefik struct {
	verify *url.URL
	copied []string // authResponseHeaders
	gone   []string // customRequestHeaders that are empty, on the way to the application
	always []string // those on every way
	app    http.Handler
	host   http.Handler
}

func startTraefik(t *testing.T, p places) {
	text := p.fill(t, recipe(t, "traefik.yml"))
	found := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("the recipe does not have %s", pattern)
		}
		return m[1]
	}
	to := func(address string) *url.URL {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	s := &traefik{
		verify: to(found(`address: (\S+)`)), copied: strings.Split(found(`authResponseHeaders: \[(.+)\]`), ", "),
		app: standInFor(to("http://" + p.app)), host: standInFor(to("http://" + p.host)),
	}
	empty := func(block string) (names []string) {
		for _, m := range regexp.MustCompile(`([\w.-]+): ""`).FindAllStringSubmatch(block, -1) {
			names = append(names, m[1])
		}
		return names
	}
	s.always = empty(found(`new-trace:\s+headers:\s+customRequestHeaders: \{([^}]+)\}`))
	s.gone = empty(found(`own-headers:\s+headers:\s+customRequestHeaders: \{([^}]+)\}`))
	found(`middlewares: \[new-trace, own-headers, (vestibule)\]`)
	found(`middlewares: \[(new-trace)\]`)
	l, err := tls.Listen("tcp", p.listen, &tls.Config{Certificates: []tls.Certificate{p.cert.pair}})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
}

// standInFor passes requests on with forwarding headers of its own.
func standInFor(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
}

func (s *traefik) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") {
			r.Header.Del(name) // trustForwardHeader is off
		}
	}
	for _, name := range s.always {
		r.Header.Del(name)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/auth/verify"):
		http.Error(w, "no available server", http.StatusServiceUnavailable)
	case strings.HasPrefix(r.URL.Path, "/app/"):
		if s.admits(w, r) {
			s.app.ServeHTTP(w, r)
		}
	default:
		s.host.ServeHTTP(w, r)
	}
}

// admits asks the host, and answers for it unless it says 2xx.
func (s *traefik) admits(w http.ResponseWriter, r *http.Request) bool {
	for _, name := range s.gone {
		delete(r.Header, http.CanonicalHeaderKey(name))
	}
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, s.verify.String(), nil)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return false
	}
	for name, values := range r.Header {
		if !slices.Contains([]string{"Connection", "Upgrade", "Te", "Trailer", "Transfer-Encoding", "Keep-Alive", "Proxy-Authorization"}, name) {
			ask.Header[name] = values
		}
	}
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	proto := "https"
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		proto = "wss"
	}
	for name, value := range map[string]string{"For": client, "Method": r.Method, "Proto": proto, "Host": r.Host, "Uri": r.URL.RequestURI()} {
		ask.Header.Set("X-Forwarded-"+name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(ask)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
		return false
	}
	for _, name := range s.copied {
		r.Header.Del(name)
		if values := resp.Header.Values(name); len(values) > 0 {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return true
}
