package odata

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// body writes the bytes of an answer, compressed or not.
type body struct {
	gz   *gzip.Writer
	pool *sync.Pool
}

// compress makes the body a gzip stream; close gives the compressor back.
func (b *body) compress(w io.Writer, pool *sync.Pool) {
	gz, ok := pool.Get().(*gzip.Writer)
	if !ok {
		gz, _ = gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	}
	gz.Reset(w)
	b.gz, b.pool = gz, pool
}

func (b *body) write(w http.ResponseWriter, p []byte) error {
	var err error
	if b.gz != nil {
		_, err = b.gz.Write(p)
	} else {
		_, err = w.Write(p)
	}
	return err
}

func (b *body) close() error {
	if b.gz == nil {
		return nil
	}
	err := b.gz.Close()
	b.pool.Put(b.gz)
	b.gz = nil
	return err
}

// workClock bounds the time that a database works for a request. It stands
// still while a block is on its way to the client, so that a slow reader is not
// taken for a slow database.
type workClock struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	left   time.Duration
	since  time.Time
}

// work starts a clock; stop it when the rows are closed.
func work(ctx context.Context, limit time.Duration) (context.Context, *workClock) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &workClock{cancel: cancel, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(errSlow) })
	return ctx, c
}

func (c *workClock) pause() {
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

func (c *workClock) resume() {
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}

func (c *workClock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}
