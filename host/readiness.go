package host

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// readiness tells whether the host can do its work: the database with its
// migrations, each plugin by name, and that it is not about to stop.
type readiness struct {
	stop     *stop
	database *telemetry.Probe
	plugins  *pluginproc.Manager
}

// checks returns what /readyz shows. Causes are for the log; the answer is public.
func (c readiness) checks(ctx context.Context) map[string]string {
	checks := map[string]string{"database": telemetry.OK}
	if c.database.Err(ctx) != nil {
		checks["database"] = "failed"
	}
	if c.stop.draining.Load() {
		checks["draining"] = "stopping"
	}
	for _, p := range c.plugins.Status() {
		checks["plugin "+p.Name] = telemetry.OK
		if p.State != pluginproc.StateReady {
			checks["plugin "+p.Name] = string(p.State)
		}
	}
	return checks
}
