package odata

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
)

// batches answers $batch requests; the parts go through the pipeline one after
// the other (OData-Protocol 11.7).
type batches struct {
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
	if err := q.caller.Pass(s.read.guard); err != nil {
		return faultOf(q.ctx, err)
	}
	if q.method != http.MethodPost {
		return notAllowed(q.method, http.MethodPost)
	}
	if s.read.writes != nil && q.header["If-Match"] != nil {
		return badRequest("malformed", "If-Match belongs to the requests in a batch, not to the batch")
	}
	if s.read.writes != nil && repeatable(q.header) {
		w.Header().Set(headerResult, "rejected")
		return rejected(http.StatusBadRequest, "the Repeatability headers belong to the requests in a batch, not to the batch")
	}
	b, err := batch.Read(q.header.Get("Content-Type"), q.body, s.opts.Batch)
	if err != nil {
		return batchFault(err)
	}
	accept := header.ParseAccept(q.header["Accept"])
	media := accept.Best(b.MediaTypes()...)
	if media == "" {
		return notAcceptable(strings.Join(b.MediaTypes(), ", "))
	}
	// Clients of 4.0, which knows no other format, send with a batch what they accept for
	// its parts (OData-Protocol 4.0, 11.7.4).
	if asked := b.MediaTypes()[0]; !q.v401 && asked == batch.Multipart && !accept.Refuses(asked) {
		media = asked
	}
	body := &spool{}
	body.open(w, s.spools, s.opts.SlowReader, q.caller)
	defer body.stop()
	answers := b.Writer(body, media)
	h := w.Header()
	setSuccess(h, q, answers.ContentType(), true)
	h.Set("Cache-Control", "no-store")
	if gzip, _ := q.acceptsGzip(); gzip {
		h.Set("Content-Encoding", "gzip")
		body.compress()
	}
	w.WriteHeader(http.StatusOK)
	q.out = body
	s.parts(q, b, answers)
	if err := q.ctx.Err(); err != nil { // an answer that ended well would look complete
		return err
	}
	if err := answers.Close(); err != nil {
		return err
	}
	return body.finish()
}

// outcomes are how the requests of a batch went, by id and by group.
type outcomes struct {
	failed, done map[string]bool
	urls         map[string]string // of those that succeeded, without references and options
	// rows are the changes whose rows have no URL yet, before the transaction of their group: see foresight.
	rows map[string]*bind.Writing
}

// note keeps how a request went. location is the URL of the entity that it has made; empty for none. The URL counts from its path on:
// a repeated answer has the host to which the request was sent first.
func (o *outcomes) note(r batch.Request, ok bool, location string) {
	for _, name := range []string{r.ID, r.Group} {
		if name != "" {
			o.done[name] = true
			o.failed[name] = o.failed[name] || !ok
		}
	}
	switch {
	case ok && location != "":
		if at := strings.Index(location, "://"); at >= 0 {
			_, path, _ := strings.Cut(location[at+len("://"):], "/")
			location = "/" + path
		}
		o.urls[r.ID] = location
	case ok:
		o.urls[r.ID], _, _ = strings.Cut(o.referenced(r.URL), "?")
	}
}

// forget takes back what note has kept of the requests of a group.
func (o *outcomes) forget(group []batch.Request) {
	for _, r := range group {
		for _, name := range []string{r.ID, r.Group} {
			delete(o.done, name)
			delete(o.failed, name)
		}
		delete(o.urls, r.ID)
	}
}

// undo makes a request that went well one that failed, with its group.
func (o *outcomes) undo(r batch.Request) {
	o.failed[r.ID] = true
	delete(o.urls, r.ID)
}

// blocked tells that a request must not be processed, because one that it depends
// on, or one of its own group, has failed (OData-JSON 19.1, 19.5).
func (o *outcomes) blocked(r batch.Request) bool {
	return r.Conditional || o.failed[r.Group] ||
		slices.ContainsFunc(r.DependsOn, func(id string) bool { return !o.done[id] || o.failed[id] })
}

// parts answers requests: all of a JSON batch, those of multipart/mixed until the
// first fault, unless the client prefers otherwise (OData-Protocol 8.2.8.3,
// 11.7.2, OData-JSON 19.4).
func (s *batches) parts(q *request, b batch.Batch, answers *batch.Writer) {
	went := &outcomes{failed: map[string]bool{}, done: map[string]bool{}, urls: map[string]string{}}
	for _, r := range b.Requests {
		if r.Conditional && r.Group != "" { // then nothing of the group is processed
			went.failed[r.Group] = true
		}
	}
	goOn := !b.StopsAtFault()
	switch {
	case q.prefer.ContinueOnError:
		goOn = true
	case q.prefer.StopOnError:
		goOn = false
	}
	for rest := b.Requests; len(rest) > 0 && q.ctx.Err() == nil; {
		n := grouped(rest)
		ok := false
		if rest[0].Group != "" {
			ok = s.group(q, rest[:n], answers, went, b.OneAnswer())
		} else {
			part := answers.Part(rest[0])
			s.part(q, rest[0], part, went, nil, nil)
			part.Finish()
			ok = part.Status() < http.StatusBadRequest
			went.note(rest[0], ok, part.Header().Get("Location"))
		}
		if !ok && !goOn {
			return
		}
		rest = rest[n:]
	}
}

// grouped is how many requests at the start of a list are processed together: those of
// one group, which are adjacent (OData-JSON 19.1), or one.
func grouped(list []batch.Request) int {
	n := 1
	for list[0].Group != "" && n < len(list) && list[n].Group == list[0].Group {
		n++
	}
	return n
}

// part answers one request of a batch. c is the transaction of its group, judged what rules have said about the request before; both
// are nil for a request of its own.
func (s *batches) part(q *request, r batch.Request, w http.ResponseWriter, went *outcomes, c *changes, judged *writer) {
	p, f := s.request(q, r, went)
	if f != nil {
		s.report.fail(w, p, f)
		return
	}
	p.changes, p.judged = c, judged
	s.read.serve(w, p)
}

// request makes a request of a part of a batch. The fault is that of one that cannot be processed.
func (s *batches) request(q *request, r batch.Request, went *outcomes) (*request, *fault) {
	p := &request{
		ctx: q.ctx, method: r.Method, header: r.Header, body: &sent{text: r.Body},
		origin: q.origin, root: q.root, caller: q.caller, v401: q.v401, only40: q.only40, inBatch: true, id: q.id, left: q.left, out: q.out,
		prefer: header.ParsePrefer(r.Header["Prefer"]), went: went,
	}
	if r.Group != "" && s.read.writes != nil {
		p.contentID = r.ID
	}
	p.timing.start = s.opts.Now()
	switch {
	case went.blocked(r):
		return p, failedDependency(r)
	case isolated(p.header):
		return p, isolation()
	case !p.agree(r.Header["Odata-Maxversion"]):
		return p, unsupportedVersion()
	}
	var address string
	address, p.row = went.place(r.URL)
	target, f := q.resolve(s.opts.Root, address)
	if f == nil {
		f = p.locate(s.opts.Root, target)
	}
	switch {
	case f != nil:
		return p, f
	case p.isBatch() && p.method != http.MethodPost:
		return p, notAllowed(p.method, http.MethodPost)
	case p.isBatch():
		return p, badRequest("malformed", "a batch holds no batch")
	}
	return p, nil
}

// sent is the body of a part of a batch.
type sent struct {
	text []byte
	read int
}

// Read implements io.Reader.
func (s *sent) Read(p []byte) (int, error) {
	if s.read == len(s.text) {
		return 0, io.EOF
	}
	n := copy(p, s.text[s.read:])
	s.read += n
	return n, nil
}

// reference splits an address that begins with $id (OData-Protocol 11.7.4, OData-JSON 19.2); id is empty for another one.
func reference(raw string) (id, rest string) {
	id, ok := strings.CutPrefix(raw, "$")
	if !ok {
		return "", raw
	}
	end := strings.IndexAny(id, "/?")
	if end < 0 {
		end = len(id)
	}
	return id[:end], id[end:]
}

// referenced replaces $id at the start of a URL by the URL of the request that had this id and succeeded, which may have been such a
// reference itself.
func (o *outcomes) referenced(raw string) string {
	id, rest := reference(raw)
	if base, ok := o.urls[id]; ok && id != "" {
		return base + rest
	}
	return raw
}

// place returns an address without references. One that refers to a row without a URL becomes the name of the set, and what is
// behind it; then row is the change that makes the row.
func (o *outcomes) place(raw string) (address string, row *bind.Writing) {
	if o == nil {
		return raw, nil
	}
	address = o.referenced(raw)
	id, rest := reference(address)
	if row = o.rows[id]; row != nil {
		address = string(payload.AppendEscaped(nil, row.Change.Set.Name)) + rest
	}
	return address, row
}

func failedDependency(r batch.Request) *fault {
	f := &fault{status: http.StatusFailedDependency, code: "failed_dependency", pos: -1, message: "a request that this one depends on has failed"}
	if r.Conditional {
		f.message = "conditions (if) are not supported"
	}
	return f
}

func batchFault(err error) error {
	f := badRequest("malformed", "%v", err)
	switch {
	case errors.Is(err, batch.ErrMediaType):
		f.status, f.code = http.StatusUnsupportedMediaType, "unsupported_media_type"
	case errors.Is(err, batch.ErrTooLarge):
		f.status, f.code, f.limit = http.StatusRequestEntityTooLarge, "request_too_large", fixedLimit
	}
	return f
}

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
func (h *held) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{}
	}
	return h.header
}

// WriteHeader sets the status.
func (h *held) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

// Write keeps bytes of the body, as long as they fit.
func (h *held) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.shelf.take(len(b)) {
		h.body = append(h.body, b...)
	}
	return len(b), nil
}

// keep makes a result, which nobody changes any more, the answer.
func (h *held) keep(d *result) {
	if len(h.header) == 0 {
		h.header = d.Header
	} else {
		maps.Copy(h.header, d.Header)
	}
	h.status = d.Status
	if h.shelf.take(len(d.Body)) {
		h.body = d.Body
	}
}

func (h *held) ok() bool { return h.status < http.StatusBadRequest }

// replay gives the answer to the client.
func (h *held) replay(w *batch.Part) {
	w.SetHeader(h.header)
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
	conditional := went.failed[list[0].Group]
	c := &changes{stage: s.read.writes, grouped: true}
	if c.stage != nil {
		c.once, c.refused = c.stage.groupOnce(q, list)
	}
	var all []*held
	_ = c.repeat(func() (err error) {
		went.forget(list)
		went.failed[list[0].Group] = conditional
		all, err = s.attempt(q, list, went, c, oneAnswer)
		return err
	})
	last := len(all) - 1
	if !all[last].ok() && oneAnswer {
		for _, r := range list {
			delete(went.urls, r.ID)
		}
		all[last].replay(answers.Part(list[last]))
		return false
	}
	ok = !slices.ContainsFunc(all, func(h *held) bool { return !h.ok() })
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

// attempt answers the requests of a group in one transaction, and commits it if all went well. The answers end with the first
// fault where the group has one answer. The error is errAgain where all of it has to be tried again.
func (s *batches) attempt(q *request, list []batch.Request, went *outcomes, c *changes, oneAnswer bool) ([]*held, error) {
	judged, refused, err := s.judge(q, list, went, c, oneAnswer)
	if refused != nil || err != nil {
		return refused, err
	}
	on := &shelf{}
	all := make([]*held, 0, len(list))
	ok := true
	for i, r := range list {
		h := &held{shelf: on}
		s.part(q, r, h, went, c, judged[i])
		if h.status == 0 && c.undone {
			return nil, errAgain
		}
		if full := on.full; full != nil {
			*on = shelf{} // the others fail with this one
			h = &held{shelf: on}
			s.report.fail(h, s.member(q, r), full)
		}
		h.WriteHeader(http.StatusOK)
		all, ok = append(all, h), ok && h.ok()
		went.note(r, h.ok(), h.header.Get("Location"))
		if !h.ok() && oneAnswer {
			return all, nil
		}
	}
	if !ok {
		return all, nil
	}
	err = c.commit()
	if err == nil || errors.Is(err, errAgain) {
		return all, err
	}
	r := list[len(list)-1]
	h := &held{shelf: &shelf{}}
	s.report.report(h, s.member(q, r), err)
	all[len(all)-1] = h
	went.note(r, false, "")
	return all, nil
}

// member is a request of a group, as far as faults need to know it.
func (s *batches) member(q *request, r batch.Request) *request {
	m := &request{ctx: q.ctx, method: r.Method, id: q.id, caller: q.caller, path: r.URL, inBatch: true, v401: q.v401}
	if s.read.writes != nil {
		m.contentID = r.ID
	}
	return m
}

func tooMuchHeld() *fault {
	return &fault{
		status: http.StatusNotImplemented, code: "not_implemented", pos: -1,
		message: "the answers to an atomicity group are larger than 1 MiB together: send the requests without the group",
	}
}
