package payload

import "sync"

// Pool keeps the buffers of Writers. The zero value is ready; it is safe for
// concurrent use.
type Pool struct{ writers sync.Pool }

// Get gives an empty Writer to the Sink. Put it back when it is done.
func (p *Pool) Get(sink Sink) *Writer {
	w, ok := p.writers.Get().(*Writer)
	if !ok {
		w = &Writer{buf: make([]byte, 0, blockSize+blockSize/8)}
	}
	w.sink = sink
	return w
}

// Put takes a Writer back, also one whose answer broke off. It must not be used
// afterwards.
func (p *Pool) Put(w *Writer) {
	if cap(w.buf) > keepSize {
		return
	}
	*w = Writer{buf: w.buf[:0]}
	p.writers.Put(w)
}
