package odata

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/header"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/planner"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

const readMethods = "GET, HEAD"

// answer gives a *fault for what can still be answered with a status, any
// other error once bytes are out.
func (s *Service) answer(w http.ResponseWriter, q *request) error {
	if before, ok := q.segment("$batch"); ok && before == "" {
		return s.batch(w, q)
	}
	if before, ok := q.segment("$query"); ok {
		if q.method != http.MethodPost {
			return notAllowed(q.method, http.MethodPost)
		}
		if err := q.postedQuery(before); err != nil {
			return err
		}
	}
	if q.method != http.MethodGet && q.method != http.MethodHead {
		return notAllowed(q.method, readMethods)
	}
	p, accept, err := s.plan(q)
	if err != nil {
		return err
	}
	q.timing.planned = s.opts.Now()
	switch p.plan.Kind {
	case plan.ServiceDocument:
		return s.serviceDocument(w, q, accept, p.plan.Private)
	case plan.Metadata:
		return s.metadata(w, q, accept, p.plan.Private)
	default:
		return s.data(w, q, accept, p)
	}
}

// plan resolves the target of a request, or remembers how it did before.
func (s *Service) plan(q *request) (*planned, header.Accept, error) {
	accept := header.ParseAccept(q.header["Accept"])
	key := q.planKey()
	p := s.cache.plan(key)
	if p == nil {
		var err error
		if p, err = s.build(q); err != nil {
			return nil, accept, err
		}
		if sharable(p.plan) {
			s.cache.addPlan(key, p)
		}
	} else {
		q.timing.parsed = s.opts.Now()
	}
	if p.format != "" {
		accept = header.ParseFormat(p.format)
	}
	return p, accept, nil
}

// build parses the target of a request and binds it to the model.
func (s *Service) build(q *request) (*planned, error) {
	parsed, err := syntax.Parse(q.target, syntax.Options{V401: q.v401})
	if err != nil {
		return nil, faultOf(q.ctx, err)
	}
	format := parsed.Format
	byID := len(parsed.Segments) > 0 && parsed.Segments[0].Name == "$entity"
	if byID {
		if parsed, err = s.dereference(q, parsed); err != nil {
			return nil, err
		}
	}
	q.timing.parsed = s.opts.Now()
	p, err := s.planner.Build(parsed, planner.Options{
		Limits: s.opts.Limits, Prefer: q.prefer.MaxPageSize, Caller: q.caller, Now: q.timing.start,
	})
	switch {
	case err != nil:
		return nil, faultOf(q.ctx, err)
	case byID && p.Kind != plan.Entity:
		return nil, notFound("$id does not name an entity")
	}
	return &planned{plan: p, format: format}, nil
}

// dereference makes the request that $entity?$id=… stands for (OData-URL 4.3.4).
func (s *Service) dereference(q *request, parsed *syntax.Request) (*syntax.Request, error) {
	target, f := s.resolve(q, parsed.ID)
	if f != nil {
		return nil, f
	}
	id := &request{}
	if f := s.locate(id, target); f != nil {
		return nil, f
	}
	below, _, _ := strings.Cut(id.target, "?")
	below += strings.TrimPrefix(parsed.RawPath, "$entity")
	var rest []string
	for _, o := range parsed.Options {
		if o.Name != "$id" {
			rest = append(rest, o.Raw)
		}
	}
	again, err := syntax.Parse(below+"?"+strings.Join(rest, "&"), syntax.Options{V401: q.v401})
	if err != nil {
		return nil, faultOf(q.ctx, err)
	}
	return again, nil
}

// data answers with what a source has.
func (s *Service) data(w http.ResponseWriter, q *request, accept header.Accept, from *planned) error {
	p := from.plan
	format, ok := accept.JSON()
	raw := p.Kind == plan.RawValue || p.Kind == plan.RawCount
	media, _, _ := strings.Cut(rawType(p), ";") // a parameter more is no other type
	if !ok && (!raw || accept.Best(media) == "") {
		return notAcceptable(rawType(p))
	}
	out := &response{s: s, w: w, q: q}
	key := answerKey{url: q.origin + q.path, format: format}
	if a := s.unchanged(q, from, key); a != nil {
		return out.again(a, p.Private)
	}
	ctx, clock := work(q.ctx, s.opts.Timeout)
	defer clock.stop()
	rows, err := s.source.Open(ctx, p)
	if err != nil {
		return faultOf(ctx, err)
	}
	defer func() { _ = rows.Close() }() // nothing was written that could be lost
	q.timing.opened = s.opts.Now()
	if p.Kind != plan.Collection && p.Kind != plan.RawCount && !rows.Next() {
		if err := rows.Err(); err != nil {
			return faultOf(ctx, err)
		}
		return s.absent(w, q, p)
	}
	out.clock = clock
	if version := rows.Version(); version != "" && sharable(p) {
		out.etag = s.etag(q, key, version)
		if s.cache.wants(from) {
			out.keep = func(a *kept) {
				a.version = version
				s.cache.addAnswer(from, key, a)
			}
		}
	}
	err = s.write(out, p, rows, format)
	if err != nil && !out.sent {
		return faultOf(ctx, err)
	}
	return err
}

// unchanged gives the answer that was given before, if the data has not
// changed since.
func (s *Service) unchanged(q *request, p *planned, k answerKey) *kept {
	source, ok := s.source.(Versioned)
	if !ok || !sharable(p.plan) || !s.cache.wants(p) {
		return nil
	}
	version := source.Version(q.ctx)
	if version == "" {
		return nil
	}
	return s.cache.answer(p, k, version)
}

// write encodes rows into the response.
func (s *Service) write(out *response, p *plan.Plan, rows plan.Rows, format header.JSON) error {
	q := out.q
	h := out.w.Header()
	q.prepare(h, format.ContentType(), p.Private)
	e := &payload.Encoder{Root: q.root, Namespace: s.model.Namespace, Format: format, V401: q.v401}
	buffer := s.buffers.Get(out)
	defer s.buffers.Put(buffer)
	switch p.Kind {
	case plan.Collection:
		if n := p.Top.Page.Applied; n > 0 {
			h.Set("Preference-Applied", "odata.maxpagesize="+strconv.FormatInt(n, 10))
		}
		return e.Collection(buffer, p, rows, q.nextLink)
	case plan.Entity:
		return e.Entity(buffer, p, rows)
	case plan.RawCount:
		h.Set("Content-Type", "text/plain;charset=utf-8")
		buffer.Raw(strconv.FormatInt(rows.Count(), 10))
		return buffer.End()
	}
	f := p.Top.Fields[0]
	if f.Column >= 0 && rows.Row()[f.Column].Null {
		return s.noContent(out.w)
	}
	if p.Kind == plan.Property {
		return e.Property(buffer, p, rows)
	}
	h.Set("Content-Type", rawType(p))
	buffer.Raw(string(payload.AppendText(nil, &rows.Row()[f.Column], &f.T)))
	return buffer.End()
}

// absent answers for an entity that is not there: 204 where a to-one
// navigation leads nowhere (OData-Protocol 11.2.6), else 404.
func (s *Service) absent(w http.ResponseWriter, q *request, p *plan.Plan) error {
	if !p.Optional {
		return notFound("there is no such entity")
	}
	q.prepare(w.Header(), "", p.Private)
	return s.noContent(w)
}

func (s *Service) noContent(w http.ResponseWriter) error {
	w.Header().Del("Content-Type")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rawType is the media type of an answer that is no JSON, and of JSON itself.
func rawType(p *plan.Plan) string {
	switch p.Kind {
	case plan.RawCount:
		return "text/plain"
	case plan.RawValue:
		if k := p.Top.Fields[0].T.Kind; k == edm.Binary || k == edm.Stream {
			return "application/octet-stream"
		}
		return "text/plain;charset=utf-8"
	default:
		return "application/json"
	}
}

// segment tells whether the last segment of the target's path is name, and
// gives the path before it.
func (q *request) segment(name string) (string, bool) {
	below, _, _ := strings.Cut(q.target, "?")
	before, ok := strings.CutSuffix(below, name)
	return strings.TrimSuffix(before, "/"), ok && (before == "" || strings.HasSuffix(before, "/"))
}
