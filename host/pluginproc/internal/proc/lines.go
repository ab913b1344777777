package proc

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	maxLine   = 16 << 10 // bytes kept of one line of output
	drainRate = 8 << 20  // bytes per second beyond which a flood is slowed down
)

// A lineWriter cuts what is written to it into lines and hands each to a
// function, without its end. Lines have no limit: of a longer one the first
// maxLine bytes are kept. It never fails and may be written to concurrently.
type lineWriter struct {
	line func(text string, cut bool)

	mu  sync.Mutex
	buf []byte
	cut bool
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.keep(p)
			return n, nil
		}
		w.keep(p[:i])
		w.flush()
		p = p[i+1:]
	}
}

// Close hands over the last line, if it had no end.
func (w *lineWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buf) > 0 {
		w.flush()
	}
	return nil
}

func (w *lineWriter) keep(p []byte) {
	room := maxLine - len(w.buf)
	if len(p) > room {
		p, w.cut = p[:room], true
	}
	w.buf = append(w.buf, p...)
}

func (w *lineWriter) flush() {
	w.line(string(bytes.TrimSuffix(w.buf, []byte{'\r'})), w.cut)
	w.buf, w.cut = w.buf[:0], false
}

// drain copies r to w until r ends. It always reads on, so that a process never
// hangs on a full pipe, but not faster than drainRate: a process that floods
// waits for us, and leaves the processor to others.
func drain(r io.Reader, w *lineWriter) {
	defer func() { _ = w.Close() }()
	buf := make([]byte, 64<<10)
	paced := pacedWriter{to: w}
	for {
		n, err := r.Read(buf)
		_, _ = paced.Write(buf[:n]) // never fails
		if err != nil {
			return
		}
	}
}

// A pacedWriter passes on what is written to it, not faster than drainRate. It is
// for one goroutine.
type pacedWriter struct {
	to    *lineWriter
	begin time.Time
	bytes int
}

// Write never fails, but may take its time.
func (w *pacedWriter) Write(p []byte) (int, error) {
	now := time.Now()
	if now.Sub(w.begin) > time.Second {
		w.begin, w.bytes = now, 0
	}
	w.bytes += len(p)
	if ahead := time.Duration(w.bytes)*time.Second/drainRate - now.Sub(w.begin); ahead > 10*time.Millisecond {
		time.Sleep(ahead)
	}
	return w.to.Write(p)
}
