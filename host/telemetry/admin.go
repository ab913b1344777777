package telemetry

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"
)

// An Admin is the listener of the operator's address, which is never public:
// /metrics, /debug/pprof and what else the host shows there. A nil Admin listens
// nowhere.
type Admin struct {
	server   *http.Server
	listener net.Listener
}

// Listen listens on address, host:port. It returns nil for an empty one. The pages
// are by the pattern of an [http.ServeMux].
func (m *Metrics) Listen(address string, pages map[string]http.Handler) (*Admin, error) {
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
	for pattern, page := range pages {
		routes.Handle(pattern, page)
	}
	return &Admin{&http.Server{Handler: ownHost(address, listener.Addr(), routes), ReadHeaderTimeout: 10 * time.Second}, listener}, nil
}

// ownHost refuses requests for another Host than the listener's own address, with
// 421: a page elsewhere could make a name of its own resolve to it.
func ownHost(address string, listening net.Addr, next http.Handler) http.Handler {
	name, _, _ := net.SplitHostPort(address) // listening has shown that it is one
	ip, port, _ := net.SplitHostPort(listening.String())
	own := []string{net.JoinHostPort(name, port), net.JoinHostPort(ip, port)}
	if parsed := net.ParseIP(ip); parsed != nil && parsed.IsLoopback() {
		own = append(own, net.JoinHostPort("localhost", port))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(r.Host)
		if port == "80" && !strings.HasSuffix(host, ":80") {
			host += ":80"
		}
		if !slices.ContainsFunc(own, func(one string) bool { return strings.EqualFold(one, host) }) {
			http.Error(w, "the admin listener answers under its own address only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Serve answers requests until Close.
func (a *Admin) Serve() error { return a.server.Serve(a.listener) }

// Close stops listening, whether or not Serve was called.
func (a *Admin) Close() error {
	if a == nil {
		return nil
	}
	var errs []error
	for _, c := range []io.Closer{a.server, a.listener} { // the server closes the listener as well, once it serves
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
