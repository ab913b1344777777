package web

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Gather makes a server send each block of an answer with one call of the system, and returns the listener to serve on. net/http
// sends the head with the first of 4 KiB apart from the rest, and TLS each record of at most 16 KiB, which begin at one
// packet. A server that does not use it answers alike. Call it before the server is started; the listener is for TCP.
func Gather(server *http.Server, listener net.Listener) net.Listener {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secure.NetConn()
		}
		return context.WithValue(ctx, gatheredKey{}, c)
	}
	return gatheringListener{listener, &sync.Pool{New: func() any { b := make([]byte, 0, mostHeld); return &b }}}
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
	// buffers are the memory of what connections hold, which they have for the time of a call only.
	buffers *sync.Pool
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
	buffers *sync.Pool // of *[]byte

	mu   sync.Mutex
	held *[]byte // nil outside begin and end
	err  error   // of the first write that failed; the connection is closed
}

const (
	// mostHeld is how much is held at most; what is more is sent in between.
	mostHeld = 64 << 10
	// large is what is sent at once with what is held, instead of being copied.
	large = 32 << 10
)

// begin makes writes wait for end.
func (c *gatheredConn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = c.buffers.Get().(*[]byte)
	}
}

// end sends what is held.
func (c *gatheredConn) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return nil
	}
	err := c.send(nil)
	c.buffers.Put(c.held)
	c.held = nil
	return err
}

// Write implements net.Conn. What it holds counts as written; where sending it fails, end and each later write say so.
func (c *gatheredConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.held == nil {
		return c.TCPConn.Write(p)
	}
	if len(p) < large && len(*c.held)+len(p) <= mostHeld {
		*c.held = append(*c.held, p...)
		return len(p), nil
	}
	if err := c.send(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// send sends what is held, and then more. The caller holds mu.
func (c *gatheredConn) send(more []byte) error {
	held := *c.held
	*c.held = held[:0]
	if c.err != nil {
		return c.err
	}
	switch {
	case len(more) == 0 && len(held) == 0:
	case len(more) == 0:
		_, c.err = c.TCPConn.Write(held)
	case len(held) == 0:
		_, c.err = c.TCPConn.Write(more)
	default:
		pieces := net.Buffers{held, more}
		_, c.err = pieces.WriteTo(c.TCPConn)
	}
	if c.err != nil {
		_ = c.Close() // net/http believes that it sent what was held, and would go on
	}
	return c.err
}
