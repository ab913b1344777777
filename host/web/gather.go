package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Gather makes a server send each block of an answer with one call of the system, and returns the listener to serve on. net/http
// sends the head with the first of 4 KiB apart from the rest, and TLS each record of at most 16 KiB, which begin at one
// packet. A server that does not use it answers alike. Call it before the server is started, whose ConnContext it sets; the
// listener is for TCP.
func Gather(server *http.Server, listener net.Listener) net.Listener {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secure.NetConn()
		}
		return context.WithValue(ctx, gatheredKey{}, c)
	}
	return gatheringListener{listener, new(buffers)}
}

type gatheredKey struct{}

// gatheredOf is the connection of a request to gather on; nil where another server is in front, and with HTTP/2, where
// answers share a connection and have their own goroutine that writes.
func gatheredOf(r *http.Request) *gatheredConn {
	if r.ProtoMajor != 1 {
		return nil
	}
	c, _ := r.Context().Value(gatheredKey{}).(*gatheredConn)
	return c
}

type gatheringListener struct {
	net.Listener
	buffers *buffers
}

func (l gatheringListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	return &gatheredConn{TCPConn: tcp, buffers: l.buffers}, nil
}

// A gatheredConn holds what is written between begin and end.
type gatheredConn struct {
	*net.TCPConn
	buffers *buffers

	mu        sync.Mutex
	gathering bool    // between begin and end
	sending   bool    // end sends, without mu
	held      *[]byte // nil while nothing is held
	late      []byte  // written while end sends
	err       error   // of the first write that failed; the connection is closed
}

const (
	// mostHeld is how much is held at most; what is more is sent in between.
	mostHeld = 64 << 10
	// large is what is sent at once with what is held, instead of being copied.
	large = 32 << 10
	// mostBuffers bounds the memory of all connections, 16 MiB, since one whose client takes nothing keeps what it holds.
	// What is written beyond it is sent as it comes.
	mostBuffers = 256
)

// buffers are the memory of what connections hold, which they have for the time of a call only.
type buffers struct {
	free  sync.Pool // of *[]byte
	taken atomic.Int32
}

// take returns an empty buffer, or nil where all are taken.
func (b *buffers) take() *[]byte {
	if b.taken.Add(1) > mostBuffers {
		b.taken.Add(-1)
		return nil
	}
	if one, ok := b.free.Get().(*[]byte); ok {
		return one
	}
	one := make([]byte, 0, mostHeld)
	return &one
}

func (b *buffers) giveBack(one *[]byte) {
	*one = (*one)[:0]
	b.free.Put(one)
	b.taken.Add(-1)
}

// begin makes writes wait for end.
func (c *gatheredConn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gathering = true
}

// end sends what is held. Whoever closes a connection with TLS writes to it first, as does TLS when the client changes its
// key: they must not wait for a client that takes nothing, and so what they write meanwhile is kept and sent next.
func (c *gatheredConn) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil && c.err == nil {
		c.sending = true
		c.mu.Unlock()
		_, err := c.TCPConn.Write(*c.held)
		c.mu.Lock()
		c.sending = false
		c.failed(err)
	}
	if c.held != nil {
		c.buffers.giveBack(c.held)
	}
	c.held, c.gathering = nil, false
	if c.late != nil && c.err == nil {
		_, err := c.TCPConn.Write(c.late)
		c.failed(err)
	}
	c.late = nil
	return c.err
}

// Write implements net.Conn. What it holds counts as written; where sending it fails, end and each later write say so.
func (c *gatheredConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return 0, c.err
	case !c.gathering:
		return c.TCPConn.Write(p)
	case c.sending:
		c.late = append(c.late, p...)
	case !c.hold(p):
		c.send(p)
	}
	if c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// hold reports whether it holds p. The caller has mu, also that of those below.
func (c *gatheredConn) hold(p []byte) bool {
	if len(p) >= large {
		return false
	}
	if c.held == nil {
		c.held = c.buffers.take()
	}
	if c.held == nil || len(*c.held)+len(p) > mostHeld {
		return false
	}
	*c.held = append(*c.held, p...)
	return true
}

// send sends what is held, and then more.
func (c *gatheredConn) send(more []byte) {
	if c.held == nil {
		_, err := c.TCPConn.Write(more)
		c.failed(err)
		return
	}
	pieces := net.Buffers{*c.held, more}
	_, err := pieces.WriteTo(c.TCPConn)
	c.failed(err)
	c.buffers.giveBack(c.held)
	c.held = nil
}

// failed ends the connection where a write failed, for net/http believes that what was held was sent, and would go on.
func (c *gatheredConn) failed(err error) {
	if err == nil {
		return
	}
	c.err = err
	_ = c.Close()
}
