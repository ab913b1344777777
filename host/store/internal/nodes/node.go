package nodes

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Dial makes a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// A Node is one server.
type Node struct {
	// Open returns what connects to the server. It must dial with the given function.
	Open func(Dial) (driver.Connector, error)
	// Ask reports why the server, over this connection, cannot be used.
	Ask func(context.Context, driver.Conn) error
	// Answered reports whether an error is something that the server said, which
	// shows that it does not hang.
	Answered func(error) bool
	// Timeout bounds one attempt to connect; [DefaultTimeout] when zero.
	Timeout time.Duration
}

// A node also knows the connections that are open to it.
type node struct {
	Node
	tracked driver.Connector // for pools
	own     driver.Connector // for asking

	mu      sync.Mutex
	open    map[*conn]struct{}
	watched bool
}

func newNode(spec Node) (*node, error) {
	n := &node{Node: spec, open: map[*conn]struct{}{}}
	if n.Timeout == 0 {
		n.Timeout = DefaultTimeout
	}
	dialer := &net.Dialer{KeepAlive: 15 * time.Second}
	var err error
	if n.own, err = spec.Open(dialer.DialContext); err != nil {
		return nil, err
	}
	n.tracked, err = spec.Open(func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return n.track(c), nil
	})
	return n, err
}

func (n *node) connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.Timeout)
	defer cancel()
	return n.tracked.Connect(ctx)
}

// A conn leaves its node's list when it is closed.
type conn struct {
	net.Conn
	node  *node
	heard atomic.Bool // something since the node was last asked
}

// Read reads from the server.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err
}

// Close closes the connection.
func (c *conn) Close() error {
	c.node.mu.Lock()
	delete(c.node.open, c)
	c.node.mu.Unlock()
	if err := c.Conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil // by closeAll, which is no fault
}

// SyscallConn is for the driver of MySQL, which looks whether the server has closed a
// connection before it uses it again.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.ENOTSUP
	}
	return raw.SyscallConn()
}

// track keeps the connection, and asks the node as long as there are any.
func (n *node) track(c net.Conn) net.Conn {
	tracked := &conn{Conn: c, node: n}
	tracked.heard.Store(true)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[tracked] = struct{}{}
	if !n.watched {
		n.watched = true
		go n.watch()
	}
	return tracked
}

// closeAll ends whatever waits for the node.
func (n *node) closeAll() { n.closeThose(func(*conn) bool { return true }) }

// closeSilent ends whatever has waited for the node since it was last asked.
func (n *node) closeSilent() { n.closeThose(func(c *conn) bool { return !c.heard.Load() }) }

func (n *node) closeThose(which func(*conn) bool) {
	n.mu.Lock()
	var all []*conn
	for c := range n.open {
		if which(c) {
			all = append(all, c)
			delete(n.open, c)
		}
	}
	n.mu.Unlock()
	for _, c := range all {
		_ = c.Conn.Close()
	}
}
