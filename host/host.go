package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	netmail "net/mail"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"

	"github.com/gorilla/mux"
	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A Host is sign-in, routes, plugins and OData behind one handler. It is safe for
// concurrent use.
type Host struct {
	o         Options
	site      *site
	sessions  *session.Store
	pipeline  *auth.Pipeline
	plugins   *pluginproc.Manager
	mail      *mail.Worker
	odata     *odata.Service
	metrics   *telemetry.Metrics
	app       atomic.Pointer[frontend.App]
	public    fs.FS
	guard     crossOrigin
	tls       certificate
	listening atomic.Pointer[string]

	stopWorkers context.CancelFunc
	workers     sync.WaitGroup
}

// New builds a host. It starts nothing yet: Run does, or Start for a program that
// listens by itself.
func New(o Options) (*Host, error) {
	if o.Store == nil {
		return nil, errors.New("host: Options.Store is required")
	}
	o = o.withDefaults()
	o.Store.Now = o.Now
	h := &Host{o: o, site: newSite(o), metrics: telemetry.New()}
	h.guard = newCrossOrigin(h.site)
	h.sessions = session.New(o.Store.Sessions(), session.Options{
		Secure: h.secure(), Idle: o.Session.Idle, Absolute: o.Session.Absolute, Now: o.Now,
		Address: func(r *http.Request) string { a, _ := h.site.Client(r); return a },
		Alive: func(ctx context.Context, id string) (bool, error) {
			user, err := o.Store.Users().FindByID(ctx, id)
			if errors.Is(err, auth.ErrNotFound) {
				return false, nil
			}
			return !user.Disabled, err
		},
	})
	if err := h.openFiles(); err != nil {
		return nil, err
	}
	var err error
	if h.plugins, err = pluginproc.New(o.Plugins, pluginproc.Options{
		Logger: o.Logger.Named("plugin"), Now: o.Now, HostVersion: Version(), Metrics: pluginMetrics(h.metrics),
	}); err != nil {
		return nil, err
	}
	if err := h.checkRoles(); err != nil {
		return nil, err
	}
	h.pipeline = auth.New(h.pipelineOptions())
	if h.mail, err = mail.NewWorker(h.mailOptions()); err != nil {
		return nil, err
	}
	if o.OData != nil {
		if h.odata, err = odata.New(o.OData.Model, o.OData.Source, h.odataOptions()); err != nil {
			return nil, fmt.Errorf("odata: %w", err)
		}
	}
	return h, nil
}

// openFiles reads the front-end app and opens the public directory.
func (h *Host) openFiles() error {
	app, err := openApp(h.o)
	if err != nil {
		return err
	}
	h.app.Store(app)
	if dir := h.o.Server.PublicDir; dir != "" {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("server.public_dir: %w", err)
		}
		h.public = root.FS()
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Server.Address == "" {
		o.Server.Address = "127.0.0.1:8080"
	}
	if o.Server.DrainTimeout <= 0 {
		o.Server.DrainTimeout = 10 * time.Second
	}
	if o.Mail.From == "" {
		o.Mail.From = "Vestibule <no-reply@localhost>"
	}
	if o.UI.AppName == "" {
		o.UI.AppName = senderName(o.Mail.From)
	}
	if o.Mail.Transport == "" {
		o.Mail.Transport = "log"
	}
	if o.Session.Remember > 0 {
		o.Auth.Remember = o.Session.Remember
	}
	return o
}

// senderName returns the display name of the mails' sender, which is what people
// know the application by.
func senderName(from string) string {
	if a, err := netmail.ParseAddress(from); err == nil && a.Name != "" {
		return a.Name
	}
	return "Vestibule"
}

// secure reports whether people reach the host over https.
func (h *Host) secure() bool {
	if u := h.o.Server.PublicURL; u != nil {
		return u.Scheme == "https"
	}
	return h.o.Server.LoadTLS != nil
}

func (h *Host) checkRoles() error {
	if h.o.Dispenser != nil && h.plugins.Dispenser() != nil {
		return errors.New("host: a plugin has the role dispenser, and Options.Dispenser is set too: remove one")
	}
	if h.o.OrgSetup != nil && h.plugins.OrgSetup() != nil {
		return errors.New("host: a plugin has the role org_setup, and Options.OrgSetup is set too: remove one")
	}
	return nil
}

func (h *Host) pipelineOptions() auth.Options {
	db := h.o.Store
	return auth.Options{
		Rules: h.o.Auth.Rules,
		Tx:    db, Users: db.Users(), Throttle: db.Throttle(), Resets: db.ResetTokens(), Devices: db.Devices(),
		Mailer: queue{db.Outbox()}, Sessions: signInSessions{h.sessions, db.Sessions()}, Site: h.site,
		Dispenser: h.dispenser, OrgSetup: h.orgSetup,
		RedirectOrigins: h.o.Auth.RedirectOrigins, Secure: h.secure(),
		Logger: h.o.Logger.Named("auth"), Now: h.o.Now, Audit: h.metrics.Audit,
		PasswordReset: h.passwordReset,
	}
}

func (h *Host) dispenser() pluginsdk.Dispenser {
	if h.o.Dispenser != nil {
		return h.o.Dispenser
	}
	return h.plugins.Dispenser()
}

func (h *Host) orgSetup() pluginsdk.OrgSetupHandler {
	if h.o.OrgSetup != nil {
		return h.o.OrgSetup
	}
	return h.plugins.OrgSetup()
}

// passwordReset hands the event to each subscriber in turn. The password is
// changed by then, so that a subscriber's panic must not look like a failure.
func (h *Host) passwordReset(ctx context.Context, e auth.PasswordReset) {
	for _, f := range h.o.OnPasswordReset {
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					h.o.Logger.Error("a subscriber of PasswordReset panicked", "user", e.UserID, "cause", cause, "stack", string(debug.Stack()))
				}
			}()
			f(ctx, e)
		}()
	}
}

// Start starts the plugins and the workers behind the handlers. A program that
// calls it instead of Run must call Stop.
func (h *Host) Start(ctx context.Context) error {
	for _, name := range []string{"home", "dashboard"} {
		if _, ok := h.site.Path(name); !ok {
			h.o.Logger.Warn("no route by this name: logout needs home, sign-in needs dashboard unless a dispenser names every target", "route", name)
		}
	}
	if err := h.tls.load(h.o.Server.LoadTLS); err != nil {
		return err
	}
	if err := h.pipeline.Warm(ctx); err != nil {
		return err
	}
	if err := h.plugins.Start(ctx); err != nil {
		return err
	}
	ctx, h.stopWorkers = context.WithCancel(context.WithoutCancel(ctx))
	h.workers.Go(func() {
		if err := h.mail.Run(ctx); err != nil && ctx.Err() == nil {
			h.o.Logger.Error("mail worker ended", "error", err)
		}
	})
	h.workers.Go(func() { h.sweep(ctx) })
	return nil
}

// Stop ends what Start began, plugins included, and waits for it until ctx ends.
func (h *Host) Stop(ctx context.Context) error {
	if h.stopWorkers != nil {
		h.stopWorkers()
	}
	err := h.plugins.Stop(ctx)
	h.workers.Wait()
	return err
}

// retention is how long rows are kept that nobody needs any more.
func (h *Host) retention() store.Retention {
	return store.Retention{Idle: h.sessions.Idle(), Reset: h.pipeline.ResetLifetime}
}

// sweepEvery is how often expired rows are looked for, and sweepPause how long
// requests have the database to themselves while there are more.
const (
	sweepEvery = 5 * time.Minute
	sweepPause = 50 * time.Millisecond
)

// sweep removes what is over, a limited number of rows at a time and as often as
// there are more: whoever tries many logins must not fill the database.
func (h *Host) sweep(ctx context.Context) {
	for {
		n, err := h.o.Store.Sweep(ctx, h.o.Now(), h.retention())
		if err != nil && ctx.Err() == nil {
			h.o.Logger.Warn("expired rows not removed; the next try is in 5 minutes", "error", err)
		}
		wait := sweepEvery
		if n > 0 && err == nil {
			wait = sweepPause
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// Mount registers everything on a router of the caller's, which may have routes
// of its own under the names home, dashboard, terms, privacy and cookies. Call
// Start before the first request.
//
// gorilla/mux cleans paths before it matches them, which changes OData keys that
// hold a slash: give such a router SkipClean(true).
func (h *Host) Mount(r *mux.Router) error {
	h.site.router = r
	return h.register(r)
}
