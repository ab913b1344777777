package host

import (
	"context"
	"database/sql"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// What may be read again while serving, as the metric vestibule_reloads_total names it.
const (
	reloadConfig  = "config"  // all of SIGHUP
	reloadApp     = "app"     // the front-end app
	reloadTLS     = "tls"     // certificate and key
	reloadPlugins = "plugins" // their processes and settings
	reloadKeys    = "keys"    // what all hosts share: the keys of guests' cookies and of assertions
)

// eventMailDropped is the event of a plugin whose mail was not sent because the user got
// too many.
const eventMailDropped = "mail_dropped"

// newMetrics returns metrics with a series for everything that is known in advance.
func newMetrics(o Options) *telemetry.Metrics {
	m := telemetry.New()
	m.Build(Version(), revision())
	m.ExpectLimits(slices.Concat(web.LimitKeys(), odata.LimitNames())...)
	m.ExpectChecks(store.CheckDatabase, store.CheckMigrations, store.CheckTables, store.CheckWrites)
	m.ExpectAudits(auth.Events()...)
	m.ExpectMails(slices.Concat(mail.Purposes(), o.Mail.Mails), mail.Outcomes())
	m.ExpectReloads(reloadConfig, reloadApp, reloadTLS, reloadPlugins, reloadKeys)
	m.RestartNeeded(o.RestartNeeded)
	expectPlugins(m, o.Plugins)
	return m
}

func expectPlugins(m *telemetry.Metrics, plugins []Plugin) {
	for _, p := range plugins {
		m.ExpectPlugin(p.Name, pluginproc.Methods(p.Roles), []string{"restart", "log_dropped", "value_refused", eventMailDropped})
		m.ExpectMails(p.Mails, mail.Outcomes())
	}
}

// revision is the commit that this program was built of, empty when it does not know.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// watched is what each scrape asks for.
func (h *Host) watched() telemetry.Watched {
	w := telemetry.Watched{
		Ready: h.checkAll, Pools: h.pools, Queues: h.limits.States(h.pipeline.HashingQueue), Outbox: h.o.Store.Outbox().Backlog,
		Plugins: h.watchedPlugins, PluginStates: pluginproc.States(), LogLinesLost: h.o.LogLinesLost,
	}
	if h.o.Server.LoadTLS != nil {
		w.CertificateExpiry = h.tls.expiry
	}
	return w
}

// checkAll returns what /readyz shows, and draining also while the host is not.
func (h *Host) checkAll(ctx context.Context) map[string]string {
	checks := map[string]string{checkDraining: telemetry.OK}
	maps.Copy(checks, readiness{h.stop, h.database, h.plugins}.checks(ctx))
	return checks
}

// pools returns those of sign-in, of readiness and of queries.
func (h *Host) pools() map[string]sql.DBStats {
	pools := h.o.Store.Pools()
	if h.o.OData != nil {
		if s, ok := h.o.OData.Source.(interface{ Pool() sql.DBStats }); ok {
			pools["odata"] = s.Pool()
		}
	}
	return pools
}

func (h *Host) watchedPlugins() []telemetry.Plugin {
	var list []telemetry.Plugin
	for _, s := range h.plugins.Status() {
		list = append(list, telemetry.Plugin{Name: s.Name, State: string(s.State), Version: s.Version, SHA256: s.SHA256, Memory: s.Memory})
	}
	return list
}

// expiry is when the first certificate of the chain that is served ceases to be valid.
func (c *certificate) expiry() time.Time {
	if loaded := c.Load(); loaded != nil {
		return loaded.end
	}
	return time.Time{}
}
