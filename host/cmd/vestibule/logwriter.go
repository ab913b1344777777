package main

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// mostPending is how many bytes of lines wait for a slow reader, and as many again are
	// being written.
	mostPending = 1 << 20
	// atomicWrite is how many bytes a pipe takes without mixing them with those of another
	// writer (PIPE_BUF of Linux).
	atomicWrite = 4 << 10
	// flushLimit is how long the end of the process waits for the reader.
	flushLimit = time.Second
	// fullPause is the pause before another attempt at a pipe that does not block and is full.
	fullPause = 20 * time.Millisecond
)

// A lineWriter writes lines in the background. Write never waits: lines beyond mostPending
// are lost, and so are those that the destination refuses. A lineWriter is safe for
// concurrent use.
type lineWriter struct {
	to io.Writer
	// notice returns the line which says that so many were lost; nil writes none.
	notice func(lost int64) []byte
	total  atomic.Int64

	mu      sync.Mutex
	pending []byte
	lost    int64 // since the last take; while it is not 0, pending takes nothing, which keeps the order

	wake, closing, done chan struct{}
}

// newLineWriter returns a writer to the destination. Close ends it.
func newLineWriter(to io.Writer, notice func(lost int64) []byte) *lineWriter {
	w := &lineWriter{to: to, notice: notice, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// Write keeps whole lines for the background, or loses them. It returns no error.
func (w *lineWriter) Write(lines []byte) (int, error) {
	w.mu.Lock()
	if w.lost > 0 || len(w.pending)+len(lines) > mostPending {
		w.lost += countLines(lines)
		w.total.Add(countLines(lines))
	} else {
		w.pending = append(w.pending, lines...)
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return len(lines), nil
}

// Lost returns how many lines were lost.
func (w *lineWriter) Lost() int64 { return w.total.Load() }

// Close writes what is pending, for up to flushLimit.
func (w *lineWriter) Close() {
	close(w.closing)
	select {
	case <-w.done:
	case <-time.After(flushLimit):
	}
}

// run is the goroutine that writes.
func (w *lineWriter) run() {
	defer close(w.done)
	var spare []byte
	var owed int64 // lines that were lost and that the destination has not been told of
	for last := false; !last; {
		select {
		case <-w.wake:
		case <-w.closing:
			last = true
		}
		for {
			batch, lost := w.take(spare)
			if len(batch) == 0 && lost == 0 {
				break
			}
			owed = w.tell(w.writeBatch(batch, owed) + lost)
			if spare = batch[:0]; cap(spare) > 16*atomicWrite {
				spare = nil // a burst keeps no memory
			}
		}
	}
}

// take returns what is pending and how many lines were lost after it. spare is the memory
// for what comes next.
func (w *lineWriter) take(spare []byte) (batch []byte, lost int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch, lost = w.pending, w.lost
	w.pending, w.lost = spare, 0
	return batch, lost
}

// writeBatch writes lines and returns how many losses are still to be told of.
func (w *lineWriter) writeBatch(batch []byte, owed int64) int64 {
	for len(batch) > 0 {
		var part []byte
		part, batch = cutLines(batch, atomicWrite)
		owed = w.tell(owed)
		if (owed == 0 || w.notice == nil) && w.write(part) == nil {
			continue
		}
		owed += countLines(part)
		w.total.Add(countLines(part))
	}
	return owed
}

// tell writes how many lines were lost, and returns 0 once that is written.
func (w *lineWriter) tell(lost int64) int64 {
	if lost == 0 || w.notice == nil || w.write(w.notice(lost)) != nil {
		return lost
	}
	return 0
}

// write writes everything or returns an error. A full pipe that does not block, as a parent
// may have made it, is tried again.
func (w *lineWriter) write(b []byte) error {
	for {
		n, err := w.to.Write(b)
		if !errors.Is(err, syscall.EAGAIN) {
			return err
		}
		b = b[n:]
		time.Sleep(fullPause)
	}
}

// cutLines splits off as many lines as fit into most bytes, and at least one.
func cutLines(b []byte, most int) (lines, rest []byte) {
	if len(b) <= most {
		return b, nil
	}
	end := bytes.LastIndexByte(b[:most], '\n')
	if end < 0 {
		end = bytes.IndexByte(b, '\n')
	}
	if end < 0 {
		return b, nil
	}
	return b[:end+1], b[end+1:]
}

func countLines(b []byte) int64 { return int64(bytes.Count(b, []byte{'\n'})) }
