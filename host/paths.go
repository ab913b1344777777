package host

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// paths finds the route of every way to read a path: an application may decode a
// path in another way than the host did when it chose the guard.
type paths struct {
	router *mux.Router
	rows   map[*mux.Route]row
}

// A verdict is what a path leads to. The zero value is nothing.
type verdict struct {
	// guard is that of a route of the configuration, or else the word for what
	// answers.
	guard string
	// name is that of a route to an application behind a proxy; empty for others.
	name string
}

// of returns what a decoded path leads to.
func (p *paths) of(path string) verdict {
	var match mux.RouteMatch
	r := http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}}
	if !p.router.Match(&r, &match) || match.Route == nil || match.MatchErr != nil {
		return verdict{}
	}
	row, ours := p.rows[match.Route]
	if !ours {
		return verdict{guard: fmt.Sprintf("a route of the program, %p", match.Route)}
	}
	v := verdict{guard: row.guard}
	if row.proxied {
		v.name = row.Name
	}
	return v
}

// check returns what the request's path leads to, and a fault when it could lead
// elsewhere: past the guard, or out of the route to an application. A path that
// differs by empty segments alone is not at fault; differs reports it.
func (p *paths) check(r *http.Request) (v verdict, differs bool, err error) {
	sent := web.SentPath(r)
	readings, ok := web.Readings(sent)
	v = p.of(r.URL.Path)
	if len(readings) == 1 {
		return v, false, nil
	}
	cause := "it has endless readings"
	for _, reading := range readings {
		if other := p.of(reading); other != v {
			differs, ok = true, false
			// Without the path, which may hold the token of a reset link.
			cause = fmt.Sprintf("it leads to %+v, or to %+v", v, other)
			break
		}
	}
	if ok {
		return v, false, nil
	}
	what := web.Ambiguity(sent)
	if what == "" && differs {
		return v, true, nil
	}
	return v, differs, web.AmbiguousPath(what, cause)
}

// unambiguous lets a request pass to next unless its path could lead elsewhere. On
// a router of the embedding program it is the only check.
func (p *paths) unambiguous(fail web.Fail, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, differs, err := p.check(r)
		if err == nil && differs {
			err = web.AmbiguousPath("empty_segment", "it leads elsewhere without its empty segments")
		}
		if err != nil {
			fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}
