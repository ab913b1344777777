package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// odataRoot is the path of the query endpoint.
const odataRoot = "/odata/"

// odataOptions completes the endpoint's options with what only the host knows.
func (o Options) odataOptions(site *web.Site, sessions *session.Store, who auth.Authenticator, limits *web.Limits, metrics *telemetry.Metrics, gate *web.Gate, audit rowAudit, plugins *pluginproc.Manager) odata.Options {
	out := o.OData.Options
	out.Root, out.Base, out.RequestID = odataRoot, site.Base, func(r *http.Request) string { return auth.RequestOf(r.Context()).ID }
	out.Unsettled, out.Challenge = resumeSignIn, site.Challenge
	out.Caller = odataCaller{who, gate, site.Locale, o.odataNeeds()}.caller
	if out.Written == nil {
		out.Written = func(ctx context.Context, _ odata.Caller, rows []odata.Written) {
			leave := audit(ctx)
			for _, row := range rows {
				leave(row.Kind, row.Set, row.Key)
			}
		}
	}
	if of := o.validators(); len(of) > 0 {
		out.Validate = newValidation(plugins, of, limits).validate
	}
	out.Security = odata.Security{Cookie: sessions.Name(), Bearer: true}
	if admit := o.OData.admitQueries(limits); admit != nil {
		out.Admit = admit
	}
	if out.Spool == nil {
		blocks := cmp.Or(o.Limits.SpoolBlocks, odata.SpoolBlocks)
		room := limits.Share(blocks, max(blocks/4, 1))
		out.Spool = func(c odata.Caller) func() { return room.TryEnter(c.Client) }
	}
	if out.Refused == nil {
		out.Refused = func(c odata.Caller, limit string, why error) {
			limits.Refused(c.Client, limit, errors.New(auth.WithoutTokens(why.Error()))) // which names the path
		}
	}
	if out.Observe == nil {
		out.Observe = metrics.Stage
	}
	if out.Logger == nil {
		out.Logger = o.Logger.Named("odata")
	}
	if out.Now == nil {
		out.Now = o.Now
	}
	return out
}

// forget returns what makes the source of the query endpoint forget requests; nil where it remembers none.
func (o Options) forget() func(context.Context, time.Time) (int, error) {
	if o.OData == nil {
		return nil
	}
	if r, ok := o.OData.Source.(odata.Repeating); ok && r.Repeats() {
		return r.Forget
	}
	return nil
}

// rowAudit returns the function that leaves an audit line of a row that a request has changed.
type rowAudit func(ctx context.Context) func(kind, set, key string)

// needs holds what a service asks of its callers.
type needs struct {
	// open reports whether all of the service may be read without a session; writes whether
	// something can be written, which always needs one.
	open, writes bool
	// columns reports whether a row policy, or a value that the service writes, is a column of the user, or a validator
	// learns of the user.
	columns bool
	// judged holds the names of the sets whose changes a plugin judges, which learns of the user.
	judged map[string]string
}

// odataNeeds returns what the endpoint asks of its callers.
func (o Options) odataNeeds() needs {
	model := o.OData.Model
	n := needs{open: model.Guard.String() == string(GuardNone), columns: o.OData.Options.Validate != nil, judged: o.validators()}
	for _, set := range model.All() {
		n.open = n.open && set.Guard.String() == string(GuardNone)
		n.columns = n.columns || namesUser(set.Policy)
		if w := set.Write; w != nil {
			n.writes = true
			n.columns = n.columns || namesUser(w.Filter)
			for _, given := range slices.Concat(w.Set, w.Touch) {
				n.columns = n.columns || namesUser(given.Value)
			}
		}
	}
	return n
}

// user reports whether the answer to a request needs the row of its user. A batch, and a path of several segments, may turn out to
// need it where this reports false: the row is then read by itself.
func (n needs) user(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	set, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, odataRoot), "(")
	return n.columns && !n.passes(reads) || !reads && n.judged[set] != "" && !strings.Contains(key, "/")
}

// passes reports whether a request is answered without a look at who asks.
func (n needs) passes(reads bool) bool { return n.open && (reads || !n.writes) }

func namesUser(text string) bool { return strings.Contains(text, "@user_") }

// resumeSignIn leads a browser to the step that is open, and back afterwards.
func resumeSignIn(w http.ResponseWriter, r *http.Request) bool {
	if !web.IsNavigation(r) {
		return false
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/login?redirect="+url.QueryEscape(r.URL.RequestURI()), http.StatusFound)
	return true
}

// explored is the query endpoint, which shows a page instead of the service document to a
// browser that goes there. $format asks for the document in any case.
func (h *Host) explored() http.Handler {
	guard := Guard(h.o.OData.Model.Guard.String())
	page := h.gate.Guard(guard, h.screens.Explorer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && r.URL.Path == odataRoot && web.IsNavigation(r) && !strings.Contains(r.URL.RawQuery, "format=") && h.screens.HasExplorer() {
			page.ServeHTTP(w, r)
			return
		}
		h.odata.ServeHTTP(w, r)
	})
}

// An odataCaller tells the query endpoint who asks.
type odataCaller struct {
	who    auth.Authenticator
	gate   *web.Gate
	locale func(*http.Request) string
	needs
}

// caller returns who asks. A user whom the application has deleted is nobody.
func (c odataCaller) caller(w http.ResponseWriter, r *http.Request) (odata.Caller, error) {
	request := auth.RequestOf(r.Context())
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if c.passes(reads) { // the request has been counted, so that its user is known, and nobody looks once more
		return odata.Caller{Client: request.CountsAs(request.Principal().UserID)}, nil
	}
	who, err := c.who.Authenticate(w, r)
	guest := odata.Caller{Client: request.CountsAs("")}
	if after, refused := web.Refused(err); refused {
		return guest, &odata.Refused{RetryAfter: after, Cause: err}
	}
	if err != nil || !who.SignedIn() {
		return guest, err
	}
	settled := who.Settled || who.Session.OpensOData()
	out := odata.Caller{SignedIn: true, Settled: settled, ID: who.UserID, Client: request.CountsAs(who.UserID), Locale: c.locale(r)}
	if !reads && c.writes {
		if out.ReadOnly = c.gate.CrossOrigin(r); out.ReadOnly == "" && who.ReadsOnly() {
			out.ReadOnly = "token_reads_only"
		}
	}
	if !settled && who.Session.Intent != nil {
		if out.Next, err = json.Marshal(who.Session.Intent.Envelope()); err != nil {
			return odata.Caller{}, err
		}
	}
	if !c.columns {
		return out, nil
	}
	user, err := who.User(r.Context())
	if errors.Is(err, auth.ErrNotFound) {
		return guest, nil
	}
	out.User = userColumns(user)
	return out, err
}

// PolicyUser returns the columns that row policies may name of the user with the address, in any case.
func PolicyUser(ctx context.Context, db *store.DB, email string) (map[string]any, error) {
	user, err := findUser(ctx, db, email)
	if err != nil {
		return nil, err
	}
	return userColumns(user), nil
}

// userColumns are the values that row policies may name.
func userColumns(u auth.User) map[string]any {
	out := map[string]any{}
	maps.Copy(out, u.Columns)
	out["id"], out["name"], out["email"] = u.ID, u.Name, u.Email
	return out
}

// WaitLeft returns what sources of rows are told about how long a request may wait for
// the database: the given time less what the sign-in has waited for the same request.
func WaitLeft(wait time.Duration) func(context.Context) time.Duration {
	return func(ctx context.Context) time.Duration { return auth.RequestOf(ctx).Left(wait) }
}

// Waited counts what a request has waited for the database since then, which WaitLeft takes off.
func Waited(ctx context.Context, since time.Time) { auth.RequestOf(ctx).Spend(since) }
