package host

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// ErrAborted is what [Host.Run] returns after [Host.Abort].
var ErrAborted = errors.New("ended at once: requests that were under way are cut off")

// A stop is how far a host has come in stopping. hurried and aborted end with hurry and abort.
type stop struct {
	draining         atomic.Bool
	hurried, aborted context.Context
	hurry, abort     context.CancelFunc
}

func newStop() *stop {
	s := new(stop)
	s.hurried, s.hurry = context.WithCancel(context.Background())
	s.aborted, s.abort = context.WithCancel(context.Background())
	return s
}

// Hurry skips draining, also what is left of it: requests under way are still
// waited for. It may be called at any time, and more than once.
func (h *Host) Hurry() { h.stop.hurry() }

// Abort makes Run cut off the requests that are under way, kill the plugins and
// return [ErrAborted]. It may be called at any time, and more than once.
func (h *Host) Abort() {
	h.stop.abort()
	h.stop.hurry()
}

// drain goes on serving for Server.Drain, while /readyz tells balancers to send
// nothing more and each answer ends its connection. It returns early when a server
// fails.
func (h *Host) drain(failed <-chan error) error {
	h.stop.draining.Store(true)
	h.stopMail() // mails that are under way get their time; others leave from other hosts
	timer := time.NewTimer(h.o.Server.Drain)
	defer timer.Stop()
	select {
	case err := <-failed:
		return err
	case <-timer.C:
	case <-h.stop.hurried.Done():
	}
	return nil
}

// closing ends the connection with each answer while the host is draining, so that
// what comes next goes to another host. Idle connections stay open: a balancer may
// just be sending on one. Upgrades need the header for themselves.
func (h *Host) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.stop.draining.Load() && r.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// shutdown closes the listeners, waits for what is under way, and ends what stands
// behind it.
func (h *Host) shutdown(server *http.Server, admin *telemetry.Admin) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.o.Server.DrainTimeout)
	defer cancel()
	go func() {
		select {
		case <-h.stop.aborted.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := server.Shutdown(ctx)
	switch {
	case h.stop.aborted.Err() != nil:
		_ = server.Close() // what Shutdown says is that it was cut short
		err = ErrAborted
	case errors.Is(err, context.DeadlineExceeded):
		h.o.Logger.Warn("requests were still under way when the time to drain was over", "limit_seconds", h.o.Server.DrainTimeout.Seconds())
		err = server.Close()
	}
	return errors.Join(err, admin.Close(), h.Stop(ctx))
}
