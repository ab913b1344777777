package odata

import (
	"compress/gzip"
	"net/http"
	"sync"
	"time"
)

// stall is how long a client may take to accept a block of a streamed answer.
const stall = time.Minute

// stream writes the body of an answer to a client, compressed or not.
type stream struct {
	w    http.ResponseWriter
	pool *sync.Pool // of *gzip.Writer
	gz   *gzip.Writer
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

func (s *stream) write(p []byte) error {
	var err error
	if s.gz != nil {
		_, err = s.gz.Write(p)
	} else {
		_, err = s.w.Write(p)
	}
	return err
}

// end ends the body, lifts the deadline, and gives the compressor back.
func (s *stream) end() error {
	s.extendWriteDeadline(0)
	if s.gz == nil {
		return nil
	}
	err := s.gz.Close()
	s.pool.Put(s.gz)
	s.gz = nil
	return err
}

// extendWriteDeadline gives the client so much time to take what is written
// next; 0 is no limit. A client that stops reading would hold a read
// transaction open otherwise.
func (s *stream) extendWriteDeadline(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	// Not every ResponseWriter has deadlines; then its server has to bound writes.
	_ = http.NewResponseController(s.w).SetWriteDeadline(until)
}
