package odata

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/header"
)

// batch answers the requests of a $batch one after the other (OData-Protocol
// 11.7). The guard of the service holds for the batch as a whole, those of the
// sets for each part.
func (s *Service) batch(w http.ResponseWriter, q *request) error {
	if q.method != http.MethodPost {
		return notAllowed(q.method, http.MethodPost)
	}
	if q.inBatch {
		return badRequest("malformed", "a batch holds no batch")
	}
	if err := q.caller.Pass(s.model.Guard); err != nil {
		return faultOf(q.ctx, err)
	}
	b, err := batch.Read(q.header.Get("Content-Type"), q.body, s.opts.Batch)
	if err != nil {
		return batchFault(err)
	}
	out := &response{s: s, w: w, q: q}
	answers := b.Writer(out)
	q.prepare(w.Header(), answers.ContentType(), true)
	w.Header().Set("Cache-Control", "no-store")
	out.begin()
	s.parts(q, b, answers)
	if err := answers.Close(); err != nil {
		return err
	}
	return out.end()
}

// parts answers requests until the end or, unless the client prefers to
// continue, the first fault (OData-Protocol 8.2.8.3, 11.7.2).
func (s *Service) parts(q *request, b batch.Batch, answers *batch.Writer) {
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
func (s *Service) part(q *request, r batch.Request, w *batch.Part, done map[string]bool, urls map[string]string) {
	p := &request{
		ctx: q.ctx, method: r.Method, header: r.Header, body: strings.NewReader(string(r.Body)),
		origin: q.origin, root: q.root, caller: q.caller, v401: q.v401, inBatch: true, id: q.id,
		prefer: header.ParsePrefer(r.Header["Prefer"]),
	}
	p.timing.start = s.opts.Now()
	if slices.ContainsFunc(r.DependsOn, func(id string) bool { return !done[id] }) {
		s.fail(w, p, &fault{status: http.StatusFailedDependency, code: "failed_dependency", message: "a request that this one depends on has failed", pos: -1})
		return
	}
	if lines := r.Header["Odata-Maxversion"]; lines != nil {
		version, ok := header.Version(lines)
		if !ok {
			s.fail(w, p, unsupportedVersion())
			return
		}
		p.v401 = version == "4.01"
	}
	target, f := s.resolve(q, referenced(r.URL, urls))
	if f == nil {
		f = s.locate(p, target)
	}
	if f != nil {
		s.fail(w, p, f)
		return
	}
	s.serve(w, p)
}

// resolve makes the URL of a part a target from the origin on. It is relative
// to the service root, an absolute path, or an absolute URL (OData-Protocol
// 11.7.2.1); the last must be one of this service.
func (s *Service) resolve(q *request, raw string) (string, *fault) {
	if strings.HasPrefix(raw, "/") {
		return raw, nil
	}
	path, _, _ := strings.Cut(raw, "?")
	if !strings.Contains(path, "://") || strings.ContainsAny(path[:strings.Index(path, "://")], "/(") {
		return s.opts.Root + raw, nil
	}
	u, err := url.Parse(path)
	if err != nil || !strings.EqualFold(u.Scheme+"://"+u.Host, q.origin) {
		return "", badRequest("malformed", "this address is of another service: %.80q", raw)
	}
	return raw, nil
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
		f.status, f.code = http.StatusRequestEntityTooLarge, "request_too_large"
	}
	return f
}

// postedQuery makes a GET of what was posted to /$query, which stands for a GET
// whose query options are too long for a URL (OData-URL 4.17).
func (q *request) postedQuery(before string) error {
	media, _, _ := strings.Cut(q.header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "text/plain") {
		return &fault{
			status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", pos: -1,
			message: "the body of a request to $query is text/plain",
		}
	}
	const most = 64 << 10
	body, err := io.ReadAll(io.LimitReader(q.body, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("read body: %w", err)
	case len(body) > most:
		return &fault{status: http.StatusRequestEntityTooLarge, code: "request_too_large", message: "the query options are too long", pos: -1}
	}
	options := strings.TrimSpace(string(body))
	if q.query != "" && options != "" {
		options = q.query + "&" + options
	} else {
		options = q.query + options
	}
	q.method, q.query = http.MethodGet, options
	q.path = strings.TrimSuffix(strings.TrimSuffix(q.path, "$query"), "/")
	q.setTarget(before)
	return nil
}
