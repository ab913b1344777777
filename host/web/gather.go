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

	mu        sync.Mutex
	gathering bool    // between begin and end
	sending   bool    // end sends, without mu
	held      *[]byte // nil while nothing is held
	err       error   // of the first write that failed; the connection is closed
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
	c.gathering = true
}

// end sends what is held. Whoever closes a connection with TLS writes to it first, as does TLS when the client changes its
// key: they must not wait for a client that takes nothing, and so end holds what they write meanwhile and sends it next.
func (c *gatheredConn) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.held != nil && c.err == nil {
		held := c.held
		c.held, c.sending = nil, true
		c.mu.Unlock()
		_, err := c.TCPConn.Write(*held)
		c.giveBack(held)
		c.mu.Lock()
		c.sending = false
		c.failed(err)
	}
	c.gathering = false
	return c.err
}

// Write implements net.Conn. What it holds counts as written; where sending it fails, end and each later write say so.
func (c *gatheredConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if !c.gathering {
		return c.TCPConn.Write(p)
	}
	if c.sending || len(p) < large && c.holds()+len(p) <= mostHeld {
		c.hold(p)
		return len(p), nil
	}
	if err := c.send(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *gatheredConn) holds() int {
	if c.held == nil {
		return 0
	}
	return len(*c.held)
}

func (c *gatheredConn) hold(p []byte) {
	if c.held == nil {
		c.held = c.buffers.Get().(*[]byte)
	}
	*c.held = append(*c.held, p...)
}

func (c *gatheredConn) giveBack(held *[]byte) {
	*held = (*held)[:0]
	c.buffers.Put(held)
}

// send sends what is held, and then more, of which there is some. The caller holds mu.
func (c *gatheredConn) send(more []byte) (err error) {
	if c.held == nil {
		_, err = c.TCPConn.Write(more)
	} else {
		pieces := net.Buffers{*c.held, more}
		_, err = pieces.WriteTo(c.TCPConn)
		c.giveBack(c.held)
		c.held = nil
	}
	c.failed(err)
	return c.err
}

// failed ends the connection where a write failed, for net/http believes that what was held was sent, and would go on.
func (c *gatheredConn) failed(err error) {
	if err == nil {
		return
	}
	c.err = err
	_ = c.Close()
}
