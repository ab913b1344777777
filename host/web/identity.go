package web

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// StepHeader tells applications that the person is held ([auth.StateHeld]) or has a step
// of the front-end app open ([auth.StateOpen]), whom they would otherwise take for
// somebody who is done. The latter pass the guards session and none alone.
const StepHeader = "X-Vestibule-Step"

// unfinished is what the header says: nothing of guests and of those who are done.
func unfinished(who auth.Principal) string {
	if step := who.Step(); step != auth.StateSettled {
		return string(step)
	}
	return ""
}

// forward tells the application where the request came from, as the host knows
// it. The same headers of the client are dropped.
func (p *Proxy) forward(pr *httputil.ProxyRequest) {
	h := pr.Out.Header
	for name := range h {
		if reserved.ForwardingHeader(name) || tracingHeader(name) {
			delete(h, name)
		}
	}
	request := auth.RequestOf(pr.In.Context())
	scheme, host := p.site.origin(pr.In)
	// One array for all values, of which each header has its own part.
	v := [...]string{request.Client, host, scheme, request.ID, request.Trace.Parent, request.Trace.State}
	h["X-Forwarded-For"], h["X-Forwarded-Host"], h["X-Forwarded-Proto"] = v[0:1:1], v[1:2:2], v[2:3:3]
	h["X-Request-Id"], h["Traceparent"] = v[3:4:4], v[4:5:5]
	if request.Trace.State != "" {
		h["Tracestate"] = v[5:6:6]
	}
	if p.o.StripPrefix != "" {
		h.Set("X-Forwarded-Prefix", p.o.StripPrefix)
	}
}

// tracingHeader reports whether a header names a request or its trace, in any spelling.
func tracingHeader(name string) bool {
	var folded [64]byte
	switch string(reserved.AppendFolded(folded[:0], name)) {
	case "xrequestid", "traceparent", "tracestate":
		return true
	}
	return false
}

// identify replaces the headers that tell who is signed in. The policy takes out those
// from outside, also the ones that only other routes put in: one application may be
// behind several.
func (p *Proxy) identify(h http.Header, user auth.User, step string) {
	p.o.Policy.takeOut(h)
	if user.ID == "" {
		return
	}
	setUser(h, user)
	if step != "" {
		h.Set(StepHeader, step)
	}
	for name, column := range p.o.Headers {
		if value, ok := columnText(user, column); ok && !reserved.Credential(column) {
			h.Set(name, headerText(value))
		}
	}
}

// setUser sets the headers that every application gets about a user.
func setUser(h http.Header, user auth.User) {
	v := [...]string{headerText(user.ID), headerText(user.Email), headerText(user.Name)}
	h["X-Vestibule-User"], h["X-Vestibule-Email"], h["X-Vestibule-Name"] = v[0:1:1], v[1:2:2], v[2:3:3]
}

// columnText returns a column of the user as text; false when it is null or not
// there.
func columnText(user auth.User, column string) (string, bool) {
	switch column {
	case "id":
		return user.ID, true
	case "email":
		return user.Email, true
	case "name":
		return user.Name, true
	}
	switch v := user.Columns[column].(type) {
	case nil:
		return "", false
	case []byte:
		return string(v), true
	default:
		return fmt.Sprint(v), true
	}
}

// headerText is a value as a header can carry it: bytes beyond printable ASCII
// are percent-encoded (RFC 3986 2.1), and so is the percent sign itself.
func headerText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '%' }) {
		return s
	}
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
