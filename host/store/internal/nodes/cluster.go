package nodes

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"
)

// headStart is how long the last good node is waited for before the others are tried
// beside it: more than a connection takes to a server in reach, and less than people
// notice.
const headStart = 150 * time.Millisecond

// DefaultTimeout bounds one attempt to connect to one node, unless the DSN says
// otherwise.
const DefaultTimeout = time.Second

// A Cluster makes connections to whichever of its nodes takes them. It is a
// driver.Connector for any number of pools, and safe for concurrent use.
type Cluster struct {
	nodes []*node
	last  atomic.Int64 // the index of the node that took the last connection
}

// New returns a cluster of one node or more. It connects to none of them yet.
func New(specs ...Node) (*Cluster, error) {
	c := &Cluster{}
	for _, spec := range specs {
		n, err := newNode(spec)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
	}
	return c, nil
}

// Driver returns that of the first node.
func (c *Cluster) Driver() driver.Driver { return c.nodes[0].tracked.Driver() }

// An attempt is what became of connecting to one node.
type attempt struct {
	node int
	conn driver.Conn
	err  error
}

// Connect returns the first connection that a node takes. The last good node has a
// head start; when it refuses, the others are tried at once. The error is a
// [ConnectError] with what each of them said.
func (c *Cluster) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // those that lost
	results := make(chan attempt, len(c.nodes))
	first := int(c.last.Load())
	begin := func(i int) {
		go func() {
			conn, err := c.nodes[i].connect(ctx)
			results <- attempt{i, conn, err}
		}()
	}
	begin(first)
	pending, others := 1, false
	beginOthers := func() {
		for i := range c.nodes {
			if i != first && !others {
				begin(i)
				pending++
			}
		}
		others = true
	}
	head := time.NewTimer(headStart)
	defer head.Stop()
	var errs []error
	for pending > 0 {
		select {
		case <-head.C:
			beginOthers()
		case got := <-results:
			pending--
			if got.err == nil {
				c.last.Store(int64(got.node))
				go closeLate(results, pending)
				return got.conn, nil
			}
			errs = append(errs, got.err)
			beginOthers()
		}
	}
	return nil, &ConnectError{errors.Join(errs...)}
}

// closeLate closes the connections of nodes that were too late.
func closeLate(results <-chan attempt, pending int) {
	for range pending {
		if got := <-results; got.err == nil {
			_ = got.conn.Close()
		}
	}
}

// A ConnectError says that no node took a connection. Nothing was sent to any of
// them, so that whatever the connection was for had no effect.
type ConnectError struct{ err error }

// Error is what each node said, a line for each.
func (e *ConnectError) Error() string { return e.err.Error() }

// Unwrap returns what the nodes said.
func (e *ConnectError) Unwrap() error { return e.err }

// NotConnected tells package repeat what this error is.
func (e *ConnectError) NotConnected() bool { return true }
