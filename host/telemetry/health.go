package telemetry

import (
	"context"
	"io"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// Alive answers /healthz: the process answers.
func Alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "ok\n")
}

// OK is the result of a check that found nothing wrong.
const OK = "ok"

// Ready answers /readyz: whether the host can do its work. The checks return
// their results by name, [OK] or a word for what is wrong, which is public; they
// answer at once, see [Probe].
func Ready(checks func(context.Context) map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		results := checks(r.Context())
		status, word := http.StatusOK, "ready"
		for _, result := range results {
			if result != OK {
				status, word = http.StatusServiceUnavailable, "not_ready"
			}
		}
		fault.WriteJSON(w, status, map[string]any{"status": word, "checks": results})
	})
}
