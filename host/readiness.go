package host

import (
	"context"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// readiness looks whether the host can do its work: the database with its
// migrations, and each plugin by name.
type readiness struct {
	db      *store.DB
	plugins *pluginproc.Manager
	log     hclog.Logger
}

// checks returns what /readyz shows. Causes are for the log; the answer is public.
func (c readiness) checks(ctx context.Context) map[string]string {
	checks := map[string]string{"database": telemetry.OK}
	if err := c.db.Ready(ctx); err != nil {
		c.log.Warn("not ready", "check", "database", "cause", err)
		checks["database"] = "failed"
	}
	for _, p := range c.plugins.Status() {
		checks["plugin "+p.Name] = telemetry.OK
		if p.State != pluginproc.StateReady {
			checks["plugin "+p.Name] = string(p.State)
		}
	}
	return checks
}
