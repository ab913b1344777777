package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// Alive returns nil if /healthz of the host answers at the address that Run listens on. It
// asks over a connection of its own, so that accepting connections is tried, too.
func (h *Host) Alive(ctx context.Context) error {
	listening := h.site.ListeningAddress()
	if listening == "" {
		return errors.New("the host does not listen yet")
	}
	scheme := "http://"
	if h.o.Server.LoadTLS != nil {
		scheme = "https://"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+ownAddress(listening)+"/healthz", nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		// The certificate names the site, and here nobody but this process answers.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("ask /healthz: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask /healthz: %s", resp.Status)
	}
	return nil
}

// ownAddress returns the address under which this machine reaches one that is listened on: for all
// interfaces the loopback one.
func ownAddress(listening string) string {
	at, err := netip.ParseAddrPort(listening)
	if err != nil || !at.Addr().IsUnspecified() {
		return listening
	}
	if at.Addr().Is4() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(at.Port()))
	}
	return net.JoinHostPort("::1", fmt.Sprint(at.Port()))
}
