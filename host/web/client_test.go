package web_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// Whatever the header says, the address is that of the socket or one that the
// header names, and the header of a sender that is not trusted changes nothing.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{"", "203.0.113.1", "1.1.1.1, 203.0.113.1", "2001:db8::1", "[2001:db8::1]:80", "::ffff:1.2.3.4", "x,,y", "fe80::1%eth0"} {
		f.Add("127.0.0.1:1234", seed)
		f.Add("[2001:db8::9]:1", seed)
	}
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	f.Fuzz(func(t *testing.T, remote, header string) {
		direct, _ := web.ClientOf(remote, nil, nil)
		if got, _ := web.ClientOf(remote, []string{header}, nil); got != direct {
			t.Errorf("an untrusted header made %q of %q", got, direct)
		}
		address, network := web.ClientOf(remote, []string{header}, trusted)
		if address == direct {
			return
		}
		a, err := netip.ParseAddr(address)
		if err != nil {
			t.Fatalf("address %q: %v", address, err)
		}
		if a.Is6() != strings.HasSuffix(network, "/64") {
			t.Errorf("network %q of %q", network, address)
		}
	})
}
