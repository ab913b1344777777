package odata_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// TestSpoolGoesByClient holds that room for an answer that is not read is that of its client: one without room waits with
// its rows open, another one's rows are closed before it reads, and all room is given back in the end.
func TestSpoolGoesByClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Int64
		source := &numbers{total: 5000, padding: 1000}
		s := service(t, source, func(o *odata.Options, _ *edm.Model) {
			o.SlowReader = odata.Unlimited
			o.Caller = func(_ http.ResponseWriter, r *http.Request) (odata.Caller, error) {
				return odata.Caller{Client: r.Header.Get("Client")}, nil
			}
			o.Spool = func(c odata.Caller) func() {
				if c.Client == "full" {
					return nil
				}
				held.Add(1)
				return func() { held.Add(-1) }
			}
		})
		ask := func(client string) (w *unread, done chan struct{}) {
			r := httptest.NewRequest("GET", "/odata/Numbers?$top=500", nil)
			r.Header.Set("Client", client)
			w, done = &unread{ResponseRecorder: httptest.NewRecorder()}, make(chan struct{})
			go func() { defer close(done); breaks(func() { s.ServeHTTP(w, r) }) }()
			return w, done
		}
		_, full := ask("full")
		time.Sleep(time.Second)
		if n := source.opened.Load() - source.closed.Load(); n != 1 {
			t.Errorf("%d answers without room hold their rows, want 1", n)
		}
		_, other := ask("other")
		time.Sleep(time.Second)
		if n := source.opened.Load() - source.closed.Load(); n != 1 || held.Load() < 5 {
			t.Errorf("%d answers hold their rows, want that of the client without room; %d blocks are held", n, held.Load())
		}
		<-full // nobody reads: both end at the deadline for a block
		<-other
		if held.Load() != 0 {
			t.Errorf("%d blocks were not given back", held.Load())
		}
	})
}
