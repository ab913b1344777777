package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// ProxyOptions say what an application behind a proxy route gets.
type ProxyOptions struct {
	// Target is the application's address, and Path that of the route.
	Target *url.URL
	Path   string
	// StripPrefix is the path that the application does not see; empty for none.
	StripPrefix string
	// Headers are request headers with what they hold: "id", "name", "email" or
	// another column of users. reserved.ProxyHeader refuses some names.
	Headers map[string]string
	// Policy takes out the headers of all routes. Without one only those of Headers are.
	Policy *Policy
	// Assertions sign who makes a request, for Audience, the name of the route; nil for
	// none. They hold the columns of Headers as well.
	Assertions *Assertions
	Audience   string
	// Sockets end WebSockets with the sessions and tokens that opened them.
	Sockets *Sockets
	// Limits bound the WebSockets of one client.
	Limits *Limits
}

// A Proxy hands requests on to an application: streamed, with the identity of who
// is signed in. Of upgrades only that to a WebSocket passes, and ends with the
// session. It is safe for concurrent use.
type Proxy struct {
	o         ProxyOptions
	site      *Site
	fail      Fail
	transport http.RoundTripper
	buffers   *buffers
	base      string // the encoded path of the target, without a final slash
	columns   bool   // reports whether the application learns more of the user than id, name and email
}

// NewProxy returns a proxy to an application. fail answers where the application
// does not.
func NewProxy(o ProxyOptions, site *Site, fail Fail) *Proxy {
	if o.Policy == nil {
		o.Policy = NewPolicy(slices.Collect(maps.Keys(o.Headers)))
	}
	// The environment's HTTP_PROXY is for addresses elsewhere, and would learn who is
	// signed in. Bodies are not unpacked on the way.
	transport := &http.Transport{
		DialContext:       (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 256, ReadBufferSize: 16 << 10,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}
	columns := false
	for _, column := range o.Headers {
		columns = columns || !reserved.Identity(column)
	}
	return &Proxy{o, site, fail, transport, &buffers{}, strings.TrimSuffix(o.Target.EscapedPath(), "/"), columns}
}

// Behind returns the proxy behind a guard.
func (p *Proxy) Behind(gate *Gate, guard Guard) http.Handler {
	guarded := gate.Guard(guard, p.Serve)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if request := auth.RequestOf(r.Context()); p.columns {
			request.WithUser()
		} else {
			request.WithIdentity() // the application learns who it is
		}
		guarded.ServeHTTP(w, r)
	})
}

// Serve passes the request on as that of who has passed the guard. Headers that
// are set on w already are sent unless the application sets them itself.
func (p *Proxy) Serve(w http.ResponseWriter, r *http.Request, who auth.Principal) {
	if r.Method == http.MethodConnect {
		p.fail(w, r, &fault.Fault{Code: fault.Malformed, Cause: errors.New("CONNECT: a tunnel would lead past the guards")})
		return
	}
	user, err := identityOf(r.Context(), who, p.columns)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	assertion := ""
	if p.o.Assertions != nil {
		if assertion, err = p.o.Assertions.about(r, p.o.Audience, who, user, claimColumns(p.o.Headers)); err != nil {
			p.fail(w, r, err)
			return
		}
	}
	if isWebSocket(r) {
		leave, err := enter(r.Context(), p.o.Limits.upgrades, auth.RequestOf(r.Context()).CountsAs(who.UserID))
		if err != nil {
			p.fail(w, r, err)
			return
		}
		defer leave()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
		if who.SignedIn() {
			defer p.o.Sockets.EndWith(who, cancel)()
		}
	}
	if r.ContentLength < 0 && r.ProtoMajor == 1 {
		// When an answer begins, net/http skips what is left of the body, so that the connection can be used again. An
		// application that is still reading would miss 256 KiB unawares, as the body has no length.
		w.Header().Set("Connection", "close")
	}
	passage := newPassage(w)
	reverse := httputil.ReverseProxy{
		Transport:  p.transport,
		BufferPool: p.buffers,
		Rewrite:    func(pr *httputil.ProxyRequest) { p.rewrite(pr, user, unfinished(who), assertion) },
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode == http.StatusSwitchingProtocols && !isWebSocket(r) {
				return errors.New("the application switches to another protocol unasked")
			}
			p.answer(r, resp)
			passage.begin(resp)
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			maps.Copy(w.Header(), passage.ours)
			p.fail(w, r, &fault.Fault{Code: fault.UpstreamUnavailable, Cause: fmt.Errorf("upstream %s: %w", p.o.Target.Redacted(), err)})
		},
	}
	reverse.ServeHTTP(passage, r)
}

// identityOf returns id, name and email of who is signed in, with the columns if they are needed, and the zero User for a guest.
func identityOf(ctx context.Context, who auth.Principal, columns bool) (user auth.User, err error) {
	switch {
	case !who.SignedIn():
		return auth.User{}, nil
	case columns:
		user, err = who.User(ctx)
	default:
		user, err = who.Identity(ctx)
	}
	if errors.Is(err, auth.ErrNotFound) {
		err = &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	return user, err
}

// rewrite makes the application's request of the client's. What is not named here
// passes as it came.
func (p *Proxy) rewrite(pr *httputil.ProxyRequest, user auth.User, step, assertion string) {
	if !isWebSocket(pr.In) {
		pr.Out.Header.Del("Connection")
		pr.Out.Header.Del("Upgrade")
	}
	pr.Out.Header.Del("Http2-Settings")
	pr.Out.Trailer = nil // could hold any header
	p.address(pr)
	p.forward(pr)
	p.identify(pr.Out.Header, user, step)
	if assertion != "" {
		pr.Out.Header.Set(AssertionHeader, assertion)
	}
	stripCookies(pr.Out.Header)
	auth.WithoutToken(pr.Out.Header)
}

// address sets where the request goes, with path and query as they were sent.
func (p *Proxy) address(pr *httputil.ProxyRequest) {
	path := SentPath(pr.In)
	if rest, ok := cutPrefix(path, p.o.StripPrefix); ok {
		path = rest
	}
	path = p.base + path
	*pr.Out.URL = url.URL{
		Scheme: p.o.Target.Scheme, Host: p.o.Target.Host,
		// An opaque address is sent as it stands, where Path would be encoded anew.
		Opaque: path, RawQuery: pr.In.URL.RawQuery, ForceQuery: pr.In.URL.ForceQuery,
	}
	if strings.HasPrefix(path, "//") { // which would be sent as an address with a host
		pr.Out.URL.Opaque, pr.Out.URL.RawPath = "", path
		pr.Out.URL.Path, _ = url.PathUnescape(path) // has been decoded before
	}
	_, pr.Out.Host = p.site.origin(pr.In)
}

// answer adapts the application's answer: it cannot set cookies of Vestibule, and
// a service worker of it stays on its route, and under strip_prefix the paths that it
// names get their prefix back.
func (p *Proxy) answer(r *http.Request, resp *http.Response) {
	h := resp.Header
	guardCookies(h)
	p.narrowWorkers(r, h)
	if p.o.StripPrefix != "" {
		p.restorePrefix(r, h)
	}
}
