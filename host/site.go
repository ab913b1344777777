package host

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/route"
	"golang.org/x/text/language"
)

// A site answers the pipeline's questions about the web site around it.
type site struct {
	o       Options
	routes  map[string]string
	router  *mux.Router // the embedding program's, which may name routes as well
	matcher language.Matcher
}

func newSite(o Options) *site {
	s := &site{o: o, routes: map[string]string{}, matcher: language.NewMatcher([]language.Tag{language.English, language.German})}
	for _, r := range o.Routes {
		s.routes[r.Name] = r.Path
	}
	return s
}

// Path returns the path of a route of the configuration, or of a route by that
// name which the embedding program registered.
func (s *site) Path(name string) (string, bool) {
	if path, ok := s.routes[name]; ok {
		return path, true
	}
	if s.router == nil {
		return "", false
	}
	route := s.router.Get(name)
	if route == nil {
		return "", false
	}
	u, err := route.URLPath()
	if err != nil {
		return "", false
	}
	return u.Path, true
}

// Routes returns all named routes.
func (s *site) Routes() map[string]string {
	out := make(map[string]string, len(s.routes))
	for name := range s.routes {
		out[name] = s.routes[name]
	}
	for _, name := range []string{"home", "dashboard", "terms", "privacy", "cookies"} {
		if path, ok := s.Path(name); ok {
			out[name] = path
		}
	}
	return out
}

// Base returns the origin that links begin with: never what a forwarding header
// says, and what Host says only on loopback, where it has been checked.
func (s *site) Base(r *http.Request) string {
	if u := s.o.Server.PublicURL; u != nil {
		return auth.Origin(u)
	}
	if r.TLS != nil {
		return "https://" + strings.ToLower(r.Host)
	}
	return "http://" + strings.ToLower(r.Host)
}

// knownHost reports whether a request may be answered at all: without a public
// URL, only under the loopback names and the port that took it, so that a page
// elsewhere cannot reach the host through a name that it makes resolve here.
func (s *site) knownHost(r *http.Request) bool {
	if s.o.Server.PublicURL != nil {
		return true
	}
	name, port := r.Host, ""
	if h, p, err := net.SplitHostPort(r.Host); err == nil {
		name, port = h, p
	}
	switch strings.ToLower(name) {
	case "localhost", "127.0.0.1", "[::1]", "::1":
	default:
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	_, listening, err := net.SplitHostPort(local.String())
	return err == nil && (port == listening || port == "" && (listening == "80" || listening == "443"))
}

type requestIDKey struct{}

// RequestID returns the id that the access log gave the request.
func (s *site) RequestID(r *http.Request) string { return requestID(r.Context()) }

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// Client returns the client's address and what of it is throttled as one.
func (s *site) Client(r *http.Request) (address, network string) {
	return route.ClientOf(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), s.o.Server.TrustedProxies)
}

// Locale returns "en" or "de": the query's lang, then Accept-Language, then
// English.
func (s *site) Locale(r *http.Request) string {
	var wanted []language.Tag
	if lang := r.URL.Query().Get("lang"); lang != "" {
		if tag, err := language.Parse(lang); err == nil {
			wanted = append(wanted, tag)
		}
	}
	accepted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err == nil {
		wanted = append(wanted, accepted...)
	}
	_, i, _ := s.matcher.Match(wanted...)
	return [...]string{"en", "de"}[i]
}
