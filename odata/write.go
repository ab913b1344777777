package odata

import (
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
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// writing is the stage that answers requests that write: one transaction for each of them, or for the group that it is a part of
// (OData-Protocol 11.4).
type writing struct {
	source  Writable
	binder  *bind.Binder
	cache   *cache
	body    payload.BodyReader
	opts    *Options
	answers *answering
	// repeats reports that the source remembers requests, judges that a set of the model has rules.
	repeats, judges bool
}

// newWriting returns the stage for a source that writes and a model that has sets to be written; else nil.
func newWriting(m *Model, source Source, p *pipeline) *writing {
	w, ok := source.(Writable)
	if !ok || !slices.ContainsFunc(m.Sets, func(s *edm.EntitySet) bool { return s.Write != nil }) {
		return nil
	}
	return &writing{
		source: w, binder: p.plans.binder, cache: p.plans.cache, body: payload.BodyReader{Namespace: m.Namespace}, opts: p.opts, answers: &p.answers,
		repeats: repeats(source),
		judges:  slices.ContainsFunc(m.All(), func(s *edm.EntitySet) bool { return s.Write != nil && s.Write.Validator != "" }),
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
	encodes  *payload.Encoder // see encoder
	body     []byte
	match    *write.Match
	// minimal reports that the answer has no body, applied the preference that made it so.
	minimal bool
	applied string
	// creates reports that an upsert has found no row, and creates it.
	creates bool
	// seq are the changes that are bound already; nil where they are not.
	seq *bind.Sequence
	// refers reports that the request names a row whose key only the transaction knows. unforeseen reports that it names one that
	// depends on such rows, so that rules cannot judge it.
	refers, unforeseen bool
	// amended are the values that rules have given, seen the changes as rules have seen them, in their order; nil where none are asked.
	amended map[string][]write.Assignment
	seen    []*seen
	// against is why rules refuse the request; nil where they do not.
	against *fault
	// id is the option $id, linked the entity whose link is removed.
	id     string
	linked *bind.Resource
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
	r, err := s.judged(q)
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
	if own.once, err = s.onceOf(q.caller, q.header, []byte(q.method), []byte(q.target), r.body); err != nil {
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

// judged returns the request with what rules have said about it with its group. It is bound again where it names rows whose keys were
// not known then.
func (s *writing) judged(q *request) (*writer, error) {
	before := q.judged
	if before == nil {
		return s.read(q)
	}
	q.timing = before.q.timing // the time of a change is the one that rules have seen
	if before.seq != nil && !before.refers {
		before.q = q
		return before, nil
	}
	r, err := s.read(q)
	if err == nil {
		r.creates, r.unforeseen, r.amended, r.seen = before.creates, before.unforeseen, before.amended, before.seen
	}
	return r, err
}

// read takes a request apart, up to its body. Who asks comes before what is asked for.
func (s *writing) read(q *request) (*writer, error) {
	r := &writer{writing: s, q: q, refers: q.row != nil}
	if err := s.resolve(r); err != nil {
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
	if err := r.negotiate(r.resource.Query()); err != nil {
		return nil, err
	}
	var err error
	if q.method != http.MethodDelete {
		r.body, err = r.readBody()
	}
	q.timing.planned = s.opts.Now()
	return r, err
}

// resolve finds the resource that the target names. That of a set is kept, since it holds nothing of a key or a caller.
func (s *writing) resolve(r *writer) error {
	q, o := r.q, s.bindOptions(r.q)
	key := planKeyOf(q)
	key.resource = true
	if known := s.cache.plan(key); known != nil && q.row == nil {
		q.timing.parsed = q.timing.start
		r.resource = known.resource.For(o)
		return nil
	}
	parsed, err := syntax.Parse(q.target, syntaxOptions(q))
	if err != nil {
		return err
	}
	q.timing.parsed = s.opts.Now()
	r.id = parsed.ID
	r.resource, err = s.binder.Resource(parsed, o)
	if err == nil && r.resource.Kind == bind.OfSet {
		s.cache.addPlan(key, &planned{resource: r.resource})
	}
	return err
}

func (s *writing) bindOptions(q *request) bind.Options {
	return bind.Options{Limits: s.opts.Limits, Caller: q.caller, Now: q.timing.start, Row: q.row}
}

// permitted checks that the resource has the method, and that the caller may write at all.
func (r *writer) permitted() error {
	q, kind, w := r.q, r.resource.Kind, (*edm.Write)(nil)
	if r.resource.Set != nil {
		w = r.resource.Set.Write
	}
	methods := append(make([]string, 0, 8), http.MethodGet, http.MethodHead)
	if w != nil {
		methods = r.methods(methods, w)
	}
	if own := r.resource.Own; own != nil && (kind == bind.OfRelated || kind == bind.OfReference) {
		methods = append(methods, linkMethods(r.resource)...)
	}
	if !slices.Contains(methods, q.method) {
		return notAllowed(q.method, strings.Join(methods, ", "))
	}
	if err := q.caller.Pass(edm.GuardSettled); err != nil {
		return faultOf(q.ctx, err)
	}
	if code := q.caller.ReadOnly; code != "" {
		return &fault{status: http.StatusForbidden, code: code, pos: -1, message: "this request may only read: its token was made without --write, or another site sent it"}
	}
	return nil
}

// methods appends those that write the resource.
func (r *writer) methods(out []string, w *edm.Write) []string {
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
	switch v := strings.TrimSpace(r.q.header.Get("Odata-Version")); v {
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
func (r *writer) negotiate(parsed *syntax.Query) error {
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
	if r.resource.Kind == bind.OfReference {
		r.minimal, r.applied = true, ""
	}
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
	said := r.q.header.Get("Content-Type")
	if said == "" && r.q.inBatch { // a part may say it by its batch
		said = want
	}
	media, params, err := want, map[string]string(nil), error(nil)
	if said != want {
		media, params, err = mime.ParseMediaType(said)
	}
	if charset := params["charset"]; err != nil || media != want || charset != "" && !strings.EqualFold(charset, "utf-8") || r.q.header.Get("Content-Encoding") != "" {
		return nil, &fault{
			status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", pos: -1,
			message: "the body of this request is " + want + ", in UTF-8 and not compressed",
		}
	}
	body, err := readAll(r.q.body)
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

// readAll reads a body up to one byte more than it may have. That of a part of a batch is there.
func readAll(body io.Reader) ([]byte, error) {
	if part, ok := body.(*sent); ok {
		return part.text, nil
	}
	return io.ReadAll(io.LimitReader(body, maxBody+1))
}

func (r *writer) encoder() *payload.Encoder {
	if r.encodes == nil {
		r.encodes = r.answers.encoder(r.q, r.format)
	}
	return r.encodes
}
