package odata

import (
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
)

// heldGroup is how many bytes the answers of an atomicity group have at most, as they
// wait for the last of them.
const heldGroup = 1 << 20

// held is the answer to one request of an atomicity group, kept until the group has
// gone well or not. It is an http.ResponseWriter for one goroutine.
type held struct {
	header http.Header
	status int
	body   []byte
	shelf  *shelf
}

// shelf counts the bytes of the answers of a group.
type shelf struct {
	bytes int
	// full is why an answer does not fit; nil where all do.
	full *fault
}

// take reports whether n bytes more fit; once it is false it stays so.
func (s *shelf) take(n int) bool {
	if s.bytes += n; s.bytes > heldGroup && s.full == nil {
		s.full = tooMuchHeld()
	}
	return s.full == nil
}

// Header gives the headers; they count until the first write.
func (h *held) Header() http.Header { return h.header }

// WriteHeader sets the status.
func (h *held) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

// Write keeps bytes of the body, as long as there is room for them.
func (h *held) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.shelf.take(len(b)) {
		h.body = append(h.body, b...)
	}
	return len(b), nil
}

func (h *held) ok() bool { return h.status < http.StatusBadRequest }

// replay gives the answer to the client.
func (h *held) replay(w *batch.Part) {
	to := w.Header()
	for name, values := range h.header {
		to[name] = values
	}
	w.WriteHeader(h.status)
	if len(h.body) > 0 {
		_, _ = w.Write(h.body) // the writer keeps its first fault
	}
	w.Finish()
}

// group answers the requests of an atomicity group: they succeed together, or none of
// them does (OData-JSON 19.4, OData-Protocol 11.7.7.4). The one that failed says why, the
// others are 424 (OData-JSON 19.5); those of a change set have that one answer alone
// (OData-Protocol 11.7.7.5).
func (s *batches) group(q *request, list []batch.Request, answers *batch.Writer, went *outcomes, oneAnswer bool) (ok bool) {
	on := &shelf{}
	all := make([]*held, 0, len(list))
	ok = true
	for _, r := range list {
		h := &held{header: http.Header{}, shelf: on}
		s.part(q, r, h, went)
		if full := on.full; full != nil {
			*on = shelf{} // the others fail with this one
			h = &held{header: http.Header{}, shelf: on}
			s.report.fail(h, s.member(q, r), full)
		}
		h.WriteHeader(http.StatusOK)
		all, ok = append(all, h), ok && h.ok()
		went.note(r, h.ok())
		if !h.ok() && oneAnswer {
			h.replay(answers.Part(r))
			return false
		}
	}
	for i, r := range list {
		if h := all[i]; h.ok() && !ok {
			went.undo(r)
			part := answers.Part(r)
			s.report.fail(part, s.member(q, r), failedDependency(r))
			part.Finish()
			continue
		}
		all[i].replay(answers.Part(r))
	}
	return ok
}

// member is a request of a group, as far as faults need to know it.
func (s *batches) member(q *request, r batch.Request) *request {
	return &request{ctx: q.ctx, method: r.Method, id: q.id, caller: q.caller, path: r.URL, inBatch: true, v401: q.v401}
}

func tooMuchHeld() *fault {
	return &fault{
		status: http.StatusNotImplemented, code: "not_implemented", pos: -1,
		message: "the answers to an atomicity group are larger than 1 MiB together: send the requests without the group",
	}
}
