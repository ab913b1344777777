package web

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"golang.org/x/text/language"
)

// SiteOptions are what a site is known by.
type SiteOptions struct {
	// PublicURL is the origin that people see; nil is allowed on loopback addresses
	// only.
	PublicURL *url.URL
	// Address is host:port to listen on, and TLS is set when that speaks https.
	Address string
	TLS     bool
	// TrustedProxies are believed when they send X-Forwarded-For, X-Request-Id,
	// traceparent or tracestate.
	TrustedProxies []netip.Prefix
	// Routes are the paths of the configured routes by name. Named finds the
	// path of a route that an embedding program has registered; nil finds none.
	Routes map[string]string
	Named  func(name string) (path string, ok bool)
}

// A Site knows the addresses of the web site: its own, those of its routes, and
// that of the client. It is safe for concurrent use.
type Site struct {
	o SiteOptions
	// base is the origin of the public URL, and scheme and host are its parts; all are empty without one.
	base, scheme, host string
	listening          atomic.Pointer[string]
	languages          language.Matcher
}

var _ auth.Site = (*Site)(nil)

// NewSite returns a site.
func NewSite(o SiteOptions) *Site {
	if o.Named == nil {
		o.Named = func(string) (string, bool) { return "", false }
	}
	s := &Site{o: o, languages: language.NewMatcher(tags())}
	if o.PublicURL != nil {
		s.base = auth.Origin(o.PublicURL)
		s.scheme, s.host, _ = strings.Cut(s.base, "://")
	}
	return s
}

// Path returns the path of a route of the configuration, or of a route by that
// name which the embedding program registered.
func (s *Site) Path(name string) (string, bool) {
	if path, ok := s.o.Routes[name]; ok {
		return path, true
	}
	return s.o.Named(name)
}

// PageNames are the names of the application's pages that the sign-in leads to.
func PageNames() []string { return []string{"home", "dashboard", "terms", "privacy", "cookies"} }

// Routes returns all named routes.
func (s *Site) Routes() map[string]string {
	out := maps.Clone(s.o.Routes)
	if out == nil {
		out = map[string]string{}
	}
	for _, name := range PageNames() {
		if path, ok := s.Path(name); ok {
			out[name] = path
		}
	}
	return out
}

// Secure reports whether people reach the site over https.
func (s *Site) Secure() bool {
	if u := s.o.PublicURL; u != nil {
		return u.Scheme == "https"
	}
	return s.o.TLS
}

// Base returns the origin that links begin with. It never comes from a
// forwarding header, and from Host only on loopback, where Host has been
// checked.
func (s *Site) Base(r *http.Request) string {
	if s.base != "" {
		return s.base
	}
	scheme, host := s.origin(r)
	return scheme + "://" + host
}

// origin returns the two parts of [Site.Base].
func (s *Site) origin(r *http.Request) (scheme, host string) {
	switch {
	case s.base != "":
		return s.scheme, s.host
	case r.TLS != nil:
		return "https", strings.ToLower(r.Host)
	}
	return "http", strings.ToLower(r.Host)
}

// SetListening notes the address that is listened on, which differs from that of
// the options when their port is 0.
func (s *Site) SetListening(address string) { s.listening.Store(&address) }

// ListeningAddress returns the address that is listened on, empty before [Site.SetListening].
func (s *Site) ListeningAddress() string {
	if address := s.listening.Load(); address != nil {
		return *address
	}
	return ""
}

// LinkBase returns the origin of links outside requests, such as those in mails:
// without a public URL the address that is listened on, a loopback one then.
func (s *Site) LinkBase() string {
	if s.base != "" {
		return s.base
	}
	return s.Listening()
}

// Listening returns the origin of the address that is listened on.
func (s *Site) Listening() string {
	scheme := "http://"
	if s.o.TLS {
		scheme = "https://"
	}
	return scheme + cmp.Or(s.ListeningAddress(), s.o.Address)
}

// MailBase returns the origin of the links in a mail, and its host where that is another
// than the site's own: asked is the origin that the mail was asked for under, as it was
// stored, or empty. It counts without a public URL alone, and only where it is one of the
// loopback names at the port that is listened on.
func (s *Site) MailBase(asked string) (base, host string) {
	base = s.LinkBase()
	a, err := url.Parse(asked)
	own, ownErr := url.Parse(base)
	switch {
	case s.o.PublicURL != nil || asked == "" || err != nil || ownErr != nil:
	case asked != a.Scheme+"://"+a.Host || a.Scheme != own.Scheme || !loopbackName(a.Hostname()):
	case s.ListeningAddress() != "" && portOf(a) != portOf(own): // an embedding program listens where it likes
	default:
		return asked, a.Host
	}
	return base, ""
}

// portOf returns the port of an origin, which its scheme may stand for.
func portOf(u *url.URL) string {
	if u.Scheme == "https" {
		return cmp.Or(u.Port(), "443")
	}
	return cmp.Or(u.Port(), "80")
}

// loopbackName reports whether a site without a public URL goes by a name.
func loopbackName(name string) bool {
	return slices.Contains([]string{"localhost", "127.0.0.1", "[::1]", "::1"}, strings.ToLower(name))
}

// knownHost reports whether a request may be answered at all: without a public
// URL, only under the loopback names and the port that took it, so that a page
// elsewhere cannot reach the host through a name that it makes resolve here.
func (s *Site) knownHost(r *http.Request) bool {
	if s.o.PublicURL != nil {
		return true
	}
	name, port := r.Host, ""
	if h, p, err := net.SplitHostPort(r.Host); err == nil {
		name, port = h, p
	}
	if !loopbackName(name) {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	if tcp, ok := local.(*net.TCPAddr); ok && port == strconv.Itoa(tcp.Port) {
		return true
	}
	_, listening, err := net.SplitHostPort(local.String())
	return err == nil && (port == listening || port == "" && (listening == "80" || listening == "443"))
}

// Locale returns "en" or "de": the query's lang, then Accept-Language, then
// English.
func (s *Site) Locale(r *http.Request) string {
	var wanted []language.Tag
	if lang := r.URL.Query().Get("lang"); lang != "" {
		if tag, err := language.Parse(lang); err == nil {
			wanted = append(wanted, tag)
		}
	}
	lines := r.Header.Values("Accept-Language")
	accepted, _, err := language.ParseAcceptLanguage(strings.Join(lines, ","))
	if err == nil {
		wanted = append(wanted, accepted...)
	}
	_, i, sure := s.languages.Match(wanted...)
	locale := Languages()[i]
	if sure == language.No && header.RefusesLanguage(lines, locale) {
		for _, other := range Languages() {
			if !header.RefusesLanguage(lines, other) {
				return other
			}
		}
	}
	return locale
}

// Languages are those that people are spoken to in; the first stands in for others.
func Languages() []string { return []string{"en", "de"} }

func tags() []language.Tag {
	var list []language.Tag
	for _, name := range Languages() {
		list = append(list, language.Make(name))
	}
	return list
}

// CheckRoute returns an error when a route of the application has a name or a path
// under which the host itself answers.
func CheckRoute(name, path string) error {
	switch {
	case reserved.RouteName(name):
		return errors.New("the name is the host's own: choose another")
	case reserved.RoutePath(path):
		return fmt.Errorf("the host itself answers at %s: choose another path", path)
	}
	return nil
}
