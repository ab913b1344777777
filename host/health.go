package host

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
)

// healthz says that the process answers.
func (h *Host) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "ok\n")
}

// readyz says whether the host can do its work: the database with its
// migrations, and each plugin by name. Causes are for the log; the answer is
// public.
func (h *Host) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	checks := map[string]string{"database": "ok"}
	status := http.StatusOK
	if err := h.o.Store.Ready(ctx); err != nil {
		h.o.Logger.Warn("not ready", "check", "database", "cause", err)
		checks["database"], status = "failed", http.StatusServiceUnavailable
	}
	for _, p := range h.plugins.Status() {
		checks["plugin "+p.Name] = "ok"
		if p.State != pluginproc.StateReady {
			checks["plugin "+p.Name], status = string(p.State), http.StatusServiceUnavailable
		}
	}
	word := "ready"
	if status != http.StatusOK {
		word = "not_ready"
	}
	fault.WriteJSON(w, status, map[string]any{"status": word, "checks": checks})
}
