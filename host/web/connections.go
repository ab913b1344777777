package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

const (
	// filesPerClient is the part of the file descriptors that one client may hold, and
	// filesForClients the part that all clients together may hold: an application behind a
	// proxy needs one more for each request, and databases, plugins and the admin address
	// have others.
	filesPerClient, filesForClients = 8, 2
	// filesForHealth is the part of filesPerClient, and of filesForClients, that /healthz and /readyz have alone:
	// the watchdog and a balancer may ask from the address of a client.
	filesForHealth = 8
	// connectionQuiet is how long after an answer a connection counts as in use: net/http
	// sends the end of the answer when the handler has returned.
	connectionQuiet = 250 * time.Millisecond
)

// connections bounds how many connections clients hold, by the number of file descriptors
// that the process may have. A client at its bound loses the connection that it has not used
// for longest, and where all of them are in use, the new one. Trusted proxies have no bound.
// It is safe for concurrent use.
type connections struct {
	perClient, most      int
	clientHealth, health int // the parts of them for /healthz and /readyz alone
	trusted              []netip.Prefix
	refused              func(client, limit string, why error)

	mu      sync.Mutex
	clients map[string]map[*seat]struct{} // by network
	total   int
}

// newConnections returns the bounds for a process that may have so many files. refused is told
// of each client that reaches one.
func newConnections(files uint64, trusted []netip.Prefix, refused func(client, limit string, why error)) *connections {
	most, perClient := int(min(files, 1<<30))/filesForClients, max(1, int(min(files, 1<<30))/filesPerClient)
	return &connections{
		perClient: perClient, clientHealth: perClient / filesForHealth, most: most, health: max(1, most/filesForHealth),
		trusted: trusted, refused: refused, clients: map[string]map[*seat]struct{}{},
	}
}

// Listen returns the listener to serve on, which bounds the connections of each client by the number of files that the
// process may have. Call it before the server is started: it sets the server's Handler and ConnContext. The listener is
// for TCP.
func (m *Middleware) Listen(server *http.Server, listener net.Listener, files uint64) net.Listener {
	full := m.Wrap(Route{Name: "connections", Kind: Data, Uncounted: true}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.fail(w, r, &fault.Fault{
			Code: fault.Busy, ByHost: true, RetryAfter: time.Second,
			Cause: errors.New("the connection was taken for /healthz and /readyz alone, since the client holds its share, or clients all others"),
		})
	}))
	server.Handler = seated(server.Handler, full)
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secure.NetConn()
		}
		if seated, ok := c.(*seatedConn); ok {
			ctx = context.WithValue(ctx, seatKey{}, seated.seat)
		}
		return ctx
	}
	return seatedListener{listener, newConnections(files, m.site.o.TrustedProxies, m.limits.Refused)}
}

// A seatedListener accepts connections that have a seat, and those of trusted proxies.
type seatedListener struct {
	net.Listener
	connections *connections
}

// Accept implements net.Listener.
func (l seatedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if isFull(err) && l.connections.makeRoom() {
			continue // net/http would wait for up to a second
		}
		if err != nil {
			return nil, err
		}
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			return c, nil
		}
		s, ok := l.connections.take(tcp)
		switch {
		case !ok:
			_ = tcp.Close()
		case s == nil:
			return tcp, nil
		default:
			return &seatedConn{tcp, s}, nil
		}
	}
}

// isFull reports whether the process or the machine has no file descriptor left.
func isFull(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }

// A seatedConn gives its seat back when it is closed.
type seatedConn struct {
	*net.TCPConn
	seat *seat
}

// Close implements net.Conn.
func (c *seatedConn) Close() error {
	c.seat.leave()
	return c.TCPConn.Close()
}

type seatKey struct{}

// A seat is the place that a connection of a client takes.
type seat struct {
	of     *connections
	client string
	conn   net.Conn
	// health is set where only /healthz and /readyz are answered.
	health bool
	// under is how many requests are under way, and idle since when there is none, in
	// nanoseconds since 1970.
	under, idle atomic.Int64
}

// take returns a seat for a connection, nil for that of a trusted proxy. There is none for it
// where ok is false.
func (c *connections) take(conn net.Conn) (s *seat, ok bool) {
	remote := conn.RemoteAddr().String()
	addr, known := parseAddr(remote)
	if !known || contains(c.trusted, addr) {
		return nil, true
	}
	_, client := ClientOf(remote, nil, nil)
	s = &seat{of: c, client: client, conn: conn}
	s.idle.Store(time.Now().UnixNano())
	var closed []*seat
	c.mu.Lock()
	defer func() {
		c.mu.Unlock()
		for _, one := range closed {
			_ = one.conn.Close()
		}
		if !ok || len(closed) > 0 {
			c.refused(client, connectionsLimit, fmt.Errorf("the client has %d connections and the host room for %d", c.perClient, c.most))
		}
	}()
	for len(c.clients[client]) >= c.perClient-c.clientHealth && !s.health {
		dropped := c.dropOldest(client)
		closed, s.health = append(closed, dropped...), dropped == nil
	}
	if len(c.clients[client]) >= c.perClient {
		return nil, false
	}
	if c.total >= c.most-c.health {
		closed = append(closed, c.dropAnywhere()...)
		s.health = s.health || c.total >= c.most-c.health
	}
	if c.total >= c.most {
		return nil, false
	}
	if c.clients[client] == nil {
		c.clients[client] = map[*seat]struct{}{}
	}
	c.clients[client][s] = struct{}{}
	c.total++
	return s, true
}

// dropOldest gives back the seats of some clients that have not been used for longest, one in
// 64 of them at least, so that looking for them costs little for each. It returns those whose
// connections are to be closed, nil where all are in use. The caller has mu, also that of
// those below.
func (c *connections) dropOldest(clients ...string) []*seat {
	var unused []*seat
	now, all := time.Now(), 0
	for _, client := range clients {
		for s := range c.clients[client] {
			if all++; s.unused(now) {
				unused = append(unused, s)
			}
		}
	}
	slices.SortFunc(unused, func(a, b *seat) int { return cmp.Compare(a.idle.Load(), b.idle.Load()) })
	unused = unused[:min(len(unused), 1+all/64)]
	for _, s := range unused {
		c.giveBack(s)
	}
	return unused
}

// dropAnywhere is dropOldest of all clients.
func (c *connections) dropAnywhere() []*seat {
	return c.dropOldest(slices.Collect(maps.Keys(c.clients))...)
}

// makeRoom closes connections that nobody uses, and reports whether there was one.
func (c *connections) makeRoom() bool {
	c.mu.Lock()
	closed := c.dropAnywhere()
	c.mu.Unlock()
	for _, s := range closed {
		_ = s.conn.Close()
	}
	return len(closed) > 0
}

func (c *connections) giveBack(s *seat) {
	seats := c.clients[s.client]
	if _, there := seats[s]; !there {
		return
	}
	delete(seats, s)
	c.total--
	if len(seats) == 0 {
		delete(c.clients, s.client)
	}
}

// leave gives the seat back. It may be called more than once.
func (s *seat) leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.giveBack(s)
}

// unused reports whether no request is under way, nor the end of an answer.
func (s *seat) unused(now time.Time) bool {
	return s.under.Load() == 0 && now.UnixNano() >= s.idle.Load()
}

// seated notes which connections are in use. A connection that was taken for health checks alone
// is refused everything else.
func seated(next, refuse http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := r.Context().Value(seatKey{}).(*seat)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		s.under.Add(1)
		defer func() {
			s.idle.Store(time.Now().Add(connectionQuiet).UnixNano())
			s.under.Add(-1)
		}()
		if s.health && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			w.Header().Set("Connection", "close")
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
