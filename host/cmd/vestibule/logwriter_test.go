package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A reader is a destination whose next answers are those of a channel, and nil once that is closed.
type logReader struct {
	answers chan error
	text    strings.Builder
}

func (r *logReader) Write(b []byte) (int, error) {
	if err := <-r.answers; err != nil {
		return 0, err
	}
	return r.text.Write(b)
}

// Lines keep their order, and the notice of those that were lost is where they are missing.
func TestLineWriterKeepsTheOrder(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lines   []string // written at once
		answers []error
		lost    int64  // by the last answer
		then    string // written after it
		want    string
	}{
		{"a reader that reads", []string{"a\n", "b\n"}, []error{nil}, 0, "c\n", "a\nb\nc\n"},
		{"a full pipe that does not block", []string{"a\n"}, []error{syscall.EAGAIN, syscall.EAGAIN, nil}, 0, "b\n", "a\nb\n"},
		{"a reader that goes away and comes back", []string{"a\n"}, []error{syscall.EPIPE, syscall.EPIPE}, 1, "b\n", "lost 1\nb\n"},
		{"a line without room", []string{"a\n", strings.Repeat("x", mostPending) + "\n", "b\n"}, []error{nil}, 2, "c\n", "a\nlost 2\nc\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := &logReader{answers: make(chan error)}
			w := newLineWriter(to, func(lost int64) []byte { return fmt.Appendf(nil, "lost %d\n", lost) })
			for _, line := range tt.lines {
				if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
			}
			for _, err := range tt.answers {
				to.answers <- err
			}
			for w.Lost() < tt.lost {
				time.Sleep(time.Millisecond)
			}
			close(to.answers)
			for w.isOwing() {
				time.Sleep(time.Millisecond)
			}
			_, _ = w.Write([]byte(tt.then))
			w.Close()
			if diff := cmp.Diff(tt.want, to.text.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if w.Lost() != tt.lost {
				t.Errorf("%d lines were lost, want %d", w.Lost(), tt.lost)
			}
		})
	}
}

// isOwing reports whether lines were lost since the background took the last ones.
func (w *lineWriter) isOwing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost > 0
}

// A destination that stands still costs the end of the process flushLimit and no more.
func TestLineWriterCloses(t *testing.T) {
	w := newLineWriter(&logReader{answers: make(chan error)}, nil)
	_, _ = w.Write([]byte("a\n"))
	start := time.Now()
	w.Close()
	if took := time.Since(start); took < flushLimit || took > 5*flushLimit {
		t.Errorf("Close took %v", took)
	}
}
