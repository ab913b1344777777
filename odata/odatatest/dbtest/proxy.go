package dbtest

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Proxy stands between a program and a server, so that the server can hang, go away
// and come back without anything being done to it. It is safe for concurrent use.
type Proxy struct {
	listener        net.Listener
	network, server string

	mu       sync.Mutex
	frozen   chan struct{} // closed while bytes flow
	muted    bool          // frozen holds for what servers say alone
	flows    chan struct{} // closed
	stranded chan struct{} // closed when the test ends
	down     bool
	conns    map[net.Conn]proxied
}

// proxied is the state of a connection.
type proxied struct{ stranded, server bool }

// NewProxy returns a proxy on a loopback port in front of a server's address. It ends
// with the test.
func NewProxy(t testing.TB, network, server string) *Proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, network: network, server: server, frozen: make(chan struct{}), flows: make(chan struct{}), stranded: make(chan struct{}), conns: map[net.Conn]proxied{}}
	close(p.frozen)
	close(p.flows)
	go p.serve()
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
		p.Thaw()
		close(p.stranded)
	})
	return p
}

// BehindProxy is [Postgres], or with the driver mysql [MySQL], with a proxy in front of the
// server, which the data source name names.
func BehindProxy(t testing.TB, driver string) (*Proxy, string) {
	t.Helper()
	if driver == "mysql" {
		return behind(t, MySQL(t))
	}
	return behind(t, Postgres(t))
}

// behind returns a proxy in front of a server with a unix socket, and the data source name of
// a database there through the proxy.
func behind(t testing.TB, dsn string) (*Proxy, string) {
	t.Helper()
	if head, rest, ok := strings.Cut(dsn, "unix("); ok {
		socket, rest, _ := strings.Cut(rest, ")")
		proxy := NewProxy(t, "unix", socket)
		return proxy, head + "tcp(" + proxy.Address() + ")" + rest
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	proxy := NewProxy(t, "unix", filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port")))
	return proxy, "postgres://postgres@" + proxy.Address() + u.Path + "?sslmode=disable"
}

// Twin returns another proxy in front of the same server.
func (p *Proxy) Twin(t testing.TB) *Proxy {
	t.Helper()
	return NewProxy(t, p.network, p.server)
}

// Address is host:port of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Freeze lets nothing pass any more: connections stay open, new ones are taken, and
// nobody answers.
func (p *Proxy) Freeze() { p.hold(false) }

// Mute lets nothing pass that servers say. Requests to servers arrive.
func (p *Proxy) Mute() { p.hold(true) }

func (p *Proxy) hold(muted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.muted = muted
	select {
	case <-p.frozen:
		p.frozen = make(chan struct{})
	default:
	}
}

// Thaw ends Freeze and Mute: what was held back arrives now.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.frozen:
	default:
		close(p.frozen)
	}
}

// Strand lets nothing pass on the connections that are open, as a firewall does that has
// forgotten them. New ones work.
func (p *Proxy) Strand() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, state := range p.conns {
		state.stranded = true
		p.conns[c] = state
	}
}

// Cut breaks all connections, and closes new ones at once until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
	}
}

// Restore ends Cut.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

func (p *Proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.pass(c)
	}
}

func (p *Proxy) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	if !p.keep(client, false) {
		return
	}
	defer p.leave(client)
	<-p.flowing(client)
	server, err := new(net.Dialer).DialContext(context.Background(), p.network, p.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !p.keep(server, true) {
		return
	}
	defer p.leave(server)
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			p.copy(way[1], way[0])
			ended <- struct{}{}
		}()
	}
	<-ended // the other way ends when both are closed
}

func (p *Proxy) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		<-p.flowing(from)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) flowing(c net.Conn) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state := p.conns[c]; {
	case state.stranded:
		return p.stranded
	case p.muted && !state.server:
		return p.flows
	}
	return p.frozen
}

// keep reports whether connections may be open.
func (p *Proxy) keep(c net.Conn, server bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.conns[c] = proxied{server: server}
	}
	return !p.down
}

func (p *Proxy) leave(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}
