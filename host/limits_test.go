package host_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A sorting source works for ever on the sets "Slow" and "Mine", and answers others
// at once.
type sorting struct{ begun chan string }

func (s sorting) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	if p.Top.Set.Name == "Numbers" {
		return nil, plan.Errorf(plan.NotFound, -1, "answered")
	}
	s.begun <- p.Top.Set.Name
	<-ctx.Done()
	return nil, plan.Errorf(plan.Unavailable, -1, "gone")
}

// limited serves a site whose source sorts; addresses are those that a test sends.
func limited(t *testing.T, change func(*host.Options)) (*testSite, sorting) {
	t.Helper()
	id := &edm.Property{Name: "ID", Type: edm.Of(edm.Int64)}
	typ := &edm.EntityType{Name: "Number", Key: []*edm.Property{id}, Properties: []*edm.Property{id}}
	model := &odata.Model{Namespace: "Demo", Container: "Container", Guard: edm.GuardNone, Types: []*edm.EntityType{typ}, Sets: []*edm.EntitySet{
		{Name: "Slow", Type: typ, Guard: edm.GuardNone}, {Name: "Numbers", Type: typ, Guard: edm.GuardNone}, {Name: "Mine", Type: typ, Guard: edm.GuardSession},
	}}
	source := sorting{make(chan string)}
	return newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		o.OData = &host.ODataOptions{Model: model, Source: source}
		change(o)
	}), source
}

// occupy lets n requests for a set begin that do not end before the test.
func occupy(t *testing.T, b *browser, source sorting, set, address string, n int) {
	t.Helper()
	for range n {
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), "GET", b.base+"/odata/"+set, nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("X-Forwarded-For", address)
			if res, err := b.Do(req); err == nil {
				_ = res.Body.Close()
			}
		}()
		<-source.begun
	}
}

// Four clients with an unindexed sort kept a page of another one waiting for 29 s.
func TestSortsOfOneClientLeaveRoomForOthers(t *testing.T) {
	s, source := limited(t, func(o *host.Options) {
		o.OData.Connections, o.OData.Concurrent, o.Limits.Wait = 4, 2, 500*time.Millisecond
	})
	b := s.browser(t)
	occupy(t, b, source, "Slow", "192.0.2.1", 2)
	page := func(address string) answer { return b.get("/odata/Numbers", "X-Forwarded-For", address) }
	a := page("192.0.2.1")
	if a.StatusCode != 429 || a.Header.Get("Retry-After") != "1" || !strings.Contains(a.body, `"code":"busy"`) ||
		!strings.Contains(a.body, "odata.limits.concurrent is 2") {
		t.Errorf("beyond its share: %d %v %s", a.StatusCode, a.Header, a.body)
	}
	part := b.do("POST", "/odata/$batch", "application/json", `{"requests":[{"id":"1","method":"GET","url":"Numbers"}]}`, "X-Forwarded-For", "192.0.2.1")
	if part.StatusCode != 200 || !strings.Contains(part.body, `"status":429`) || !strings.Contains(strings.ToLower(part.body), `"retry-after":"1"`) {
		t.Errorf("a part of a batch: %d %s", part.StatusCode, part.body)
	}
	if a := page("192.0.2.2"); a.StatusCode != 404 { // the status of the source
		t.Errorf("another client: %d %s", a.StatusCode, a.body)
	}
	occupy(t, b, source, "Slow", "2001:db8::1", 1)
	occupy(t, b, source, "Slow", "2001:db8::2", 1) // one client: the same /64
	if a := page("192.0.2.2"); a.StatusCode != 503 || a.Header.Get("Retry-After") != "1" ||
		!strings.Contains(a.body, `"code":"busy"`) || !strings.Contains(a.body, "odata.database.max_connections is 4") {
		t.Errorf("all connections in use: %d %s", a.StatusCode, a.body)
	}
	b.get("/readyz").want(t, 200, "")
	if n := strings.Count(s.log.String(), "limit=odata.limits.concurrent"); n != 1 {
		t.Errorf("%d lines of two refusals within a minute", n)
	}
}

// What one client has under way is bounded: by address, or by user who is signed in.
func TestRequestsPerClient(t *testing.T) {
	s, source := limited(t, func(o *host.Options) { o.Limits.RequestsPerClient, o.Limits.Wait = 2, 500*time.Millisecond })
	guest, ada := s.browser(t), s.browser(t)
	ada.login(adaEmail, adaPassword, false).want(t, 200, "")
	occupy(t, guest, source, "Slow", "192.0.2.1", 2)
	a := guest.get("/auth/bootstrap", "X-Forwarded-For", "192.0.2.1")
	a.want(t, 429, "busy")
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	guest.get("/auth/bootstrap", "X-Forwarded-For", "192.0.2.2").want(t, 200, "")
	ada.get("/auth/bootstrap", "X-Forwarded-For", "192.0.2.1").want(t, 200, "")
	for _, path := range []string{"/readyz", "/healthz"} {
		guest.get(path, "X-Forwarded-For", "192.0.2.1").want(t, 200, "")
	}
	occupy(t, ada, source, "Mine", "192.0.2.3", 1)
	occupy(t, ada, source, "Mine", "192.0.2.4", 1)
	ada.get("/auth/bootstrap", "X-Forwarded-For", "192.0.2.5").want(t, 429, "busy")
}

// One client may have 256 WebSockets, which is the default; the next one is 429, and
// others open theirs. One that is closed makes room.
func TestUpgradesPerClient(t *testing.T) {
	s := withProxies(t, sockets(t), func(o *host.Options) { o.Limits.Wait = 500 * time.Millisecond })
	ada, guest := s.signedIn(t), s.browser(t)
	var open []*websocket.Conn
	for range 256 {
		c, err := ada.dial("/app/ws", s.URL)
		if err != nil {
			t.Fatalf("after %d: %v", len(open), err)
		}
		defer func() { _ = c.Close() }()
		open = append(open, c)
	}
	const head = " HTTP/1.1\nHost: $HOST\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nOrigin: "
	for range 3 {
		resp, body := s.raw(t, "GET /app/ws"+head+s.URL+"\nCookie: "+sessionName+"="+ada.cookie(sessionName)+"\n\n")
		if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" || !strings.Contains(body, `"busy"`) {
			t.Errorf("one more: %s %v %s", resp.Status, resp.Header, body)
		}
	}
	if n := strings.Count(s.log.String(), "limit=limits.upgrades_per_client"); n != 1 || !strings.Contains(s.log.String(), "256 under way") {
		t.Errorf("%d lines of three refusals", n)
	}
	c, err := guest.dial("/open/ws", s.URL)
	if err != nil {
		t.Fatal("another client: ", err)
	}
	_ = c.Close()
	_ = open[0].Close()
	for { // the application ends its side in its own time
		c, err := ada.dial("/app/ws", s.URL)
		if err == nil {
			_ = c.Close()
			return
		}
	}
}

// A session may end while a request of it waits for its turn.
func TestSessionThatEndsDuringAWait(t *testing.T) {
	s, source := limited(t, func(o *host.Options) { o.Limits.RequestsPerClient, o.Limits.Wait = 1, time.Minute })
	ada := s.browser(t)
	ada.login(adaEmail, adaPassword, false).want(t, 200, "")
	ctx, finish := context.WithCancel(t.Context())
	slow, err := http.NewRequestWithContext(ctx, "GET", ada.base+"/odata/Slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if res, err := ada.Do(slow); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-source.begun
	waited := make(chan answer)
	go func() { waited <- ada.get("/auth/intents/current") }()
	time.Sleep(500 * time.Millisecond) // until it waits
	if err := s.admin.RevokeUser(t.Context(), adaEmail); err != nil {
		t.Fatal(err)
	}
	finish()
	a := <-waited
	a.want(t, 401, "unauthenticated")
}
