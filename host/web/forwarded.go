package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/web/internal/reading"
)

// forwarded returns the client's request as a trusted proxy tells of it, without its
// body. Where the proxy tells nothing, or two things, there is nothing to judge.
func (v *Verify) forwarded(r *http.Request) (*http.Request, error) {
	var told [4]string
	for i, name := range [...]string{"X-Forwarded-Method", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Uri"} {
		switch values := r.Header[name]; {
		case len(values) == 0 || len(values) == 1 && values[0] == "":
			v.warn("/auth/verify is asked without a header that the proxy must send; see docs/forward-auth.md", "header", name)
			return nil, malformed(name, "required", "the proxy does not tell "+name)
		case len(values) > 1:
			return nil, malformed(name, "ambiguous", "the proxy tells more than one "+name)
		default:
			told[i] = values[0]
		}
	}
	method, proto, host, uri := told[0], strings.ToLower(told[1]), told[2], told[3]
	if !httpguts.ValidHeaderFieldName(method) || method == http.MethodConnect {
		return nil, malformed("X-Forwarded-Method", "invalid", "no method that an application could answer")
	}
	if !slices.Contains([]string{"http", "https", "ws", "wss"}, proto) { // as some proxies call WebSockets
		return nil, malformed("X-Forwarded-Proto", "invalid", "neither http nor https")
	}
	scheme, name, _ := strings.Cut(v.Site.Base(r), "://")
	if withoutPort(proto, host) != withoutPort(scheme, name) {
		v.warn("/auth/verify is asked for another host than that of server.public_url", "host", host, "public_url", v.Site.Base(r))
		return nil, &fault.Fault{Code: fault.Misdirected, Cause: fmt.Errorf("the proxy asks for the host %q: sessions are of %q alone", host, name)}
	}
	address, err := url.ParseRequestURI(uri)
	if err != nil || !strings.HasPrefix(uri, "/") || strings.ContainsAny(uri, "# \t") || strings.ContainsRune(address.Path, 0) {
		return nil, malformed("X-Forwarded-Uri", "invalid", "no path with a query")
	}
	as := *r // with the same headers, which nobody changes
	as.Method, as.Host, as.URL, as.RequestURI, as.Body, as.ContentLength = method, host, address, uri, http.NoBody, 0
	return &as, nil
}

// mayOpenSocket reports whether what a proxy tells of a request leaves it possible that
// the request opens a WebSocket. Proxies drop what concerns one connection, and some
// drop Sec-WebSocket-Key as well, so that each sign counts by itself.
func mayOpenSocket(r *http.Request) bool {
	if proto := strings.ToLower(r.Header.Get("X-Forwarded-Proto")); proto == "ws" || proto == "wss" {
		return true
	}
	for name, values := range r.Header {
		if strings.HasPrefix(reserved.FoldHeader(name), "secwebsocket") {
			return true
		}
		if name == "Upgrade" && slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), "websocket") }) {
			return true
		}
	}
	return false
}

// judge returns a fault for a path that the proxy and the application might read in
// different ways. The host does not know which paths the proxy guards, or how: beyond
// what the host refuses of its own routes, all readings must begin with one segment,
// and none may have dot segments, which no browser sends.
func (v *Verify) judge(r *http.Request) error {
	sent := SentPath(r)
	readings, ok := reading.All(sent)
	if !ok {
		return ambiguousPath(reading.Ambiguity(sent), "it has endless readings")
	}
	folded, ok := reading.Folded(sent)
	if !ok {
		return ambiguousPath(reading.FoldAmbiguity(sent), "it has endless readings once folded")
	}
	for _, one := range slices.Concat(readings, folded) {
		if reading.WithoutDots(one) != one {
			return ambiguousPath("dot_segment", "a reading of it has dot segments")
		}
		if reading.FoldCase(firstSegment(one)) != reading.FoldCase(firstSegment(readings[0])) {
			what := reading.FoldAmbiguity(sent)
			if what == "letter_case" {
				what = "empty_segment"
			}
			return ambiguousPath(what, "its readings begin with different segments")
		}
	}
	_, _, err := v.Policy.judge(r)
	return err
}

// withoutPort returns a host in lower case and without the port that the protocol
// stands for.
func withoutPort(proto, host string) string {
	port := ":80"
	if proto == "https" || proto == "wss" {
		port = ":443"
	}
	return strings.TrimSuffix(strings.ToLower(host), port)
}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}
