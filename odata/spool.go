package odata

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what an answer keeps in memory for a client that has not taken it yet, in
// bytes.
const (
	spoolBlock  = 64 << 10
	spoolAnswer = 1 << 20
)

// SpoolBlocks is how many blocks of up to 72 KiB the answers of a service keep in
// memory for clients that have not taken them yet: 128 MiB of 64 KiB each.
const SpoolBlocks = 2048

// errSlowReader ends an answer whose client keeps a database waiting.
var errSlowReader = errors.New("the client reads too slowly")

// spools is what the spools of all answers share.
type spools struct {
	gzips  sync.Pool // of *gzip.Writer
	blocks sync.Pool // of *[]byte
	// room is Options.Spool.
	room func(Caller) (leave func())
}

// spoolRoom is room for SpoolBlocks, whoever takes them.
func spoolRoom() func(Caller) (leave func()) {
	var used atomic.Int64
	leave := func() { used.Add(-1) }
	return func(Caller) func() {
		if used.Add(1) <= SpoolBlocks {
			return leave
		}
		leave()
		return nil
	}
}

func (s *spools) block() []byte {
	if b, ok := s.blocks.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, spoolBlock+spoolBlock/8)
}

func (s *spools) recycle(b []byte) {
	if cap(b) <= 2*spoolBlock {
		s.blocks.Put(&b)
	}
}

// spool sends a body that does not fit into one block. It takes up to
// spoolAnswer bytes more than the client has read, so that the source can mostly
// be closed before the client is done. Where there is no room left, whoever
// writes waits; while the source is open for that long, the client must keep up
// the least rate. Only the pump writes to the client.
type spool struct {
	stream
	shared *spools
	// caller is who the answer is for.
	caller Caller
	// least is in bytes a second; 0 is no limit.
	least int64
	// clock runs while the source works for the answer; nil when it is closed.
	clock *workClock
	// next is the block that is being filled.
	next []byte
	// lag is by how much the client has been too slow.
	lag time.Duration

	blocks chan spooled // nil until the pump runs
	free   chan []byte  // blocks that the client has taken, for this answer again
	queued atomic.Int64 // bytes that the client has still to take
	moved  chan struct{}
	failed chan struct{} // closed by the pump after it has set err
	done   chan struct{} // closed when the pump has ended
	err    error
}

// spooled is a block on its way.
type spooled struct {
	bytes []byte
	// leave gives back its room of spools; nil where it has none.
	leave func()
}

// open makes the spool ready; stop ends it.
func (s *spool) open(w http.ResponseWriter, shared *spools, least int64, caller Caller) {
	s.w, s.pool, s.shared, s.least, s.caller = w, &shared.gzips, shared, max(least, 0), caller
}

// Write implements io.Writer. It keeps nothing of p.
func (s *spool) Write(p []byte) (int, error) {
	if s.next == nil {
		s.next = s.block()
	}
	s.next = append(s.next, p...)
	if len(s.next) < spoolBlock {
		return len(p), nil
	}
	return len(p), s.put()
}

// block gives an empty block, one of this answer's own if there is one: a long
// answer then makes no more blocks than wait at once.
func (s *spool) block() []byte {
	select {
	case b := <-s.free:
		return b[:0]
	default:
		return s.shared.block()
	}
}

// put hands the block to the pump.
func (s *spool) put() error {
	if s.blocks == nil {
		s.blocks, s.free = make(chan spooled, spoolAnswer/spoolBlock+1), make(chan []byte, spoolAnswer/spoolBlock+1)
		s.moved, s.failed, s.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		go s.pump()
	}
	for {
		select {
		case <-s.failed:
			return s.err
		default:
		}
		if s.offer() {
			return nil
		}
		if err := s.await(); err != nil {
			return err
		}
	}
}

// offer puts the block into the queue if there is room. There always is for one.
func (s *spool) offer() bool {
	n, queued := int64(len(s.next)), s.queued.Load()
	var leave func()
	if queued+n <= spoolAnswer {
		leave = s.shared.room(s.caller)
	}
	if leave == nil && queued > 0 {
		return false
	}
	s.queued.Add(n)
	s.blocks <- spooled{s.next, leave}
	s.next = nil
	return true
}

// await waits until the client has taken a block, or has been too slow for too
// long.
func (s *spool) await() error {
	queued, start := s.queued.Load(), time.Now()
	var late <-chan time.Time
	if s.clock != nil {
		s.clock.pause()
		defer s.clock.resume()
		if s.least > 0 {
			timer := time.NewTimer(s.patience() - s.lag)
			defer timer.Stop()
			late = timer.C
		}
	}
	select {
	case <-s.moved:
	case <-s.failed:
		return s.err
	case <-late:
		s.cut()
		return fmt.Errorf("%w: fewer than %d bytes a second, the limit of odata.limits.slow_reader, while its answer held a connection of the database", errSlowReader, s.least)
	}
	if s.least > 0 {
		s.lag = max(0, s.lag+time.Since(start)-s.due(queued-s.queued.Load()))
	}
	return nil
}

// patience is by how much a client may be too slow. Networks deliver in lumps, so
// that an average over less than a block would cut clients that are fast enough.
func (s *spool) patience() time.Duration { return max(time.Second, s.due(spoolBlock)) }

// due is how long a client may take for n bytes.
func (s *spool) due(n int64) time.Duration {
	return time.Duration(float64(n) / float64(s.least) * float64(time.Second))
}

// pump writes to the client until the queue is closed.
func (s *spool) pump() {
	defer close(s.done)
	for b := range s.blocks {
		if s.err == nil {
			if s.err = s.write(b.bytes); s.err != nil {
				close(s.failed)
			}
		}
		n := int64(len(b.bytes))
		if b.leave != nil {
			b.leave()
		}
		select {
		case s.free <- b.bytes:
		default:
			s.shared.recycle(b.bytes)
		}
		s.queued.Add(-n)
		select {
		case s.moved <- struct{}{}:
		default:
		}
	}
}

// finish sends what is left and ends the body. The source must be closed.
func (s *spool) finish() error {
	if s.blocks == nil {
		if err := s.write(s.next); err != nil {
			return err
		}
		return s.end()
	}
	if len(s.next) > 0 {
		if err := s.put(); err != nil {
			return err
		}
	}
	s.join()
	if s.err != nil {
		return s.err
	}
	return s.end()
}

func (s *spool) join() {
	close(s.blocks)
	<-s.done
	s.blocks = nil
	close(s.free)
	for b := range s.free {
		s.shared.recycle(b)
	}
	s.free = nil
}

// stop ends the body of an answer that broke off; the client gets what is in the
// queue. Call it before the handler returns; after finish it does nothing.
func (s *spool) stop() {
	if s.blocks != nil {
		s.join()
	}
}
