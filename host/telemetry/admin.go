package telemetry

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// An Admin is the listener of the operator's address, which is never public:
// /metrics and /debug/pprof. A nil Admin listens nowhere.
type Admin struct {
	server   *http.Server
	listener net.Listener
}

// Listen listens on address, host:port. It returns nil for an empty one.
func (m *Metrics) Listen(address string) (*Admin, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on the admin address %s: %w", address, err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", m.Handler())
	routes.HandleFunc("/debug/pprof/", pprof.Index)
	routes.HandleFunc("/debug/pprof/profile", pprof.Profile)
	routes.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	routes.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &Admin{&http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}, listener}, nil
}

// Serve answers requests until Close.
func (a *Admin) Serve() error { return a.server.Serve(a.listener) }

// Close stops listening, whether or not Serve was called.
func (a *Admin) Close() error {
	if a == nil {
		return nil
	}
	err := a.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(a.server.Close(), err)
}
