package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/net/http/httpguts"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// Kind is what a route answers with; it decides on the security headers.
type Kind int

// The kinds of answers.
const (
	// Page is something that a browser shows.
	Page Kind = iota
	// Asset is a file that a page loads.
	Asset
	// Data is for programs; a browser that shows it all the same loads nothing.
	Data
)

// The Content-Security-Policy of answers that set none themselves. Where the
// scripts of a page come from is the application's business.
const (
	pagePolicy = "base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
	dataPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// A Route is what the middleware must know of a route.
type Route struct {
	// Name is for the counts.
	Name string
	// Method is the one that is answered, HEAD beside GET, or several with ", "
	// between them; all when empty. What changes something is refused when another
	// site makes a browser send it.
	Method string
	Kind   Kind
	// Uploads tells that the body of a request may take its time, as applications
	// behind a proxy have their own limits.
	Uploads bool
	// Uncounted requests do not count among those that a client has under way: what
	// an application behind a proxy answers, and what balancers ask for.
	Uncounted bool
	// NeedsUser reports whether the answer to a request needs the row of its user, which is
	// then read together with the session. nil is for a route that reads the row by itself.
	NeedsUser func(*http.Request) bool
}

// A Middleware is what every answer goes through: a request id, the security
// headers, the check of host and method, a line in the log and counts, and a
// fault instead of a panic. It is safe for concurrent use.
type Middleware struct {
	site    *Site
	origins crossOrigin
	fail    Fail
	log     hclog.Logger
	counts  *telemetry.Metrics
	limits  *Limits
	load    LoadSession
	proxies unbelieved
}

// LoadSession reads the session of a request, or that which a machine token makes of it.
// The request counts by its user.
type LoadSession func(*http.Request) (auth.Session, error)

// NewMiddleware returns a middleware. Nothing is loaded for requests without a cookie and
// without credentials.
func NewMiddleware(site *Site, fail Fail, log hclog.Logger, counts *telemetry.Metrics, limits *Limits, load LoadSession) *Middleware {
	return &Middleware{site: site, origins: newCrossOrigin(site), fail: fail, log: log, counts: counts, limits: limits, load: load, proxies: unbelieved{peers: map[netip.Addr]bool{}}}
}

// Wrap adds what every answer gets to a handler: request id, security headers
// by the kind of the route, limits, log line and metrics.
func (m *Middleware) Wrap(route Route, next http.Handler) http.Handler {
	m.counts.ExpectRoute(route.Name)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if auth.RequestOf(r.Context()).ID != "" {
			next.ServeHTTP(w, r) // wrapped already, by a guard around a mounted route
			return
		}
		start := time.Now()
		if m.proxies.isNew(r, m.site.o.TrustedProxies) {
			m.log.Warn("X-Forwarded-For is not believed, and everybody behind the sender counts as one client; where it is a proxy of yours, name it in server.trusted_proxies", "sender", r.RemoteAddr)
		}
		request := m.site.newRequest(r)
		r = r.WithContext(auth.WithRequest(r.Context(), request))
		if route.NeedsUser != nil && route.NeedsUser(r) {
			request.WithUser()
		}
		if !route.Uploads {
			paceBody(w, r, func(why error) { m.limits.Refused(request.CountsAs(""), bodyLimit, why) })
		}
		rec := &Recorder{ResponseWriter: w}
		m.setHeaders(rec.Header(), route.Kind, request.ID)
		defer func() {
			aborted := m.recovered(rec, r, route.Kind, recover())
			m.logRequest(route.Name, r, rec, time.Since(start))
			if aborted {
				panic(http.ErrAbortHandler) // net/http's own way to break a connection
			}
		}()
		if err := m.refuse(rec.Header(), route, r); err != nil {
			m.fail(rec, r, err)
			return
		}
		if !route.Uncounted {
			leave, err := m.admit(route.Kind, r)
			if err != nil {
				m.fail(rec, r, err)
				return
			}
			defer leave()
		}
		next.ServeHTTP(rec, r)
	})
}

// refuse returns why a request gets no further: it is for another host, has a method
// that is no token (RFC 9110 9.1), which HTTP/2 lets through, or a NUL in its path, which
// reaches files and upstreams as something else, was sent by another site, or has another
// method.
func (m *Middleware) refuse(header http.Header, route Route, r *http.Request) error {
	if !m.site.knownHost(r) {
		return &fault.Fault{Code: fault.Misdirected, Cause: fmt.Errorf("host %q: set server.public_url to serve other names", r.Host)}
	}
	if !httpguts.ValidHeaderFieldName(r.Method) { // a token, too
		return malformed("method", "invalid", "the method is no token")
	}
	if strings.ContainsRune(r.URL.Path, 0) {
		return &fault.Fault{Code: fault.Malformed, Cause: errors.New("NUL in the path")}
	}
	if route.Method != "" && route.Method != http.MethodGet {
		if err := m.origins.check(r); err != nil {
			return err
		}
	}
	return checkMethod(header, route.Method, r)
}

// checkMethod returns a fault for another method than those that are answered,
// and sets Allow.
func checkMethod(header http.Header, methods string, r *http.Request) error {
	if methods == "" {
		return nil
	}
	allowed := strings.Split(methods, ", ")
	if i := slices.Index(allowed, http.MethodGet); i >= 0 {
		allowed = slices.Insert(allowed, i+1, http.MethodHead)
	}
	if slices.Contains(allowed, r.Method) {
		return nil
	}
	header.Set("Allow", strings.Join(allowed, ", "))
	return &fault.Fault{Code: fault.MethodNotAllowed}
}

func (m *Middleware) setHeaders(header http.Header, kind Kind, id string) {
	// One array for all values, of which each header has its own part.
	v := [...]string{id, "nosniff", "strict-origin-when-cross-origin", kind.policy(), "max-age=31536000"}
	header["X-Request-Id"], header["X-Content-Type-Options"] = v[0:1:1], v[1:2:2]
	header["Referrer-Policy"], header["Content-Security-Policy"] = v[2:3:3], v[3:4:4]
	if m.site.Secure() {
		header["Strict-Transport-Security"] = v[4:5:5]
	}
}

// policy of an asset is that of a page, since a worker's script is held to its
// own policy and not to that of the page.
func (k Kind) policy() string {
	if k == Data {
		return dataPolicy
	}
	return pagePolicy
}

// recovered answers a handler's panic with an internal error, or reports that the
// connection must break because the answer has begun.
func (m *Middleware) recovered(rec *Recorder, r *http.Request, kind Kind, cause any) (abort bool) {
	if cause == nil {
		return false
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return true
	}
	m.log.Error("panic", "request_id", auth.RequestOf(r.Context()).ID, "path", auth.LogPath(r), "cause", cause, "stack", string(debug.Stack()))
	if rec.Begun() {
		return true
	}
	m.setHeaders(rec.Header(), kind, auth.RequestOf(r.Context()).ID) // the handler may have cleared them
	m.fail(rec, r, &fault.Fault{Code: fault.Internal, Cause: fmt.Errorf("panic: %v", cause)})
	return false
}

func (m *Middleware) logRequest(name string, r *http.Request, rec *Recorder, took time.Duration) {
	m.counts.Request(name, rec.Status(), took)
	if !m.log.IsInfo() {
		return
	}
	request := auth.RequestOf(r.Context())
	args := append(
		make([]any, 0, 24), "request_id", request.ID, "method", r.Method, "path", auth.LogPath(r),
		"status", rec.Status(), "bytes", rec.Bytes(), "ms", float64(took.Microseconds())/1000, "client", request.Client,
	)
	args = request.Principal().LogArgs(args)
	m.log.Info("request", append(args, "trace_id", request.Trace.ID, "span_id", request.Trace.Span)...)
}
