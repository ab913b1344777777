package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/web/internal/reading"
)

// A Policy is what the host makes of every request before an application sees it:
// which headers are taken out, and which paths are refused. It is computed once from
// all routes, and routes, forward auth, held steps and redirects ask the same one. It
// is safe for concurrent use.
type Policy struct {
	// headers are the names that the routes put in, by their folded form: two routes may
	// spell one in two ways.
	headers map[string][]string
	// names are those of all routes, in order.
	names  []string
	routes routeTable
}

// NewPolicy returns the policy for routes that put in these headers. It refuses no
// path before it has a table.
func NewPolicy(headers []string) *Policy {
	p := &Policy{headers: map[string][]string{}}
	for _, name := range headers {
		folded, name := reserved.FoldHeader(name), http.CanonicalHeaderKey(name)
		if !slices.Contains(p.headers[folded], name) {
			p.headers[folded], p.names = append(p.headers[folded], name), append(p.names, name)
		}
	}
	slices.Sort(p.names)
	return p
}

// Judge returns a fault for a path that an application may read as another one: past
// the guard, or out of its route. tidy reports that the path has a shorter form, to
// which a browser should be sent.
func (p *Policy) Judge(r *http.Request) (tidy bool, err error) {
	to, differs, err := p.judge(r)
	return differs || err == nil && to.Route == "" && r.URL.Path != reading.Clean(r.URL.Path), err
}

// judge is Judge; differs reports that empty segments alone make a difference.
func (p *Policy) judge(r *http.Request) (to Destination, differs bool, err error) {
	t, sent := p.routes.load(), SentPath(r)
	if t == nil || t.folded && reading.IsFolded(sent) || t.uniform && reading.Plain(sent) {
		return Destination{}, false, nil // one reading has one destination
	}
	to = t.Find(r, r.URL.Path)
	if !reading.Plain(sent) {
		if differs, err = t.judgeReadings(r, sent, to); differs || err != nil {
			return to, differs && err == nil, err
		}
	}
	if !to.guarded() || t.uniform {
		return to, false, nil
	}
	return to, false, t.judgeFolded(r, sent, to)
}

// judgeReadings compares what all readings of a path lead to.
func (t *compiledTable) judgeReadings(r *http.Request, sent string, to Destination) (differs bool, err error) {
	readings, ok := reading.All(sent)
	if len(readings) == 1 {
		return false, nil
	}
	cause := "it has endless readings"
	for _, one := range readings {
		if other := t.Find(r, one); other != to {
			differs, ok = true, false
			// Without the path, which may hold the token of a reset link.
			cause = "it leads to " + to.text() + ", or to " + other.text()
			break
		}
	}
	if ok {
		return false, nil
	}
	what := reading.Ambiguity(sent)
	if what == "" && differs {
		return true, nil
	}
	return differs, ambiguousPath(what, cause)
}

// judgeFolded returns a fault for a path that leads to another guard once it is folded.
func (t *compiledTable) judgeFolded(r *http.Request, sent string, to Destination) error {
	folded, ok := reading.Folded(sent)
	if !ok {
		return ambiguousPath(reading.FoldAmbiguity(sent), "it has endless readings once folded")
	}
	for _, one := range folded {
		if other := t.findFolded(r, one); other.guarded() && other.Guard != to.Guard {
			return ambiguousPath(reading.FoldAmbiguity(sent), "it leads to "+to.text()+", or folded to "+other.text())
		}
	}
	return nil
}

// ambiguousPath is the fault of a path that could lead elsewhere: 400, with what is
// ambiguous in it. The cause, for the log, must not repeat the path.
func ambiguousPath(what, cause string) error {
	return malformed("path", what, "ambiguous path: "+cause)
}

// Refuse lets a request pass to next unless its path could lead elsewhere. Where an
// embedding program has changed the path, as [http.StripPrefix] does, the one that was
// sent is judged as well: the program may have done so behind its router or before it.
func (p *Policy) Refuse(fail Fail, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, differs, err := p.judge(r)
		if sent, parse := url.ParseRequestURI(r.RequestURI); err == nil && !differs && parse == nil && sent.Path != r.URL.Path {
			as := *r
			as.URL = sent
			_, differs, err = p.judge(&as)
		}
		if err == nil && differs {
			err = ambiguousPath("empty_segment", "it leads elsewhere without its empty segments")
		}
		if err != nil {
			fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Redirects takes the page that a request to the sign-in wants to come back to out of its
// query where the policy refuses that page: nobody ends there after the sign-in.
func (p *Policy) Redirects(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next(w, r)
			return
		}
		query := r.URL.Query() // the name may be percent-encoded
		page, err := url.ParseRequestURI(query.Get("redirect"))
		if err != nil || page.Host != "" {
			next(w, r) // refused there
			return
		}
		as := *r
		as.Method, as.URL, as.RequestURI = http.MethodGet, page, query.Get("redirect")
		if _, _, err := p.judge(&as); err == nil {
			next(w, r)
			return
		}
		query.Del("redirect")
		without := *r
		address := *r.URL
		address.RawQuery = query.Encode()
		without.URL = &address
		next(w, &without)
	})
}

// opens reports whether the step that holds somebody lets them see what a request is
// for, whichever way its path is read. Paths compare by case; where they are folded, so
// are those that the step opens.
func opens(who auth.Principal, r *http.Request) bool {
	open := who.Session.Opened()
	if len(open) == 0 {
		return false
	}
	within := func(readings []string, few bool, form func(string) string) bool {
		return few && !slices.ContainsFunc(readings, func(path string) bool { return !target.Within(form(path), open) })
	}
	sent := SentPath(r)
	readings, few := reading.All(sent)
	if !within(readings, few, func(path string) string { return path }) {
		return false
	}
	for i := range open {
		open[i] = reading.Fold(open[i])
	}
	readings, few = reading.Folded(sent)
	return within(readings, few, reading.Fold) // what is open may end in a dot itself
}

// takeOut deletes the headers that tell an application who is signed in, of whichever
// route, in every spelling that an application might read as one of them.
func (p *Policy) takeOut(h http.Header) {
	var folded [64]byte
	for name := range h {
		if _, ours := p.headers[string(reserved.AppendFolded(folded[:0], name))]; ours || reserved.IdentityHeader(name) {
			delete(h, name)
		}
	}
}

// checkSpelling returns a fault for an identity header in another spelling than its
// own, which a proxy does not overwrite but an application may read.
func (p *Policy) checkSpelling(h http.Header) error {
	var folded [64]byte
	for name := range h {
		proper, ours := p.headers[string(reserved.AppendFolded(folded[:0], name))]
		if ours && !slices.Contains(proper, http.CanonicalHeaderKey(name)) || reserved.IdentityHeader(name) && !properIdentity(name) {
			return &fault.Fault{Code: fault.HeaderAlias, Cause: errors.New("an application may read the header " + name + " as an identity header: let the proxy take it out")}
		}
	}
	return nil
}

// properIdentity reports whether a header that begins with X-Vestibule- in any spelling
// is spelled as those of the host are.
func properIdentity(name string) bool {
	for _, one := range []string{"X-Vestibule-User", "X-Vestibule-Email", "X-Vestibule-Name", StepHeader, AssertionHeader} {
		if reserved.FoldHeader(one) == reserved.FoldHeader(name) {
			return strings.EqualFold(one, name)
		}
	}
	return strings.HasPrefix(strings.ToLower(name), "x-vestibule-") && !strings.ContainsAny(name, "_.!#$%&'*+^`|~")
}
