package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// Run starts the host, listens, and serves until ctx ends; then it drains for
// Server.Drain, see [Host.Hurry], lets requests under way finish, stops the plugins
// and closes the store.
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
	h.site.SetListening(listener.Addr().String())
	admin, err := h.metrics.Listen(h.o.Server.AdminAddress, map[string]http.Handler{"GET " + pluginsPath: http.HandlerFunc(h.showPlugins)})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := h.Start(ctx); err != nil {
		return errors.Join(err, listener.Close(), admin.Close())
	}
	server := h.server(h.closing(handler))
	failed := make(chan error, 2)
	go func() { failed <- h.serve(server, listener) }()
	if admin != nil {
		go func() { failed <- admin.Serve() }()
	}
	if h.o.Server.OnReady != nil {
		h.o.Server.OnReady(h.site.LinkBase())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = h.drain(failed)
	}
	return errors.Join(err, h.shutdown(server, admin))
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
	listener = web.Gather(server, listener)
	if h.o.Server.LoadTLS == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: h.tls.get}
	return server.ServeTLS(listener, "", "")
}

// Reload replaces what may change while serving: plugins, the front-end app and
// the TLS certificate. What cannot be replaced stays as it was, and the error
// names it with the reason; the rest of o is ignored.
func (h *Host) Reload(ctx context.Context, o Options) error {
	o = o.withDefaults()
	expectPlugins(h.metrics, o.Plugins)
	app, err := openApp(o)
	if err == nil {
		h.screens.SetApp(app)
	}
	errs := []error{err, h.tls.load(o.Server.LoadTLS), h.plugins.Reload(ctx, o.Plugins)}
	for i, what := range []string{reloadApp, reloadTLS, reloadPlugins} {
		h.metrics.Reload(what, errs[i])
	}
	err = errors.Join(errs...)
	h.metrics.Reload(reloadConfig, err)
	return err
}

// ReloadRefused counts a reload that came to nothing because the configuration is
// wrong; err says why.
func (h *Host) ReloadRefused(err error) { h.metrics.Reload(reloadConfig, err) }

// A certificate can be replaced while connections use it.
type certificate struct {
	current  atomic.Pointer[tls.Certificate]
	notAfter atomic.Pointer[time.Time]
}

func (c *certificate) load(load func() (*tls.Certificate, error)) error {
	if load == nil {
		return nil
	}
	cert, err := load()
	if err != nil {
		return fmt.Errorf("load the TLS certificate: %w", err)
	}
	end, err := firstEnd(cert)
	if err != nil {
		return fmt.Errorf("load the TLS certificate: %w", err)
	}
	c.current.Store(cert)
	c.notAfter.Store(&end)
	return nil
}

// firstEnd is when the first certificate of a chain ceases to be valid.
func firstEnd(chain *tls.Certificate) (end time.Time, err error) {
	for i, der := range chain.Certificate {
		one, err := x509.ParseCertificate(der)
		if err != nil {
			return end, err
		}
		if i == 0 || one.NotAfter.Before(end) {
			end = one.NotAfter
		}
	}
	return end, nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}
