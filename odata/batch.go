package odata

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/header"
)

// batches answers $batch requests; the parts go through the pipeline one after
// the other (OData-Protocol 11.7).
type batches struct {
	guard  edm.Guard
	opts   *Options
	spools *spools
	report reporter
	read   *pipeline
}

// isBatch tells whether a request is for the batches of the service.
func (q *request) isBatch() bool {
	before, ok := q.segment("$batch")
	return ok && before == ""
}

func (s *batches) serve(w http.ResponseWriter, q *request) {
	s.report.report(w, q, s.answer(w, q))
}

// answer answers a batch. The guard of the service holds for the batch as a
// whole, those of the sets for each part.
func (s *batches) answer(w http.ResponseWriter, q *request) error {
	if q.method != http.MethodPost {
		return notAllowed(q.method, http.MethodPost)
	}
	if err := q.caller.Pass(s.guard); err != nil {
		return faultOf(q.ctx, err)
	}
	b, err := batch.Read(q.header.Get("Content-Type"), q.body, s.opts.Batch)
	if err != nil {
		return batchFault(err)
	}
	body := &spool{}
	body.open(w, s.spools, s.opts.SlowReader)
	defer body.stop()
	answers := b.Writer(body)
	h := w.Header()
	setSuccess(h, q, answers.ContentType(), true)
	h.Set("Cache-Control", "no-store")
	if q.acceptsGzip() {
		h.Set("Content-Encoding", "gzip")
		body.compress()
	}
	w.WriteHeader(http.StatusOK)
	q.out = body
	s.parts(q, b, answers)
	if err := answers.Close(); err != nil {
		return err
	}
	return body.finish()
}

// parts answers requests until the end or, unless the client prefers to
// continue, the first fault (OData-Protocol 8.2.8.3, 11.7.2).
func (s *batches) parts(q *request, b batch.Batch, answers *batch.Writer) {
	done := map[string]bool{} // by id or group: whether it succeeded
	urls := map[string]string{}
	for _, r := range b.Requests {
		if ok, known := done[r.Group]; r.Group != "" && known && !ok && b.OneAnswer() {
			continue
		}
		part := answers.Part(r)
		s.part(q, r, part, done, urls)
		part.Finish()
		ok := part.Status() < http.StatusBadRequest
		done[r.ID] = ok
		if r.Group != "" {
			done[r.Group] = ok
		}
		if ok {
			urls[r.ID] = r.URL
		} else if !q.prefer.ContinueOnError {
			return
		}
	}
}

// part answers one request of a batch.
func (s *batches) part(q *request, r batch.Request, w *batch.Part, done map[string]bool, urls map[string]string) {
	p := &request{
		ctx: q.ctx, method: r.Method, header: r.Header, body: strings.NewReader(string(r.Body)),
		origin: q.origin, root: q.root, caller: q.caller, v401: q.v401, inBatch: true, id: q.id, left: q.left, out: q.out,
		prefer: header.ParsePrefer(r.Header["Prefer"]),
	}
	p.timing.start = s.opts.Now()
	if slices.ContainsFunc(r.DependsOn, func(id string) bool { return !done[id] }) {
		s.report.fail(w, p, &fault{status: http.StatusFailedDependency, code: "failed_dependency", message: "a request that this one depends on has failed", pos: -1})
		return
	}
	if lines := r.Header["Odata-Maxversion"]; lines != nil {
		version, ok := header.Version(lines)
		if !ok {
			s.report.fail(w, p, unsupportedVersion())
			return
		}
		p.v401 = version == "4.01"
	}
	target, f := q.resolve(s.opts.Root, referenced(r.URL, urls))
	if f == nil {
		f = p.locate(s.opts.Root, target)
	}
	if f != nil {
		s.report.fail(w, p, f)
		return
	}
	switch {
	case !p.isBatch():
		s.read.serve(w, p)
	case p.method != http.MethodPost:
		s.report.fail(w, p, notAllowed(p.method, http.MethodPost))
	default:
		s.report.fail(w, p, badRequest("malformed", "a batch holds no batch"))
	}
}

// referenced replaces $id at the start of a URL by the URL of the request that
// had this id and succeeded (OData-Protocol 11.7.3.1).
func referenced(raw string, urls map[string]string) string {
	id, ok := strings.CutPrefix(raw, "$")
	if !ok {
		return raw
	}
	end := strings.IndexAny(id, "/?")
	if end < 0 {
		end = len(id)
	}
	base, ok := urls[id[:end]]
	if !ok || id[:end] == "" {
		return raw
	}
	base, _, _ = strings.Cut(base, "?")
	return base + id[end:]
}

func batchFault(err error) error {
	f := badRequest("malformed", "%v", err)
	switch {
	case errors.Is(err, batch.ErrMediaType):
		f.status, f.code = http.StatusUnsupportedMediaType, "unsupported_media_type"
	case errors.Is(err, batch.ErrNotImplemented):
		f.status, f.code = http.StatusNotImplemented, "not_implemented"
	case errors.Is(err, batch.ErrTooLarge):
		f.status, f.code, f.limit = http.StatusRequestEntityTooLarge, "request_too_large", fixedLimit
	}
	return f
}
