package odata

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// stall is how long a client may take to accept a block of an answer that holds
// nothing but its memory.
const stall = time.Minute

// errStalled ends an answer whose client takes none of it for that long.
var errStalled = fmt.Errorf("the client took no block of its answer within %v, which is a fixed limit", stall)

// stream writes the body of an answer to a client, compressed or not.
type stream struct {
	w    http.ResponseWriter
	pool *sync.Pool // of *gzip.Writer
	gz   *gzip.Writer

	mu    sync.Mutex
	isCut bool
}

// compress makes the rest of the body a gzip stream.
func (s *stream) compress() {
	gz, ok := s.pool.Get().(*gzip.Writer)
	if !ok {
		gz, _ = gzip.NewWriterLevel(s.w, gzip.BestSpeed) // the level is valid
	}
	gz.Reset(s.w)
	s.gz = gz
}

// write writes block by block, so that a client has the time of stall for each.
func (s *stream) write(p []byte) error {
	for len(p) > 0 {
		block := p[:min(len(p), 2*spoolBlock)]
		p = p[len(block):]
		if !s.extendWriteDeadline(stall) {
			return os.ErrDeadlineExceeded
		}
		var err error
		if s.gz != nil {
			_, err = s.gz.Write(block)
		} else {
			_, err = s.w.Write(block)
		}
		if err != nil {
			return stalled(err)
		}
	}
	return nil
}

// end ends the body, lifts the deadline, and gives the compressor back.
func (s *stream) end() error {
	var err error
	if s.gz != nil {
		err = s.gz.Close()
		s.pool.Put(s.gz)
		s.gz = nil
	}
	s.extendWriteDeadline(0)
	return err
}

// extendWriteDeadline gives the client so much time to take what is written
// next; 0 is no limit. It is false when the stream has been cut.
func (s *stream) extendWriteDeadline(d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	if !s.isCut {
		// Not every ResponseWriter has deadlines; then its server has to bound writes.
		_ = http.NewResponseController(s.w).SetWriteDeadline(until)
	}
	return !s.isCut
}

// cut makes the write that is under way, and all later ones, fail.
func (s *stream) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isCut = true
	_ = http.NewResponseController(s.w).SetWriteDeadline(time.Unix(1, 0))
}
