package host

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// A row is a row of the table of all routes.
type row struct {
	web.Route
	path string
	// find is how path is compared with that of a request.
	find    finding
	handler http.Handler
	// guard is that of a route of the configuration, and otherwise a word that is
	// that of no guard. proxied is set for applications behind a proxy.
	guard   string
	proxied bool
}

// The guards of rows that have none of the configuration.
const (
	guardOwn   = "the host's own"
	guardOData = "that of odata"
)

// A finding is how the path of a row is compared with that of a request.
type finding int

const (
	at     finding = iota // the path alone, which may have variables
	below                 // everything that begins with the path
	asSent                // the same, of paths as they were sent: neither cleaned nor redirected
)

// table returns all routes in the order in which they are tried: those of the
// host, the application's from the longest path to the shortest, and its public
// files.
func (h *Host) table() ([]row, error) {
	rows := slices.Concat(h.signInRows(), h.ownRows(), h.odataRows())
	routes := slices.Clone(h.o.Routes)
	slices.SortStableFunc(routes, func(a, b Route) int { return len(b.Path) - len(a.Path) })
	for _, r := range routes {
		handler, err := h.application(r)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", r.Name, err)
		}
		one := row{web.Route{Name: r.Name, Kind: web.Page, Uploads: r.Proxy != nil, Uncounted: r.Proxy != nil}, r.Path, at, handler, guardOf(r), r.Proxy != nil}
		rows = append(rows, one)
		if r.Dir != "" || r.Proxy != nil {
			one.path, one.find = strings.TrimSuffix(r.Path, "/")+"/", below
			rows = append(rows, one)
		}
	}
	if h.public != nil {
		as := web.Route{Name: "public", Kind: web.Page}
		rows = append(rows, row{as, "/", below, web.Public(h.public, h.pipeline.Fail), string(GuardNone), false})
	}
	return rows, nil
}

// guardOf names the guard of a route. That of a route which machine tokens open is of
// the route alone.
func guardOf(r Route) string {
	guard := string(cmp.Or(r.Guard, GuardSettled))
	if r.Tokens {
		guard += " or a token of " + r.Name
	}
	return guard
}

// checkRoutes returns an error for a route whose name or path is the host's own, or
// whose name another route has.
func checkRoutes(routes []Route) error {
	names := map[string]bool{}
	for _, r := range routes {
		if err := web.CheckRoute(r.Name, r.Path); err != nil {
			return fmt.Errorf("host: the route %q: %w", r.Name, err)
		}
		if (r.Assertion || r.Tokens) && r.Name == web.VerifyAudience {
			return fmt.Errorf("host: assertions and tokens of the route %q would pass for those of /auth/verify: rename the route", r.Name)
		}
		if names[r.Name] {
			return fmt.Errorf("host: two routes are named %q: rename one of them", r.Name)
		}
		names[r.Name] = true
	}
	return nil
}

// checkOrigins returns an error for a text that is no origin of http or https.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("host: Auth.RedirectOrigins: %q is no origin: write scheme and host, such as \"https://crm.example.com\"", origin)
		}
	}
	return nil
}

// signInRows are the routes of the sign-in.
func (h *Host) signInRows() []row {
	p, s := h.pipeline, h.screens
	own := func(name, path, method string, kind web.Kind, handler http.Handler) row {
		return row{web.Route{Name: name, Method: method, Kind: kind}, path, at, handler, guardOwn, false}
	}
	rows := []row{
		own("login", "/login", "GET", web.Page, h.policy.Redirects(s.Login)),
		own("login.submit", "/auth/login", "POST", web.Data, p.Login()),
		own("password.email", "/auth/forgot-password", "POST", web.Data, p.Forgot()),
		own("password.reset", "/password/reset/{token}", "GET", web.Data, p.ShowReset()),
		own("auth.invitation.options", "/auth/invitation/options", "POST", web.Data, p.InvitationOptions()),
		own("auth.invitation", "/auth/invitation", "POST", web.Data, p.AcceptInvitation()),
		own("password.update", "/auth/reset-password", "POST", web.Data, p.Reset()),
		own("logout", "/logout", "POST", web.Page, p.Logout()),
		own("auth.intents.current", "/auth/intents/current", "GET", web.Data, p.CurrentIntent()),
		own("auth.intents", "/auth/intents/{kind}", "POST", web.Data, p.Intent()),
		own("auth.account.steps", "/auth/account/steps/{plugin}", "POST, DELETE", web.Data, p.AskedStep()),
		own("auth.bootstrap", "/auth/bootstrap", "GET", web.Data, http.HandlerFunc(s.Bootstrap)),
		own("auth.passkeys.options", "/auth/passkeys/options", "POST", web.Data, p.PasskeyOptions()),
		own("auth.passkeys.login", "/auth/passkeys/login", "POST", web.Data, p.PasskeyLogin()),
		own("auth.account.confirm.options", "/auth/account/confirm/options", "POST", web.Data, p.ConfirmOptions()),
		own("auth.account.passkeys.options", "/auth/account/passkeys/options", "POST", web.Data, p.CreationOptions()),
		own("auth.account.passkeys", "/auth/account/passkeys", "POST", web.Data, p.AddPasskey()),
		own("auth.account.passkey", "/auth/account/passkeys/{id}", "PATCH, DELETE", web.Data, p.ChangePasskey()),
		own("auth.account", "/auth/account", "GET", web.Data, p.Account()),
		own("auth.account.confirm", "/auth/account/confirm", "POST", web.Data, p.Confirm()),
		own("auth.account.password", "/auth/account/password", "POST", web.Data, p.ChangePassword()),
		own("auth.account.session", "/auth/account/sessions/{id}", "DELETE", web.Data, p.EndOwnSession()),
		own("auth.account.device", "/auth/account/devices/{id}", "DELETE", web.Data, p.EndOwnDevice()),
		own("auth.change-password", "/.well-known/change-password", "GET", web.Page, http.HandlerFunc(changePassword)),
		own("auth.jwks", "/auth/jwks.json", "GET", web.Data, h.assertions.Publish(p.Fail)),
	}
	if len(h.o.Identities) > 0 {
		rows = append(rows,
			own("auth.identity", "/auth/identity/{name}", "GET, DELETE", web.Page, p.BeginIdentity()),
			own("auth.identity.callback", "/auth/identity/{name}/callback", "GET", web.Page, p.IdentityCallback()),
			own("auth.invitation.identity", "/auth/invitation/identities/{name}", "POST", web.Data, p.InvitationIdentity()),
			own("auth.account.confirm.identity", "/auth/account/confirm/{name}", "POST", web.Data, p.ConfirmByIdentity()),
			own("auth.account.identity", "/auth/account/identities/{name}", "POST, DELETE", web.Data, p.ChangeIdentity()))
	}
	if h.o.Auth.OwnTokens {
		rows = append(rows,
			own("auth.tokens", "/auth/tokens", "GET, POST", web.Data, p.OwnTokens()),
			own("auth.tokens.revoke", "/auth/tokens/{id}", "DELETE", web.Data, p.RevokeToken()))
	}
	return rows
}

// changePassword sends password managers to where a password is changed (W3C, A Well-Known URL for
// Changing Passwords).
func changePassword(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/login?account", http.StatusFound)
}

// ownRows are the other routes of the host itself.
func (h *Host) ownRows() []row {
	own := func(name, path string, kind web.Kind, find finding, handler http.Handler) row {
		return row{web.Route{Name: name, Method: "GET", Kind: kind}, path, find, handler, guardOwn, false}
	}
	ready := telemetry.Ready(readiness{h.stop, h.database, h.plugins}.checks)
	rows := []row{
		own("healthz", "/healthz", web.Data, at, http.HandlerFunc(telemetry.Alive)),
		own("readyz", "/readyz", web.Data, at, ready),
		own("auth.verify", "/auth/verify", web.Data, at, web.NewVerify(web.VerifyOptions{
			Site: h.site, Sessions: h.pipeline.BySession(), Tokens: h.pipeline.BearerBySession(web.VerifyAudience),
			Policy: h.policy, Assertions: h.assertions, Fail: h.pipeline.Fail, Logger: h.o.Logger,
		})),
		own("ui.modules", "/ui/modules.json", web.Data, at, http.HandlerFunc(h.screens.ModuleList)),
		own("ui.vestibule", frontend.HelperPrefix, web.Asset, below, http.HandlerFunc(h.screens.HelperFiles)),
		own("ui.steps", frontend.StepsPrefix, web.Asset, below, http.HandlerFunc(h.screens.HelperFiles)),
		own("ui", frontend.Prefix, web.Asset, below, http.HandlerFunc(h.screens.Files)),
	}
	rows[0].Uncounted, rows[1].Uncounted = true, true // balancers ask, whatever is going on
	rows[2].Uncounted = true                          // as requests to an application are
	return rows
}

// odataRows are those of the query endpoint, none without one.
func (h *Host) odataRows() []row {
	if h.odata == nil {
		return nil
	}
	as := web.Route{Name: "odata", Kind: web.Data, NeedsUser: h.o.odataNeeds().user}
	return []row{
		{as, odataRoot, asSent, h.explored(), guardOData, false},
		{as, strings.TrimSuffix(odataRoot, "/"), at, http.HandlerFunc(web.WithSlash), guardOData, false},
	}
}

// application returns what answers a configured route, behind its guard.
func (h *Host) application(to Route) (http.Handler, error) {
	var files http.Handler
	switch {
	case to.File != "":
		files = web.File(to.File, h.pipeline.Fail)
	case to.Dir != "":
		// A root cannot be left through a symbolic link.
		root, err := os.OpenRoot(to.Dir)
		if err != nil {
			return nil, err
		}
		files = web.Dir(root.FS(), strings.TrimSuffix(to.Path, "/")+"/", h.pipeline.Fail)
	case to.Proxy != nil:
		o := web.ProxyOptions{Target: to.Proxy, Path: to.Path, Headers: to.Headers, Policy: h.policy, Sockets: h.sockets, Limits: h.limits}
		if to.Assertion {
			o.Assertions, o.Audience = h.assertions, to.Name
		}
		if to.StripPrefix {
			o.StripPrefix = strings.TrimSuffix(to.Path, "/")
		}
		gate, fail := h.gate, web.Fail(h.pipeline.Fail)
		if to.Tokens {
			fail = h.site.Challenging(fail)
			gate = web.NewGate(h.site, h.pipeline.Bearer(to.Name), h.pipeline.KeepIntended, fail)
		}
		return web.NewProxy(o, h.site, fail).Behind(gate, to.Guard), nil
	case to.Redirect != "":
		files = http.RedirectHandler(to.Redirect, http.StatusFound)
	default:
		return nil, errors.New("has none of file, dir, proxy and redirect")
	}
	if to.Guard == GuardNone {
		return files, nil // who asks makes no difference, so that nobody looks
	}
	return h.gate.Guard(to.Guard, func(w http.ResponseWriter, r *http.Request, _ auth.Principal) { files.ServeHTTP(w, r) }), nil
}

// register puts rows on a router, each behind what wrap adds.
func register(r *mux.Router, rows []row, m *web.Middleware, wrap func(http.Handler) http.Handler) paths {
	p := paths{router: r, rows: map[*mux.Route]row{}}
	for _, row := range rows {
		handler := row.handler
		if strings.Contains(row.path, "{") {
			handler = withPathValues(handler)
		}
		if row.find != asSent {
			handler = wrap(handler)
		}
		handler = m.Wrap(row.Route, handler)
		route := r.NewRoute().Handler(handler)
		if row.find == at {
			route.Path(row.path).Name(row.Name)
		} else {
			route.PathPrefix(row.path)
		}
		p.rows[route], p.order = row, append(p.order, route)
	}
	return p
}

// withPathValues hands mux's variables to handlers that do not know mux.
func withPathValues(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, v := range mux.Vars(r) {
			r.SetPathValue(name, v)
		}
		next.ServeHTTP(w, r)
	})
}

// Mount registers everything on a router of the caller's, which may have routes
// of its own under the names home, dashboard, terms, privacy and cookies. Call
// Start before the first request.
//
// gorilla/mux cleans paths before it matches them, which changes OData keys that
// hold a slash: give such a router SkipClean(true).
func (h *Host) Mount(r *mux.Router) error {
	rows, err := h.table()
	if err != nil {
		return err
	}
	h.mounted.Store(r)
	h.policy.SetTable(register(r, rows, h.middleware, func(next http.Handler) http.Handler { return h.policy.Refuse(h.pipeline.Fail, next) }).table())
	return nil
}

// Handler returns everything as one handler, for a program that listens by
// itself and has no router of its own. Call Start before the first request.
func (h *Host) Handler() (http.Handler, error) {
	rows, err := h.table()
	if err != nil {
		return nil, err
	}
	// Not cleaned by the router, whose redirects would lack our headers.
	router := mux.NewRouter().SkipClean(true)
	router.NotFoundHandler = h.middleware.Wrap(web.Route{Name: "not-found", Kind: web.Data}, web.NotFound(h.pipeline.Fail))
	// Each path is judged below, before a row is found.
	table := register(router, rows, h.middleware, func(next http.Handler) http.Handler { return next })
	h.policy.SetTable(table.table())
	service := router.NotFoundHandler // without the endpoint nothing answers below it
	for _, row := range rows {
		if row.find == asSent {
			service = h.middleware.Wrap(row.Route, row.handler)
		}
	}
	tidy := h.middleware.Wrap(web.Route{Name: "tidy", Method: "GET", Kind: web.Page}, http.HandlerFunc(web.Tidy))
	refused := h.middleware.Wrap(web.Route{Name: "ambiguous", Kind: web.Data}, h.policy.Refuse(h.pipeline.Fail, router.NotFoundHandler))
	serve := table.handler(router.NotFoundHandler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, odataRoot) {
			service.ServeHTTP(w, r)
			return
		}
		untidy, err := h.policy.Judge(r)
		switch {
		case err != nil:
			refused.ServeHTTP(w, r)
		case untidy:
			tidy.ServeHTTP(w, r)
		default:
			serve(w, r)
		}
	}), nil
}
