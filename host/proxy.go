package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/host/auth"
	"github.com/vestibule-dev/vestibule/host/auth/fault"
)

// identityPrefix begins the headers that tell an upstream who is signed in. None
// of them is ever passed on from outside.
const identityPrefix = "X-Vestibule-"

// proxy hands requests on to an application: streamed, WebSocket upgrades
// included, with the identity of who is signed in.
func (h *Host) proxy(upstream *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(upstream)
			pr.Out.Host = pr.In.Host
			h.forwarded(pr)
			identify(pr)
		},
		ModifyResponse: yieldHeaders,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			h.pipeline.Fail(w, r, &fault.Fault{Code: fault.UpstreamUnavailable, Cause: fmt.Errorf("upstream %s: %w", upstream.Redacted(), err)})
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, err := h.visitor(w, r)
		if err != nil {
			h.pipeline.Fail(w, r, err)
			return
		}
		ctx := context.WithValue(r.Context(), headerKey{}, w.Header())
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(ctx, userKey{}, user)))
	})
}

// visitor returns who is signed in, the zero User for nobody.
func (h *Host) visitor(w http.ResponseWriter, r *http.Request) (auth.User, error) {
	s, guarded := identity(r.Context())
	if !guarded {
		var err error
		if s, err = h.pipeline.Identify(w, r); err != nil {
			return auth.User{}, err
		}
	}
	if !s.SignedIn() {
		return auth.User{}, nil
	}
	user, err := h.o.Store.Users().FindByID(r.Context(), s.UserID)
	if errors.Is(err, auth.ErrNotFound) {
		return user, &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	return user, err
}

// yieldHeaders takes back those headers of ours that the application sets
// itself: its own policy wins. The request id is ours alone.
func yieldHeaders(resp *http.Response) error {
	resp.Header.Del("X-Request-Id")
	ours, _ := resp.Request.Context().Value(headerKey{}).(http.Header)
	for name := range resp.Header {
		if name != "Set-Cookie" {
			ours.Del(name)
		}
	}
	return nil
}

type headerKey struct{}

// forwarded tells the upstream where the request came from. What a client says
// about that itself is dropped.
func (h *Host) forwarded(pr *httputil.ProxyRequest) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		pr.Out.Header.Del(name)
	}
	address, _ := h.site.Client(pr.In)
	pr.Out.Header.Set("X-Forwarded-For", address)
	pr.Out.Header.Set("X-Forwarded-Host", pr.In.Host)
	scheme, _, _ := strings.Cut(h.site.Base(pr.In), "://")
	pr.Out.Header.Set("X-Forwarded-Proto", scheme)
	pr.Out.Header.Set("X-Request-Id", requestID(pr.In.Context()))
}

// identify sets who is signed in and takes our cookies away: an application has
// no use for them, and its log might keep them.
func identify(pr *httputil.ProxyRequest) {
	for name := range pr.Out.Header {
		if strings.HasPrefix(http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")), identityPrefix) {
			pr.Out.Header.Del(name)
			delete(pr.Out.Header, name)
		}
	}
	stripCookies(pr.Out)
	user, _ := pr.In.Context().Value(userKey{}).(auth.User)
	if user.ID == "" {
		return
	}
	pr.Out.Header.Set(identityPrefix+"User", headerText(user.ID))
	pr.Out.Header.Set(identityPrefix+"Email", headerText(user.Email))
	pr.Out.Header.Set(identityPrefix+"Name", headerText(user.Name))
}

type userKey struct{}

func stripCookies(r *http.Request) {
	cookies := r.Cookies()
	r.Header.Del("Cookie")
	for _, c := range cookies {
		if !strings.HasPrefix(strings.TrimPrefix(c.Name, "__Host-"), "vestibule_") {
			r.AddCookie(c)
		}
	}
}

// headerText is a value as a header can carry it: characters beyond ASCII are
// percent-encoded (RFC 3986 2.1), and so is the percent sign itself.
func headerText(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > unicode.MaxASCII-1 || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
