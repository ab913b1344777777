package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// identityPrefix begins the headers that tell an application who is signed in.
// None of them is ever passed on from outside.
const identityPrefix = "X-Vestibule-"

// A Proxy hands requests on to an application: streamed, WebSocket upgrades
// included, with the identity of who is signed in. It is safe for concurrent use.
type Proxy struct {
	target *url.URL
	site   *Site
	fail   Fail
}

// NewProxy returns a proxy to the application at target. fail answers where the
// application does not.
func NewProxy(target *url.URL, site *Site, fail Fail) *Proxy { return &Proxy{target, site, fail} }

// Serve passes the request on as that of who has passed the guard. Headers that
// are set on w already are sent unless the application sets them itself.
func (p *Proxy) Serve(w http.ResponseWriter, r *http.Request, who auth.Principal) {
	var user auth.User
	if who.SignedIn() {
		var err error
		if user, err = who.User(r.Context()); errors.Is(err, auth.ErrNotFound) {
			err = &fault.Fault{Code: fault.Unauthenticated, Cause: err}
		}
		if err != nil {
			p.fail(w, r, err)
			return
		}
	}
	reverse := httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(p.target)
			// The application's query is not ours to tidy up: no guard reads it.
			pr.Out.URL.RawQuery = pr.In.URL.RawQuery
			pr.Out.Host = pr.In.Host
			p.forward(pr)
			identify(pr.Out.Header, user)
			stripCookies(pr.Out)
		},
		ModifyResponse: func(resp *http.Response) error {
			yieldHeaders(w.Header(), resp.Header)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			p.fail(w, r, &fault.Fault{Code: fault.UpstreamUnavailable, Cause: fmt.Errorf("upstream %s: %w", p.target.Redacted(), err)})
		},
	}
	reverse.ServeHTTP(w, r)
}

// yieldHeaders takes back those headers of ours that the application sets
// itself: its own policy wins. The request id is ours alone, and so is a new
// cookie: no cache may keep an answer that carries one.
func yieldHeaders(ours, theirs http.Header) {
	theirs.Del("X-Request-Id")
	if ours.Get("Set-Cookie") != "" {
		theirs.Set("Cache-Control", "private, no-store")
	}
	for name := range theirs {
		if name != "Set-Cookie" {
			ours.Del(name)
		}
	}
}

// forward tells the application where the request came from. What a client says
// about that itself is dropped.
func (p *Proxy) forward(pr *httputil.ProxyRequest) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		pr.Out.Header.Del(name)
	}
	client, _ := p.site.Client(pr.In)
	scheme, _, _ := strings.Cut(p.site.Base(pr.In), "://")
	pr.Out.Header.Set("X-Forwarded-For", client)
	pr.Out.Header.Set("X-Forwarded-Host", pr.In.Host)
	pr.Out.Header.Set("X-Forwarded-Proto", scheme)
	pr.Out.Header.Set("X-Request-Id", p.site.RequestID(pr.In))
}

// identify replaces the identity headers. Some applications read an underscore in
// a header's name as a dash, so those are taken away as well.
func identify(h http.Header, user auth.User) {
	for name := range h {
		if strings.HasPrefix(http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")), identityPrefix) {
			delete(h, name)
		}
	}
	if user.ID == "" {
		return
	}
	h.Set(identityPrefix+"User", headerText(user.ID))
	h.Set(identityPrefix+"Email", headerText(user.Email))
	h.Set(identityPrefix+"Name", headerText(user.Name))
}

// stripCookies takes our cookies away: an application has no use for them, and
// its log might keep them.
func stripCookies(r *http.Request) {
	cookies := r.Cookies()
	r.Header.Del("Cookie")
	for _, c := range cookies {
		if !strings.HasPrefix(strings.TrimPrefix(c.Name, "__Host-"), "vestibule_") {
			r.AddCookie(c)
		}
	}
}

// headerText is a value as a header can carry it: bytes beyond printable ASCII
// are percent-encoded (RFC 3986 2.1), and so is the percent sign itself.
func headerText(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
