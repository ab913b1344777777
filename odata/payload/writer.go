package payload

// blockSize is how many bytes go to a Sink at once.
const blockSize = 64 << 10

// keepSize is the largest buffer that is worth keeping for the next answer.
const keepSize = 4 * blockSize

// Sink takes the blocks of an answer.
type Sink interface {
	// Send takes the next block; last tells that the answer ends with it. The
	// block must not be kept.
	Send(block []byte, last bool) error
}

// Writer collects an answer and hands it to a Sink block by block. It is for
// one answer and one goroutine; take it from a Pool.
type Writer struct {
	buf  []byte
	sink Sink
	err  error
}

// Raw appends text as it is.
func (w *Writer) Raw(text string) { w.buf = append(w.buf, text...) }

// End sends what is left and gives the first error of the Sink.
func (w *Writer) End() error {
	if w.err == nil {
		w.err = w.sink.Send(w.buf, true)
	}
	w.buf = w.buf[:0]
	return w.err
}

// flushIfDue sends the block when it is full. Call it between rows.
func (w *Writer) flushIfDue() error {
	if len(w.buf) < blockSize {
		return nil
	}
	if w.err == nil {
		w.err = w.sink.Send(w.buf, false)
	}
	w.buf = w.buf[:0]
	return w.err
}
