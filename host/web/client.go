package web

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
)

// ClientOf returns the address that a request came from: that of the socket,
// unless it is a trusted proxy; then X-Forwarded-For from the right over trusted
// hops. The network is what is to be counted as one client, for IPv6 a /64.
func ClientOf(remote string, forwarded []string, trusted []netip.Prefix) (address, network string) {
	addr, ok := parseAddr(remote)
	if !ok {
		return remote, remote
	}
	var hops []string
	if contains(trusted, addr) {
		hops = strings.Split(strings.Join(forwarded, ","), ",")
	}
	for i := len(hops) - 1; i >= 0 && contains(trusted, addr); i-- {
		next, ok := parseAddr(strings.TrimSpace(hops[i]))
		if !ok {
			break // a sender that is not trusted wrote what is further left
		}
		addr = next
	}
	if addr.Is6() {
		prefix, err := addr.Prefix(64)
		if err == nil {
			return addr.String(), prefix.String()
		}
	}
	address = addr.String()
	return address, address
}

func parseAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone(""), err == nil
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// IsNavigation reports whether a browser goes to a page, rather than a script or a
// program asking: by Sec-Fetch-Mode, and without that header by an Accept that names
// text/html with another weight than 0.
func IsNavigation(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return header.ParseAccept(r.Header.Values("Accept")).Names("text/html")
}
