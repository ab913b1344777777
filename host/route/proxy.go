package route

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// identityPrefix begins the headers that tell an application who is signed in.
// None of them is ever passed on from outside.
const identityPrefix = "X-Vestibule-"

// A Visit is what the application learns about a request beside the request.
type Visit struct {
	// UserID, Email and Name are of who is signed in; UserID is empty for nobody.
	UserID, Email, Name string
	// Client is the browser's address, Scheme "http" or "https" as people see it,
	// and RequestID what joins the logs.
	Client, Scheme, RequestID string
}

// A Proxy hands requests on to an application: streamed, WebSocket upgrades
// included, with the identity of who is signed in. It is safe for concurrent use.
type Proxy struct{ reverse *httputil.ReverseProxy }

// NewProxy returns a proxy to the application at target. fail answers where the
// application does not.
func NewProxy(target *url.URL, fail func(http.ResponseWriter, *http.Request, error)) *Proxy {
	return &Proxy{&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(target)
			// The application's query is not ours to tidy up: no guard reads it.
			pr.Out.URL.RawQuery = pr.In.URL.RawQuery
			pr.Out.Host = pr.In.Host
			v := pr.In.Context().Value(visitKey{}).(visit)
			forward(pr, v.Visit)
			identify(pr.Out.Header, v.Visit)
			stripCookies(pr.Out)
		},
		ModifyResponse: yieldHeaders,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			fail(w, r, fmt.Errorf("upstream %s: %w", target.Redacted(), err))
		},
	}}
}

type visitKey struct{}

type visit struct {
	Visit
	ours http.Header
}

// ServeHTTP passes the request on as that of the visit. Headers that are set on w
// already are sent unless the application sets them itself.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request, v Visit) {
	ctx := context.WithValue(r.Context(), visitKey{}, visit{v, w.Header()})
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
}

// yieldHeaders takes back those headers of ours that the application sets
// itself: its own policy wins. The request id is ours alone, and so is a new
// cookie: no cache may keep an answer that carries one.
func yieldHeaders(resp *http.Response) error {
	resp.Header.Del("X-Request-Id")
	v, _ := resp.Request.Context().Value(visitKey{}).(visit)
	if v.ours.Get("Set-Cookie") != "" {
		resp.Header.Set("Cache-Control", "private, no-store")
	}
	for name := range resp.Header {
		if name != "Set-Cookie" {
			v.ours.Del(name)
		}
	}
	return nil
}

// forward tells the application where the request came from. What a client says
// about that itself is dropped.
func forward(pr *httputil.ProxyRequest, v Visit) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		pr.Out.Header.Del(name)
	}
	pr.Out.Header.Set("X-Forwarded-For", v.Client)
	pr.Out.Header.Set("X-Forwarded-Host", pr.In.Host)
	pr.Out.Header.Set("X-Forwarded-Proto", v.Scheme)
	pr.Out.Header.Set("X-Request-Id", v.RequestID)
}

// identify replaces the identity headers. Some applications read an underscore in
// a header's name as a dash, so those are taken away as well.
func identify(h http.Header, v Visit) {
	for name := range h {
		if strings.HasPrefix(http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")), identityPrefix) {
			delete(h, name)
		}
	}
	if v.UserID == "" {
		return
	}
	h.Set(identityPrefix+"User", headerText(v.UserID))
	h.Set(identityPrefix+"Email", headerText(v.Email))
	h.Set(identityPrefix+"Name", headerText(v.Name))
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
