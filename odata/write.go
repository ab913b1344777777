package odata

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// writing is the stage that answers requests that write: one transaction for each of them, or for the group that it is a part of
// (OData-Protocol 11.4).
type writing struct {
	source  Writable
	binder  *bind.Binder
	body    payload.BodyReader
	opts    *Options
	answers *answering
	// repeats reports that the source remembers requests.
	repeats bool
}

// newWriting returns the stage for a source that writes and a model that has sets to be written; else nil.
func newWriting(m *Model, source Source, p *pipeline) *writing {
	w, ok := source.(Writable)
	if !ok || !slices.ContainsFunc(m.Sets, func(s *edm.EntitySet) bool { return s.Write != nil }) {
		return nil
	}
	return &writing{
		source: w, binder: p.plans.binder, body: payload.BodyReader{Namespace: m.Namespace}, opts: p.opts, answers: &p.answers, repeats: repeats(source),
	}
}

// takes reports whether a request is one that writes. A POST to $query reads.
func (s *writing) takes(q *request) bool {
	switch q.method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	case http.MethodPost:
		_, query := q.segment("$query")
		return !query
	}
	return false
}

// maxBody is how many bytes the body of a request that writes may have.
const maxBody = 1 << 20

// writer is one request that writes.
type writer struct {
	*writing
	q *request
	// resource is the one that the path names.
	resource *bind.Resource
	format   format
	body     []byte
	match    *write.Match
	// minimal reports that the answer has no body, applied the preference that made it so.
	minimal bool
	applied string
	// oldTags reports that a tag in the body has no meaning, as in OData 4.0.
	oldTags bool
}

// answer answers a request that writes, in the transaction of its group or in one of its own.
func (s *writing) answer(w http.ResponseWriter, q *request) (err error) {
	if repeatable(q.header) {
		defer func() {
			if err != nil {
				setRepeatability(w.Header(), err)
			}
		}()
		setRepeatability(w.Header(), nil)
	}
	r, err := s.read(q)
	if err != nil {
		return err
	}
	if q.changes != nil {
		if err := q.changes.refused; err != nil {
			return err
		}
		done, err := r.change(q.changes)
		if err != nil {
			return err
		}
		done.send(w, q)
		return nil
	}
	own := &changes{stage: s}
	if own.once, err = s.onceOf(q.caller, q.header, hashOf([]byte(q.method), []byte(q.target), r.body)); err != nil {
		return err
	}
	var done *result
	err = own.repeat(func() error {
		var err error
		if done, err = r.change(own); err != nil {
			return err
		}
		return own.commit()
	})
	if err != nil {
		return err
	}
	if !q.inBatch {
		w.Header().Set("Server-Timing", q.timing.header(s.opts.Now()))
	}
	done.send(w, q)
	return nil
}

// read takes a request apart, up to its body. Who asks comes before what is asked for.
func (s *writing) read(q *request) (*writer, error) {
	r := &writer{writing: s, q: q}
	parsed, err := syntax.Parse(q.target, syntaxOptions(q))
	if err != nil {
		return nil, faultOf(q.ctx, err)
	}
	q.timing.parsed = s.opts.Now()
	r.resource, err = s.binder.Resource(parsed, bind.Options{Limits: s.opts.Limits, Caller: q.caller, Now: q.timing.start})
	if err != nil {
		return nil, faultOf(q.ctx, err)
	}
	if err := r.permitted(); err != nil {
		return nil, err
	}
	if err := r.versions(); err != nil {
		return nil, err
	}
	if err := r.preconditions(); err != nil {
		return nil, err
	}
	if err := r.negotiate(parsed); err != nil {
		return nil, err
	}
	if q.method != http.MethodDelete {
		r.body, err = r.readBody()
	}
	q.timing.planned = s.opts.Now()
	return r, err
}

// permitted checks that the resource has the method, and that the caller may write at all.
func (r *writer) permitted() error {
	q, kind, w := r.q, r.resource.Kind, (*edm.Write)(nil)
	if r.resource.Set != nil {
		w = r.resource.Set.Write
	}
	methods := []string{http.MethodGet, http.MethodHead}
	if w != nil {
		methods = append(methods, r.methods(w)...)
	}
	absent := w != nil && (kind == bind.OfRelated && w.Create && q.method == http.MethodPost || kind == bind.OfReference && w.Update)
	if !absent && !slices.Contains(methods, q.method) {
		return notAllowed(q.method, strings.Join(methods, ", "))
	}
	if err := q.caller.Pass(edm.GuardSettled); err != nil {
		return faultOf(q.ctx, err)
	}
	if code := q.caller.ReadOnly; code != "" {
		return &fault{status: http.StatusForbidden, code: code, pos: -1, message: "what shows who you are does not allow to change anything here"}
	}
	if w.Validator != "" { // until rules are asked, nothing passes them
		return &fault{status: http.StatusNotImplemented, code: "not_implemented", pos: -1, message: "this set has a validator, which is not asked yet"}
	}
	if absent {
		return &fault{status: http.StatusNotImplemented, code: "not_implemented", pos: -1, message: "links cannot be written yet: write the property that holds the key"}
	}
	return nil
}

// methods are those that write the resource.
func (r *writer) methods(w *edm.Write) []string {
	var out []string
	switch kind := r.resource.Kind; kind {
	case bind.OfSet:
		if w.Create {
			out = append(out, http.MethodPost)
		}
	case bind.OfEntity:
		if w.Update {
			out = append(out, http.MethodPatch, http.MethodPut)
		}
		if w.Delete {
			out = append(out, http.MethodDelete)
		}
	case bind.OfProperty, bind.OfValue:
		p := r.resource.Props[len(r.resource.Props)-1]
		switch {
		case !w.Update || r.resource.Set.Access(r.resource.Props...) != edm.Free:
		case p.Type.Kind == edm.Complex:
			out = append(out, http.MethodPatch, http.MethodPut)
		case p.Nullable:
			out = append(out, http.MethodPut, http.MethodDelete)
		default:
			out = append(out, http.MethodPut)
		}
	}
	return out
}

// versions reads which version of the protocol the body is of: that of OData-Version, or else of OData-MaxVersion
// (OData-Protocol 8.1.5).
func (r *writer) versions() error {
	r.oldTags = !r.q.v401
	switch v := strings.TrimSpace(r.q.header.Get("OData-Version")); v {
	case "":
	case "4.0":
		r.oldTags = true
	case "4.01":
		r.oldTags = false
	default:
		return badRequest("unsupported_version", "OData-Version: this service speaks OData 4.0 and 4.01")
	}
	return nil
}

// preconditions reads If-Match, and If-None-Match where it is "*" (OData-Protocol 8.2.4, 8.2.5).
func (r *writer) preconditions() error {
	if lines := r.q.header["If-Match"]; len(lines) > 0 {
		tags, all, ok := header.ETags(lines)
		if !ok {
			return badRequest("malformed", "If-Match needs entity tags, as in W/\"…\", or *")
		}
		r.match = &write.Match{Tags: tags, Any: all}
	}
	if strings.TrimSpace(r.q.header.Get("If-None-Match")) == "*" {
		r.match = &write.Match{} // of no row that is there
	}
	return nil
}

// negotiate decides on the answer: without a body where the client prefers that and names nothing to be shown.
func (r *writer) negotiate(parsed *syntax.Request) error {
	q := r.q
	shows := len(parsed.Select) > 0 || len(parsed.Expand) > 0
	r.minimal = q.prefer.Return == "minimal" && !shows || q.method == http.MethodDelete
	if q.prefer.Return != "" && q.method != http.MethodDelete {
		r.applied = "return=representation"
		if r.minimal {
			r.applied = "return=minimal"
		}
	}
	accept := header.ParseAccept(q.header["Accept"])
	if parsed.Format != "" {
		accept = header.ParseFormat(parsed.Format)
	}
	var ok bool
	r.format.JSON, ok = accept.JSON()
	if r.resource.Kind == bind.OfValue || r.minimal {
		return nil
	}
	if !ok {
		return notAcceptable(typeJSON)
	}
	if r.format.Metadata == header.Full {
		r.format.language = r.answers.documents.languages.of(q)
	}
	return nil
}

// readBody reads the body, in the one media type that the resource has.
func (r *writer) readBody() ([]byte, error) {
	want := typeJSON
	if r.resource.Kind == bind.OfValue {
		want = "text/plain"
		if p := r.resource.Props; p[len(p)-1].Type.Kind == edm.Binary {
			want = "application/octet-stream"
		}
	}
	media, params, err := mime.ParseMediaType(r.q.header.Get("Content-Type"))
	if media == "" && r.q.inBatch { // a part may say it by its batch
		media, err = want, nil
	}
	if charset := params["charset"]; err != nil || media != want || charset != "" && !strings.EqualFold(charset, "utf-8") || r.q.header.Get("Content-Encoding") != "" {
		return nil, &fault{
			status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", pos: -1,
			message: "the body of this request is " + want + ", in UTF-8 and not compressed",
		}
	}
	body, err := io.ReadAll(io.LimitReader(r.q.body, maxBody+1))
	switch {
	case err != nil:
		return nil, badRequest("malformed", "the body did not arrive whole")
	case len(body) > maxBody:
		return nil, &fault{
			status: http.StatusRequestEntityTooLarge, code: "request_too_large", pos: -1, limit: fixedLimit,
			message: fmt.Sprintf("the body is longer than %d bytes, which is a fixed limit", maxBody),
		}
	}
	return body, nil
}

// change makes the change in a transaction, which begins with the first of a group, and returns its answer.
func (r *writer) change(c *changes) (*result, error) {
	w, err := r.bind()
	if err != nil {
		return nil, r.behindAbsence(c, err)
	}
	if err := c.begin(r.q); err != nil {
		return nil, err
	}
	if done := c.answered(); done != nil {
		return done, nil
	}
	if w.Change.Kind != write.Create && w.Change.Key == nil {
		if w.Change.Key, err = r.find(c); err != nil {
			return nil, err
		}
	}
	rows, err := c.tx.Apply(w.Change)
	if err != nil {
		return nil, r.refused(c, w, err)
	}
	r.q.timing.opened = r.opts.Now()
	key := w.Change.Key
	var done *result
	if rows == nil {
		done = r.deleted()
	} else {
		key = w.Change.After.Plan.Top.KeyOf(rows.Row())
		done, err = r.changed(c, w, rows, key)
		if closing := rows.Close(); err == nil && closing != nil {
			err = faultOf(c.ctx, closing)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.once != nil {
		c.once.answers = append(c.once.answers, done)
	}
	c.written = append(c.written, Written{Set: w.Change.Set.Name, Kind: w.Change.Kind.String(), Key: r.encoder().Key(w.Change.Set, key)})
	return done, nil
}

func (r *writer) encoder() *payload.Encoder { return r.answers.encoder(r.q, r.format) }

// find reads the key of the entity that a path names otherwise than by its key.
func (r *writer) find(c *changes) ([]plan.Value, error) {
	rows, err := c.tx.Open(r.resource.Find)
	if p, ok := errors.AsType[*plan.Error](err); ok && p.Kind == plan.NotFound {
		return nil, r.absent()
	}
	if err != nil {
		return nil, c.fault(err)
	}
	defer func() { _ = rows.Close() }() // nothing was written that could be lost
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, c.fault(err)
		}
		return nil, r.absent()
	}
	return r.resource.Find.Top.KeyOf(rows.Row()), nil
}

// behindAbsence returns the fault of a request that is malformed, unless the entity is not there: then that is the fault.
func (r *writer) behindAbsence(c *changes, why error) error {
	if r.resource.Find == nil || r.match != nil {
		return why
	}
	if err := c.begin(r.q); err != nil {
		return err
	}
	if _, err := r.find(c); err != nil {
		return err
	}
	return why
}
