package host_test

import (
	"context"
	"crypto/tls"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// Alive asks /healthz at the address that the host listens on, over TLS, too, and is an
// error as soon as nobody answers there.
func TestAlive(t *testing.T) {
	other := httptest.NewTLSServer(nil)
	t.Cleanup(other.Close)
	public, err := url.Parse("https://app.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*host.Options)
	}{
		{"loopback", func(*host.Options) {}},
		{"all interfaces", func(o *host.Options) { o.Server.Address, o.Server.PublicURL = ":0", public }},
		{"all interfaces of IPv4", func(o *host.Options) { o.Server.Address, o.Server.PublicURL = "0.0.0.0:0", public }},
		{"TLS", func(o *host.Options) {
			o.Server.LoadTLS = func() (*tls.Certificate, error) { return &other.TLS.Certificates[0], nil }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ready := make(chan struct{})
			o := host.Options{Store: sqliteStore(t)}
			o.Server.Address = "127.0.0.1:0"
			o.Server.OnReady = func(_, _ string) { close(ready) }
			tt.change(&o)
			h, err := host.New(o)
			if err != nil {
				t.Fatal(err)
			}
			if h.Alive(context.Background()) == nil {
				t.Error("a host that does not listen is alive")
			}
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- h.Run(ctx) }()
			<-ready
			asking, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := h.Alive(asking); err != nil {
				t.Error(err)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if h.Alive(context.Background()) == nil {
				t.Error("a host that has stopped is alive")
			}
		})
	}
}
