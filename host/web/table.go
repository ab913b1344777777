package web

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/host/web/internal/reading"
)

// A Table tells a [Policy] about all routes.
type Table struct {
	// Find returns what a request would lead to with this decoded path.
	Find func(r *http.Request, path string) Destination
	// Walk yields each route in the order in which they are tried, with the template of
	// its path, where variables are in braces, and the regular expression that matches the
	// path, in which each variable is a group. It is called once, by the first request.
	Walk func(yield func(template, expression string, to Destination))
}

// A Destination is what a path leads to. The zero value is nothing.
type Destination struct {
	// Guard names the guard of a route, or else what answers.
	Guard string
	// Route is the name of a route to an application behind a proxy; empty for others.
	Route string
	// Own is set for what the host itself answers, which no application has.
	Own bool
}

// guarded reports whether an application, or the files of one, is behind a guard.
func (d Destination) guarded() bool { return d.Guard != "" && !d.Own }

// text describes the destination for the log.
func (d Destination) text() string {
	switch {
	case d.Guard == "":
		return "nothing"
	case d.Route == "":
		return d.Guard
	}
	return d.Guard + " (route " + d.Route + ")"
}

// SetTable sets the table of all routes.
func (p *Policy) SetTable(t Table) {
	p.routes.Store(&compiledTable{Table: t})
}

// A routeTable holds the table of all routes, once there is one.
type routeTable struct {
	atomic.Pointer[compiledTable]
}

// load returns the table, compiled, and nil where there is none.
func (t *routeTable) load() *compiledTable {
	compiled := t.Load()
	if compiled != nil {
		compiled.once.Do(compiled.compile) // an embedding program may add routes until now
	}
	return compiled
}

// A compiledTable is a table with what it takes to look folded paths up.
type compiledTable struct {
	Table
	once    sync.Once
	folding []folding
	// uniform is set if all routes have one guard: no spelling of a path gets past it. folded is set if every template
	// equals its folded form.
	uniform, folded bool
}

// compile folds the paths of all routes and sets uniform and folded.
func (t *compiledTable) compile() {
	guards := map[string]bool{}
	t.folded = true
	t.Walk(func(template, expression string, to Destination) {
		if to.guarded() {
			guards[to.Guard] = true
		}
		if template == "" { // matches by something else than the path
			return
		}
		one := newFolding(template, expression)
		t.folding = append(t.folding, one)
		t.folded = t.folded && one.folded == template
	})
	t.uniform = len(guards) < 2
}

// findFolded returns what a folded path leads to where the paths of the routes are folded
// as well.
func (t *compiledTable) findFolded(r *http.Request, folded string) Destination {
	for _, one := range t.folding {
		if path, ok := one.unfold(folded); ok {
			return t.Find(r, path)
		}
	}
	return t.Find(r, folded)
}

// A folding is the path of a route, to be found in paths that are folded.
type folding struct {
	template, folded string
	// lower is the template with only its letters folded, for paths whose segments keep
	// the dots and blanks at their end.
	lower string
	// exact is set where nothing may follow.
	exact bool
	// match finds the variables of a template that has some, and literals are what is
	// around them.
	match    *regexp.Regexp
	literals []string
}

func newFolding(template, expression string) folding {
	f := folding{template: template, folded: reading.Fold(template), lower: reading.FoldCase(template), exact: strings.HasSuffix(expression, "$")}
	if !strings.Contains(template, "{") {
		return f
	}
	match, err := regexp.Compile("(?i)" + expression)
	if err != nil {
		return f
	}
	f.match, f.literals = match, literals(template)
	return f
}

// literals returns what is around the variables of a template.
func literals(template string) []string {
	var all []string
	depth, from := 0, 0
	for i := range len(template) {
		switch template[i] {
		case '{':
			if depth++; depth == 1 {
				all = append(all, template[from:i])
			}
		case '}':
			if depth--; depth == 0 {
				from = i + 1
			}
		}
	}
	return append(all, template[from:])
}

// unfold returns a folded path as the route spells it, and false for a path that is not
// the route's.
func (f folding) unfold(folded string) (path string, ok bool) {
	if f.match == nil {
		for _, form := range []string{f.lower, f.folded} {
			if rest, ok := strings.CutPrefix(folded, form); ok && (rest == "" || !f.exact) {
				return f.template + rest, true
			}
		}
		return "", false
	}
	found := f.match.FindStringSubmatchIndex(folded)
	if len(found) != 2*len(f.literals) { // the whole, and the variables
		return "", false
	}
	var b strings.Builder
	for i, literal := range f.literals {
		b.WriteString(literal)
		if at := 2*i + 2; at < len(found) {
			b.WriteString(folded[found[at]:found[at+1]])
		}
	}
	b.WriteString(folded[found[1]:])
	return b.String(), true
}
