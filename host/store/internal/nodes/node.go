package nodes

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// How often a node in use is asked, how long it may take to answer, and after how many
// misses its connections are closed.
const (
	askEvery  = time.Second
	askLimit  = time.Second
	maxMisses = 2
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
	node *node
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
	tracked := &conn{c, n}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[tracked] = struct{}{}
	if !n.watched {
		n.watched = true
		go n.watch()
	}
	return tracked
}

// watch asks the node every second, and again at once after the first miss, until no
// connection is open.
func (n *node) watch() {
	var own driver.Conn
	defer func() { n.dismiss(own) }()
	misses := 0
	for {
		if misses == 0 || misses >= maxMisses {
			time.Sleep(askEvery)
		}
		if n.unused() {
			return
		}
		var err error
		if own, err = n.ask(own); err == nil {
			misses = 0
			continue
		}
		if misses++; misses >= maxMisses {
			n.closeAll()
		}
	}
}

// unused reports whether no connection is open, and if so notes that nobody asks any
// more.
func (n *node) unused() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = len(n.open) > 0
	return !n.watched
}

// ask asks the node over own, or over a new connection, and returns the one for the
// next time.
func (n *node) ask(own driver.Conn) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), max(askLimit, n.Timeout))
	defer cancel()
	if own == nil {
		made, err := n.own.Connect(ctx)
		if err != nil {
			return nil, n.silence(err)
		}
		own = made
	}
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if err := n.Ask(limited, own); err != nil {
		n.dismiss(own)
		return nil, n.silence(err)
	}
	return own, nil
}

// silence returns nil for what a server says that takes no more connections, or not
// this one: those that are open work.
func (n *node) silence(err error) error {
	if n.Answered(err) {
		return nil
	}
	return err
}

// dismiss closes a connection without waiting for the server, which may hang.
func (n *node) dismiss(own driver.Conn) {
	if own != nil {
		go func() { _ = own.Close() }()
	}
}

// closeAll ends whatever waits for the node.
func (n *node) closeAll() {
	n.mu.Lock()
	var all []*conn
	for c := range n.open {
		all = append(all, c)
	}
	clear(n.open)
	n.mu.Unlock()
	for _, c := range all {
		_ = c.Conn.Close()
	}
}
