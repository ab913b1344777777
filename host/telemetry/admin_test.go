package telemetry_test

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// A page elsewhere cannot read metrics through a name that it makes resolve here.
func TestAdminAnswersItsOwnHostOnly(t *testing.T) {
	address := freeAddress(t)
	admin, err := telemetry.New().Listen(address, map[string]http.Handler{"GET /plugins": http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = admin.Serve() }()
	t.Cleanup(func() { _ = admin.Close() })
	_, port, _ := net.SplitHostPort(address)
	for host, want := range map[string]int{
		address: 200, "localhost:" + port: 200, "LOCALHOST:" + port: 200,
		"evil.example:" + port: 421, "evil.example": 421, "127.0.0.1": 421, "127.0.0.1:1": 421, "127.0.0.1.evil.example:" + port: 421,
	} {
		for _, path := range []string{"/metrics", "/debug/pprof/"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s of %s: %d, want %d", path, host, resp.StatusCode, want)
			}
		}
	}
}

// Closing is no error, whether or not anything was served.
func TestAdminCloses(t *testing.T) {
	for name, serve := range map[string]bool{"listening": false, "serving": true} {
		t.Run(name, func(t *testing.T) {
			address := freeAddress(t)
			admin, err := telemetry.New().Listen(address, nil)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			if serve {
				go func() { ended <- admin.Serve() }()
				resp, err := http.Get("http://" + address + "/metrics")
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
			}
			if err := admin.Close(); err != nil {
				t.Error(err)
			}
			if serve {
				<-ended
			}
		})
	}
}

// A lateListener needs a second to notice that it was closed.
type lateListener struct {
	net.Listener // nil: there is no network here
	closed       chan struct{}
}

func (l lateListener) Accept() (net.Conn, error) {
	<-l.closed
	time.Sleep(time.Second)
	return nil, net.ErrClosed
}

func (l lateListener) Close() error {
	select {
	case <-l.closed:
		return net.ErrClosed
	default:
		close(l.closed)
		return nil
	}
}

// Closing is no error either while the server has not noticed yet that its listener is
// closed, and closes it once more.
func TestAdminClosesBeforeTheServerNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		admin, ended := telemetry.AdminOn(lateListener{closed: make(chan struct{})}), make(chan error, 1)
		go func() { ended <- admin.Serve() }()
		synctest.Wait()
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving ended with %v", err)
		}
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = probe.Close() }()
	return probe.Addr().String()
}
