package web

import (
	"cmp"
	"net/http"
)

// A Recorder notes what was answered, for the log. It is for one request and not
// safe for concurrent use.
type Recorder struct {
	http.ResponseWriter
	conn   *gatheredConn // nil where a block may be sent in parts
	status int
	bytes  int64
}

// WriteHeader notes the first final status.
func (w *Recorder) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes how much was sent.
func (w *Recorder) Write(b []byte) (n int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.conn != nil && len(b) >= unbuffered {
		w.conn.begin()
		defer func() { err = cmp.Or(err, w.conn.end()) }()
	}
	n, err = w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// unbuffered is from where on net/http sends parts of a block before it has taken all of it; there may be as much of a head.
const unbuffered = 2 << 10

// Unwrap lets http.ResponseController find Flush and Hijack.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Begun reports whether an answer was begun.
func (w *Recorder) Begun() bool { return w.status != 0 }

// Status returns the answer's status, 200 when nothing else was said.
func (w *Recorder) Status() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// Bytes returns how many bytes of the body were sent.
func (w *Recorder) Bytes() int64 { return w.bytes }
