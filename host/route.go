package host

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/route"
)

// An endpoint is a row of the table of our own routes.
type endpoint struct {
	name, path, method string
	kind               answerKind
	handler            http.Handler
}

// endpoints is the one table of the routes that the host itself answers.
func (h *Host) endpoints() []endpoint {
	p := h.pipeline
	return []endpoint{
		{"login", "/login", "GET", page, http.HandlerFunc(h.loginPage)},
		{"login.submit", "/auth/login", "POST", data, p.Login()},
		{"password.email", "/auth/forgot-password", "POST", data, h.thenMail(p.Forgot())},
		{"password.reset", "/password/reset/{token}", "GET", data, p.ShowReset()},
		{"password.update", "/auth/reset-password", "POST", data, h.thenMail(p.Reset())},
		{"logout", "/logout", "POST", page, p.Logout()},
		{"auth.intents.current", "/auth/intents/current", "GET", data, p.CurrentIntent()},
		{"auth.intents", "/auth/intents/{kind}", "POST", data, p.Intent()},
		{"auth.bootstrap", "/auth/bootstrap", "GET", data, http.HandlerFunc(h.bootstrapJSON)},
		{"ui.modules", "/ui/modules.json", "GET", data, http.HandlerFunc(h.modules)},
		{"healthz", "/healthz", "GET", data, http.HandlerFunc(h.healthz)},
		{"readyz", "/readyz", "GET", data, http.HandlerFunc(h.readyz)},
	}
}

// register puts every route on r: ours, the front end's, OData, the
// application's from the longest path to the shortest, and its public files.
func (h *Host) register(r *mux.Router) error {
	for _, e := range h.endpoints() {
		handler := h.pathValues(h.only(e.method, e.handler))
		if e.method == http.MethodPost {
			handler = h.sameOrigin(handler)
		}
		r.Path(e.path).Name(e.name).Handler(h.wrap(e.name, e.kind, handler))
	}
	r.PathPrefix(frontend.Prefix).Handler(h.wrap("ui", page, h.only("GET", http.HandlerFunc(h.appFile))))
	if h.odata != nil {
		r.PathPrefix("/odata/").Handler(h.wrap("odata", data, h.odataHandler()))
		r.Path("/odata").Handler(h.wrap("odata", data, http.HandlerFunc(route.WithSlash)))
	}
	routes := slices.Clone(h.o.Routes)
	slices.SortStableFunc(routes, func(a, b Route) int { return len(b.Path) - len(a.Path) })
	for _, route := range routes {
		if err := h.registerRoute(r, route); err != nil {
			return fmt.Errorf("route %q: %w", route.Name, err)
		}
	}
	if h.public != nil {
		r.PathPrefix("/").Handler(h.wrap("public", page, h.publicFile()))
	}
	return nil
}

func (h *Host) registerRoute(r *mux.Router, route Route) error {
	handler, err := h.routeHandler(route)
	if err != nil {
		return err
	}
	handler = h.wrap(route.Name, page, h.guarded(route.Guard.or(GuardSession), handler))
	r.Path(route.Path).Name(route.Name).Handler(handler)
	if route.Dir != "" || route.Proxy != nil {
		prefix := strings.TrimSuffix(route.Path, "/") + "/"
		r.PathPrefix(prefix).Handler(handler)
	}
	return nil
}

func (g Guard) or(other Guard) Guard {
	if g == "" {
		return other
	}
	return g
}

// pathValues hands mux's variables to handlers that do not know mux.
func (h *Host) pathValues(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, v := range mux.Vars(r) {
			r.SetPathValue(name, v)
		}
		next.ServeHTTP(w, r)
	})
}

// only answers other methods with 405 and Allow; GET includes HEAD.
func (h *Host) only(method string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		allow := method
		if method == http.MethodGet {
			allow = "GET, HEAD"
		}
		w.Header().Set("Allow", allow)
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.MethodNotAllowed})
	})
}
