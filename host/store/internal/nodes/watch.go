package nodes

import (
	"context"
	"database/sql/driver"
	"time"
)

// How often a node in use is asked, how long it may take to answer, and after how many
// misses its connections are closed.
const (
	askEvery  = time.Second
	askLimit  = time.Second
	maxMisses = 2
)

// watch asks the node every second, and again at once after the first miss, over a new
// connection, until no connection is open. Where that is answered and the first one still
// is not, the node is well, and the ways to it that were there before are cut, as by a
// firewall that has forgotten them: the connections that are silent as well are closed.
func (n *node) watch() {
	var own driver.Conn
	defer func() { n.dismiss(own) }()
	var late <-chan error // the end of an ask that was missed
	misses := 0
	for {
		if misses == 0 || misses >= maxMisses {
			time.Sleep(askEvery)
		}
		if n.unused() {
			return
		}
		if misses == 0 {
			n.listen()
		}
		var err error
		if own == nil {
			own, err = n.askAnew()
		} else {
			own, late, err = n.ask(own)
		}
		if err == nil {
			if late != nil && <-late != nil {
				n.closeSilent()
			}
			late, misses = nil, 0
			continue
		}
		if misses++; misses >= maxMisses {
			late = nil
			n.closeAll()
		}
	}
}

// listen begins to note which connections hear something.
func (n *node) listen() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.open {
		c.heard.Store(false)
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

// ask pings the node over own and returns the connection for the next ping. After askLimit it returns DeadlineExceeded and
// late, which gets the result of the slow ping; own is closed then.
func (n *node) ask(own driver.Conn) (next driver.Conn, late <-chan error, err error) {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), maxMisses*askLimit)
		defer cancel()
		done <- n.Ask(ctx, own)
	}()
	select {
	case err := <-done:
		if err == nil {
			return own, nil, nil
		}
		n.dismiss(own)
		return nil, nil, n.silence(err)
	case <-time.After(askLimit):
	}
	end := make(chan error, 1)
	go func() {
		end <- n.silence(<-done)
		_ = own.Close()
	}()
	return nil, end, context.DeadlineExceeded
}

// askAnew asks the node over a new connection and returns that.
func (n *node) askAnew() (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), max(askLimit, n.Timeout))
	defer cancel()
	own, err := n.own.Connect(ctx)
	if err != nil {
		return nil, n.silence(err)
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
