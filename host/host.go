package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	netmail "net/mail"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// A Host is sign-in, routes, plugins and OData behind one handler. It is safe for
// concurrent use.
type Host struct {
	o          Options
	site       *web.Site
	metrics    *telemetry.Metrics
	plugins    *pluginproc.Manager
	pipeline   *auth.Pipeline
	guests     *session.Guests
	assertions *web.Assertions
	policy     *web.Policy
	mail       *mail.Worker
	sweeper    sweeper
	database   *telemetry.Probe
	limits     *web.Limits
	sockets    *web.Sockets
	screens    *frontend.Screens
	public     fs.FS          // nil for none
	odata      *odata.Service // nil for none
	gate       *web.Gate
	middleware *web.Middleware
	tls        certificate
	mounted    atomic.Pointer[mux.Router] // the embedding program's, which may name routes as well

	sessions *session.Store

	stop        *stop
	stopWorkers context.CancelFunc
	stopMail    context.CancelFunc
	workers     sync.WaitGroup
}

// New builds a host. It starts nothing yet: Run does, or Start for a program that
// listens by itself.
func New(o Options) (*Host, error) {
	if o.Store == nil {
		return nil, errors.New("host: Options.Store is required")
	}
	if err := checkRoutes(o.Routes); err != nil {
		return nil, err
	}
	if err := checkOrigins(o.Auth.RedirectOrigins); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	o.Plugins = withPublicURL(o.Plugins, o.Server.PublicURL)
	o.Store = o.Store.With(store.Settings{Now: o.Now, Wait: o.Limits.Wait, Active: o.Auth.Active})
	h := &Host{o: o, stop: newStop(), metrics: newMetrics(o), policy: web.NewPolicy(headerNames(o.Routes))}
	h.site = web.NewSite(o.siteOptions(h.mountedPath))
	h.limits = web.NewLimits(o.Limits, o.Logger, h.metrics.Refused)
	h.database = telemetry.NewProbe("database", (&failureCount{of: o.ready(h.metrics.FileChange), count: h.metrics.CheckFailed}).look, o.Logger)
	var err error
	if h.plugins, err = pluginproc.New(o.Plugins, pluginproc.Options{
		Logger: o.Logger.Named("plugin"), Now: o.Now, HostVersion: Version(), Metrics: pluginMetrics(h.metrics), Owned: o.ownRoles(), RunDir: o.Server.RunDir,
		Outbox: o.Store.Outbox(), Person: h.listenersPerson, Apply: h.applyTold, Fits: o.Store.FitsColumn,
	}); err != nil {
		return nil, err
	}
	if err := h.openSignIn(); err != nil {
		return nil, err
	}
	if err := h.openScreens(); err != nil {
		return nil, err
	}
	h.sockets = web.NewSockets(h.pipeline.Alive)
	h.gate = web.NewGate(h.site, h.pipeline, h.pipeline.KeepIntended, h.pipeline.Fail)
	h.middleware = web.NewMiddleware(h.site, h.pipeline.Fail, o.Logger, h.metrics, h.limits, h.pipeline.Counted)
	if err := lackValidators(o.validators(), o.Plugins); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if o.OData != nil {
		if h.odata, err = odata.New(o.OData.Model, o.OData.Source, o.odataOptions(h.site, h.sessions, h.pipeline.Bearer(""), h.limits, h.metrics, h.gate, h.pipeline.AuditRows, h.plugins)); err != nil {
			return nil, fmt.Errorf("odata: %w", err)
		}
	}
	h.metrics.Watch(h.watched())
	return h, nil
}

// openSignIn makes the pipeline with its sessions, and what works behind it.
func (h *Host) openSignIn() error {
	o, db := h.o, h.o.Store
	h.guests = session.NewGuests(db.GuestKeys(), h.site.Secure(), o.Now)
	h.sessions = session.New(db.Sessions(), session.Options{
		Guests: h.guests, Secure: h.site.Secure(), Idle: o.Session.Idle, Absolute: o.Session.Absolute, Now: o.Now,
		Address: func(r *http.Request) string { return auth.RequestOf(r.Context()).Client },
		Alive:   maySignIn(db.Users()), Living: o.living(),
		Unrecorded: func(err error) {
			o.Logger.Warn("visits of sessions not recorded; the next visit of each is", "error", err)
		},
	})
	h.assertions = web.NewAssertions(h.site, db.AssertionKeys(), o.Now)
	r := roles{o.Dispenser, o.OrgSetup, h.plugins}
	options := auth.Options{
		Rules: o.Auth.Rules,
		Tx:    db, Users: db.Users(), Throttle: db.Throttle(), Secrets: db, Wait: o.Limits.Wait, Resets: db.ResetTokens(), Invitations: db.Invitations(), Devices: db.Devices(),
		Linked: db.Identities(),
		Tokens: db.Tokens(), Passkeys: db.Passkeys(), AppName: o.UI.AppName, Record: db.Audit,
		Mailer: queue{db.Outbox(), o.Server.PublicURL != nil, sealer{db}, func() { h.mail.Kick() }}, MailDropped: h.mailDropped, Sessions: h.sessions, Site: h.site,
		Dispensers: r.dispensers, Dispenser: r.dispenser, OrgSetup: r.orgSetup, Offered: r.offered,
		RedirectOrigins: o.Auth.RedirectOrigins, Secure: h.site.Secure(),
		Logger: o.Logger.Named("auth"), Now: o.Now, Audit: h.metrics.Audit, Hashed: h.metrics.Hash, Learned: h.metrics.ExpectHash, Hashing: h.limits.Hashing(),
		Announce:      h.announce,
		Refused:       h.refusedColumns,
		PasswordReset: subscribers{append(slices.Clone(o.OnPasswordReset), h.committed), o.Logger}.passwordReset,
	}
	if err := r.addIdentities(&options, o.Identities, o.Plugins); err != nil {
		return err
	}
	h.pipeline = auth.New(options)
	keep := store.Retention{Idle: h.sessions.Idle(), Reset: h.pipeline.ResetLifetime, Invitation: h.pipeline.InvitationLifetime()}
	h.sweeper = sweeper{db, keep, o.forget(), h.refreshKeys, o.Now, o.Logger}
	var err error
	h.mail, err = mail.NewWorker(o.mailOptions(letters{h.pipeline, h.site, h.hasPublic, sealer{db}}, h.metrics))
	return err
}

// hasPublic reports whether there is a public file.
func (h *Host) hasPublic(name string) bool {
	if h.public == nil {
		return false
	}
	info, err := fs.Stat(h.public, name)
	return err == nil && info.Mode().IsRegular()
}

// openScreens reads the front-end app and opens the public directory.
func (h *Host) openScreens() error {
	app, err := openApp(h.o)
	if err != nil {
		return err
	}
	var standIn *frontend.App
	if h.o.UI.Errors != nil {
		if standIn, err = frontend.Open(h.o.UI.Errors, false, CoreVersion()); err != nil {
			return err
		}
	}
	helpers, err := openHelpers(h.o.UI)
	if err != nil {
		return err
	}
	if dir := h.o.Server.PublicDir; dir != "" {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("server.public_dir: %w", err)
		}
		h.public = root.FS()
	}
	h.screens = frontend.NewScreens(frontend.ScreensOptions{
		SignIn: h.pipeline, Core: Version(), AppName: h.o.UI.AppName,
		Languages: web.Languages(), Pages: web.PageNames(), Public: h.public, Modules: h.o.UI.Modules, Helpers: helpers,
		Errors: standIn, NamesSession: h.sessions.Asked, IsNavigation: web.IsNavigation,
	})
	h.screens.SetApp(app)
	h.pipeline.Show = h.screens.ShowFault
	return nil
}

// openHelpers reads the libraries for applications that o has.
func openHelpers(o UIOptions) ([]*frontend.Helper, error) {
	var all []*frontend.Helper
	for _, one := range []struct {
		files  fs.FS
		prefix string
	}{{o.UI5, frontend.HelperPrefix}, {o.Steps, frontend.StepsPrefix}} {
		if one.files == nil {
			continue
		}
		helper, err := frontend.OpenHelper(one.files, one.prefix, CoreVersion())
		if err != nil {
			return nil, err
		}
		all = append(all, helper)
	}
	return all, nil
}

// openApp reads the front-end app of o, nil when there is none.
func openApp(o Options) (*frontend.App, error) {
	if o.UI.App == nil {
		return nil, nil
	}
	return frontend.Open(o.UI.App, o.UI.Live, CoreVersion())
}

// Check returns why the app cannot be served.
func (o UIOptions) Check() error {
	_, err := openApp(Options{UI: o})
	return err
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LogLinesLost == nil {
		o.LogLinesLost = func() int64 { return 0 }
	}
	if o.Server.Address == "" {
		o.Server.Address = "127.0.0.1:8080"
	}
	if o.Server.DrainTimeout <= 0 {
		o.Server.DrainTimeout = 10 * time.Second
	}
	if o.Mail.From == "" {
		o.Mail.From = nobodysMail
	}
	if o.UI.AppName == "" {
		o.UI.AppName = o.nameByItself()
	}
	if o.Mail.From == nobodysMail {
		o.Mail.From = (&netmail.Address{Name: o.UI.AppName, Address: "no-reply@localhost"}).String()
	}
	if o.Mail.Transport == "" {
		o.Mail.Transport = "log"
	}
	if o.Session.Remember > 0 {
		o.Auth.Remember = o.Session.Remember
	}
	return o
}

// nobodysMail is the sender where nobody has named one.
const nobodysMail = "Vestibule <no-reply@localhost>"

// nameByItself is what people know the application by where it has no name: the
// display name of the mails' sender, or else the name of its site.
func (o Options) nameByItself() string {
	if a, err := netmail.ParseAddress(o.Mail.From); err == nil && a.Name != "" && o.Mail.From != nobodysMail {
		return a.Name
	}
	if u := o.Server.PublicURL; u != nil {
		return u.Hostname()
	}
	return "Vestibule"
}

func (o Options) siteOptions(named func(string) (string, bool)) web.SiteOptions {
	s := web.SiteOptions{
		PublicURL: o.Server.PublicURL, Address: o.Server.Address, TLS: o.Server.LoadTLS != nil,
		TrustedProxies: o.Server.TrustedProxies, Routes: map[string]string{}, Named: named,
	}
	for _, r := range o.Routes {
		s.Routes[r.Name] = r.Path
	}
	return s
}

// mountedPath returns the path of a route by that name which the embedding program
// registered.
func (h *Host) mountedPath(name string) (string, bool) {
	router := h.mounted.Load()
	if router == nil {
		return "", false
	}
	route := router.Get(name)
	if route == nil {
		return "", false
	}
	u, err := route.URLPath()
	if err != nil {
		return "", false
	}
	return u.Path, true
}

// Start starts the plugins and the workers behind the handlers. A program that
// calls it instead of Run must call Stop.
func (h *Host) Start(ctx context.Context) error {
	for _, name := range []string{"home", "dashboard"} {
		if _, ok := h.site.Path(name); !ok {
			h.o.Logger.Warn("no route by this name: logout needs home, sign-in needs dashboard unless a dispenser names every target", "route", name)
		}
	}
	if err := h.tls.open(h.o.Server.LoadTLS); err != nil {
		return err
	}
	if err := h.pipeline.Warm(ctx); err != nil {
		return err
	}
	if err := h.refreshKeys(ctx); err != nil {
		return err
	}
	if err := h.plugins.Start(ctx); err != nil {
		return err
	}
	ctx, h.stopWorkers = context.WithCancel(context.WithoutCancel(ctx))
	mailing, stopMail := context.WithCancel(ctx)
	h.stopMail = stopMail
	h.workers.Go(func() { h.mail.Run(mailing) })
	h.workers.Go(func() { h.plugins.TellListeners(mailing) })
	h.workers.Go(func() { h.sweeper.run(ctx) })
	h.workers.Go(func() { h.database.Run(ctx) })
	return nil
}

// refreshKeys reads again the keys that all hosts share.
func (h *Host) refreshKeys(ctx context.Context) error {
	err := errors.Join(h.guests.Refresh(ctx), h.assertions.Refresh(ctx))
	h.metrics.Reload(reloadKeys, err)
	return err
}

// Stop ends what Start began, plugins included, and waits for it until ctx ends.
func (h *Host) Stop(ctx context.Context) error {
	if h.stopWorkers != nil {
		h.stopWorkers()
	}
	err := h.plugins.Stop(ctx)
	ended := make(chan struct{})
	go func() { h.workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	h.recordVisits()
	return err
}

// Guard lets pass only who the guard admits, as for the configured routes, and
// tells next who that is: a guest who asks for a page goes to /login and comes
// back afterwards, and who asks for data gets 401. One whose intent loop is open goes
// there as well, or gets 403 with the step. GuardNone admits guests, and the zero
// value is GuardSettled.
func (h *Host) Guard(g Guard, next func(http.ResponseWriter, *http.Request, Principal)) http.Handler {
	checked := h.policy.Refuse(h.pipeline.Fail, h.gate.Guard(g, next))
	return guarded{h.middleware.Wrap(web.Route{Kind: web.Page, Uploads: true, Uncounted: true}, checked), string(cmp.Or(g, GuardSettled))}
}
