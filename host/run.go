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
	"syscall"
	"time"
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
	listener = h.middleware.Listen(server, listener, openFiles())
	failed := make(chan error, 2)
	go func() { failed <- h.serve(server, listener) }()
	if admin != nil {
		go func() { failed <- admin.Serve() }()
	}
	if h.o.Server.OnReady != nil {
		h.o.Server.OnReady(h.site.Listening(), h.site.LinkBase())
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
	if h.o.Server.LoadTLS == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: h.tls.get}
	return server.ServeTLS(listener, "", "")
}

// openFiles returns how many file descriptors the process may have.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return limit.Cur
}

// A certificate can be replaced while connections use it.
type certificate struct {
	atomic.Pointer[loadedCertificate]
}

// open reads the certificate and serves it from then on.
func (c *certificate) open(load func() (*tls.Certificate, error)) error {
	next, err := readCertificate(load)
	if err == nil && next != nil {
		c.Store(next)
	}
	return err
}

// A loadedCertificate is a certificate that can be served, and its end.
type loadedCertificate struct {
	chain *tls.Certificate
	end   time.Time
}

// readCertificate returns nil where there is nothing to load.
func readCertificate(load func() (*tls.Certificate, error)) (*loadedCertificate, error) {
	if load == nil {
		return nil, nil
	}
	chain, err := load()
	if err != nil {
		return nil, fmt.Errorf("load the TLS certificate: %w", err)
	}
	end, err := firstEnd(chain)
	if err != nil {
		return nil, fmt.Errorf("load the TLS certificate: %w", err)
	}
	return &loadedCertificate{chain, end}, nil
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
	return c.Load().chain, nil
}
