package host

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// paths finds what paths lead to on a router, for the [web.Policy].
type paths struct {
	router *mux.Router
	rows   map[*mux.Route]row
	order  []*mux.Route // those of rows
}

func (p paths) table() web.Table { return web.Table{Find: p.find, Walk: p.walk} }

// A served row is a row with what answers it.
type served struct {
	path      string // up to its first variable
	below     bool
	variables *mux.Route // finds those of the path; nil for a path without variables
	http.Handler
}

// has reports whether the path of a request is that of the row, and sets the variables of the path.
func (s *served) has(r *http.Request) bool {
	if s.variables == nil || !strings.HasPrefix(r.URL.Path, s.path) {
		return s.variables == nil && (r.URL.Path == s.path || s.below && strings.HasPrefix(r.URL.Path, s.path))
	}
	var match mux.RouteMatch
	found := s.variables.Match(r, &match)
	for name, value := range match.Vars {
		r.SetPathValue(name, value)
	}
	return found
}

// handler answers by the first row that has the path of a request, as the router does, and without the router's two copies
// of each request.
func (p paths) handler(none http.Handler) http.HandlerFunc {
	var all []*served
	for _, route := range p.order {
		if route.GetError() != nil {
			continue // the router never finds it
		}
		row := p.rows[route]
		one := &served{path: row.path, below: row.find != at, Handler: route.GetHandler()}
		if literal, _, ok := strings.Cut(row.path, "{"); ok {
			one.path, one.variables = literal, route
		}
		all = append(all, one)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		for _, one := range all {
			if one.has(r) {
				one.ServeHTTP(w, r)
				return
			}
		}
		none.ServeHTTP(w, r)
	}
}

// find returns what a request would lead to with this decoded path.
func (p paths) find(r *http.Request, path string) web.Destination {
	var match mux.RouteMatch
	as, address := *r, *r.URL // a route of the program may look at all of it
	address.Path, address.RawPath = path, ""
	as.URL = &address
	if !p.router.Match(&as, &match) || match.Route == nil || match.MatchErr != nil {
		return web.Destination{}
	}
	return p.destination(match.Route)
}

func (p paths) destination(route *mux.Route) web.Destination {
	row, ours := p.rows[route]
	if !ours {
		if handler, ok := route.GetHandler().(guarded); ok {
			return web.Destination{Guard: handler.guard}
		}
		return web.Destination{Guard: fmt.Sprintf("a route of the program, %p", route)}
	}
	to := web.Destination{Guard: row.guard, Own: row.guard == guardOwn || row.guard == guardOData}
	if row.proxied {
		to.Route = row.Name
	}
	return to
}

// walk yields the routes of the router that have a handler.
func (p paths) walk(yield func(template, expression string, to web.Destination)) {
	_ = p.router.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		if route.GetHandler() == nil {
			return nil // what holds a router of its own
		}
		template, err := route.GetPathTemplate()
		expression, err2 := route.GetPathRegexp()
		if err != nil || err2 != nil {
			template = "" // no path
		}
		yield(template, expression, p.destination(route))
		return nil
	})
}

// A guarded handler is one of the embedding program behind a guard of the host.
type guarded struct {
	http.Handler
	guard string
}

// headerNames returns the names of the headers that the routes put in.
func headerNames(routes []Route) []string {
	var names []string
	for _, r := range routes {
		for name := range r.Headers {
			names = append(names, name)
		}
	}
	return names
}
