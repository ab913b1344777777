package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/route"
)

// Handler returns everything as one handler, for a program that listens by
// itself and has no router of its own. Call Start before the first request.
func (h *Host) Handler() (http.Handler, error) {
	// Not cleaned by the router, whose redirects would lack our headers.
	router := mux.NewRouter().SkipClean(true)
	if err := h.register(router); err != nil {
		return nil, err
	}
	missing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound})
	})
	router.NotFoundHandler = h.wrap("not-found", data, missing)
	// The router cleans paths before it matches them, and OData keys may hold
	// slashes: its requests never reach the router.
	service := router.NotFoundHandler
	if h.odata != nil {
		service = h.wrap("odata", data, h.odataHandler())
	}
	tidy := h.wrap("tidy", page, h.only("GET", http.HandlerFunc(route.Tidy)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/odata/"):
			service.ServeHTTP(w, r)
		case r.URL.Path != route.Clean(r.URL.Path):
			tidy.ServeHTTP(w, r)
		default:
			router.ServeHTTP(w, r)
		}
	}), nil
}

// Run starts the host, listens, and serves until ctx ends; then it lets requests
// under way finish, stops the plugins and closes the store.
func (h *Host) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, h.closeSource(), h.o.Store.Close()) }()
	handler, err := h.Handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", h.o.Server.Address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w: is another program using the port?", h.o.Server.Address, err)
	}
	address := listener.Addr().String()
	h.listening.Store(&address)
	admin, err := h.listenAdmin()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := h.Start(ctx); err != nil {
		return errors.Join(err, listener.Close(), admin.close())
	}
	server := h.server(handler)
	failed := make(chan error, 2)
	go func() { failed <- h.serve(server, listener) }()
	if admin != nil {
		go func() { failed <- admin.server.Serve(admin.listener) }()
	}
	if h.o.Server.OnReady != nil {
		h.o.Server.OnReady(h.linkBase())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	return errors.Join(err, h.drain(server, admin))
}

// closeSource closes the query endpoint's source where it has connections of its
// own.
func (h *Host) closeSource() error {
	if h.o.OData == nil {
		return nil
	}
	if c, ok := h.o.OData.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// server has limits for slow and large heads; bodies are limited by who reads
// them, since an application behind a proxy route may take long ones.
func (h *Host) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: h.o.Logger.Named("http").StandardLogger(nil),
	}
}

func (h *Host) serve(server *http.Server, listener net.Listener) error {
	if h.o.Server.LoadTLS == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: h.tls.get}
	return server.ServeTLS(listener, "", "")
}

// drain ends the servers and then what stands behind them.
func (h *Host) drain(server *http.Server, admin *adminServer) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.o.Server.DrainTimeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		h.o.Logger.Warn("requests were still under way when the time to drain was over", "limit", h.o.Server.DrainTimeout)
		err = server.Close()
	}
	return errors.Join(err, admin.close(), h.Stop(ctx))
}

// Reload replaces what may change while serving: plugins, the front-end app and
// the TLS certificate. What cannot be replaced stays as it was, and the error
// says why; the rest of o is ignored.
func (h *Host) Reload(ctx context.Context, o Options) error {
	o = o.withDefaults()
	var errs []error
	if app, err := openApp(o); err != nil {
		errs = append(errs, err)
	} else {
		h.app.Store(app)
	}
	errs = append(errs, h.tls.load(o.Server.LoadTLS), h.plugins.Reload(ctx, o.Plugins))
	return errors.Join(errs...)
}

// An adminServer is the operator's address: never public.
type adminServer struct {
	server   *http.Server
	listener net.Listener
}

func (a *adminServer) close() error {
	if a == nil {
		return nil
	}
	return errors.Join(a.server.Close(), ignoreClosed(a.listener.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (h *Host) listenAdmin() (*adminServer, error) {
	if h.o.Server.AdminAddress == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", h.o.Server.AdminAddress)
	if err != nil {
		return nil, fmt.Errorf("listen on the admin address %s: %w", h.o.Server.AdminAddress, err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", h.metrics.Handler())
	routes.HandleFunc("/debug/pprof/", pprof.Index)
	routes.HandleFunc("/debug/pprof/profile", pprof.Profile)
	routes.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	routes.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &adminServer{&http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}, listener}, nil
}

// A certificate can be replaced while connections use it.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
}

func (c *certificate) load(load func() (*tls.Certificate, error)) error {
	if load == nil {
		return nil
	}
	cert, err := load()
	if err != nil {
		return fmt.Errorf("load the TLS certificate: %w", err)
	}
	c.current.Store(cert)
	return nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}
