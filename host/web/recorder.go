package web

import "net/http"

// A Recorder notes what was answered, for the log. It is for one request and not
// safe for concurrent use.
type Recorder struct {
	http.ResponseWriter
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
func (w *Recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

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
