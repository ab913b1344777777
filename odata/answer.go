package odata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// answering is the stage that carries out a plan.
type answering struct {
	source    Source
	documents documents
	opts      *Options
	cache     *cache
	buffers   payload.Pool
	spools    *spools
}

// answer sends what a plan asks for.
func (s *answering) answer(w http.ResponseWriter, q *request, p *planned, accept header.Accept) error {
	out := s.response(w, q)
	defer out.stop()
	if n := p.plan.Top; n != nil && tagged(p.plan) {
		out.mixed = len(n.Expand) > 0 || slices.ContainsFunc(n.Fields, func(f plan.Field) bool { return f.Computed })
	}
	switch p.plan.Kind {
	case plan.ServiceDocument:
		return s.serviceDocument(out, accept, p.plan.Private)
	case plan.Metadata:
		return s.metadata(out, accept, p.plan.Private)
	default:
		return s.data(out, accept, p)
	}
}

// serviceDocument lists the sets, for browsers as a page of links.
func (s *answering) serviceDocument(out *response, accept header.Accept, private bool) error {
	if accept.Best(typeJSON, typeHTML) == typeHTML {
		_, lang := s.documents.in(out.q)
		return s.textIn(out, lang, typeHTML+";charset=utf-8", s.documents.page(out.q.root, lang), private)
	}
	format, ok := accept.JSON()
	if !ok {
		return notAcceptable(typeJSON + ", " + typeHTML)
	}
	docs, lang := s.documents.in(out.q)
	return s.textIn(out, lang, format.ContentType(), s.documents.service(out.q.root, docs.tag(out.q.version()), format), private)
}

// metadata gives the model: as XML unless JSON is asked for, which a client of 4.0 cannot
// read (OData-CSDLJSON is new in 4.01).
func (s *answering) metadata(out *response, accept header.Accept, private bool) error {
	offers := []string{typeXML, typeJSON}
	if out.q.only40 {
		offers = offers[:1]
	}
	media := accept.Best(offers...)
	if media == "" {
		return notAcceptable(strings.Join(offers, ", "))
	}
	docs, lang := s.documents.in(out.q)
	return s.documentIn(out, lang, media, docs.metadata[out.q.version()+media], private)
}

// documentIn sends a document that depends on the language.
func (s *answering) documentIn(out *response, lang, contentType string, d document, private bool) error {
	s.setDocument(out, lang, contentType, private)
	return out.document(d())
}

// textIn sends a text that depends on the language, or tells the tag of a document.
func (s *answering) textIn(out *response, lang, contentType string, b []byte, private bool) error {
	s.setDocument(out, lang, contentType, private)
	return out.Send(b, true)
}

// setDocument sets the headers of an answer that depends on no data.
func (s *answering) setDocument(out *response, lang, contentType string, private bool) {
	setSuccess(out.w.Header(), out.q, contentType, private)
	s.documents.languages.tellLanguage(out.w.Header(), out.q, lang)
	out.q.timing.opened = out.q.timing.planned
}

// data answers with rows of the source, or from the cache if the data has not changed.
func (s *answering) data(out *response, accept header.Accept, from *planned) error {
	q, p := out.q, from.plan
	format, ok, err := negotiate(accept, q, p)
	if err != nil {
		return err
	}
	if format.csv && q.prefer.MaxPageSize <= 0 { // readers of CSV follow no links
		p = p.Whole()
	}
	raw := p.Kind == plan.RawValue || p.Kind == plan.RawCount
	media, _, _ := strings.Cut(rawType(p), ";") // a parameter more is no other type
	if raw && accept.Refuses(media) || !ok && (!raw || accept.Best(media) == "") {
		return notAcceptable(offers(p))
	}
	if format.Metadata == header.Full { // it tells the tag of $metadata, which is in a language
		format.language = s.documents.languages.of(q)
	}
	key := answerKey{url: q.origin + q.path, format: format, omitNulls: q.prefer.OmitNulls, annotations: q.prefer.IncludeAnnotations}
	if a := s.unchanged(q, from, key); a != nil {
		return s.repeat(out, a, p, format)
	}
	o, err := s.open(q, p)
	if err != nil {
		return err
	}
	ctx, rows := o.ctx, o.rows
	out.hold(o.held, o.clock)
	if p.Kind != plan.Collection && p.Kind != plan.RawCount && !rows.Next() {
		if err := rows.Err(); err != nil {
			return faultOf(ctx, err)
		}
		return absent(out, p)
	}
	if tagged(p) {
		out.etag = entityTag(p.Top, rows.Row())
	}
	s.tagAndKeep(out, from, key, rows.Version())
	err = s.write(out, p, rows, format)
	var slow *slowError
	switch {
	case err != nil && !out.sent:
		return faultOf(ctx, err)
	case err != nil && errors.As(context.Cause(ctx), &slow):
		return fmt.Errorf("%w: %w", slow, err)
	}
	return err
}

// unchanged returns the answer in the cache if the data has not changed since; else nil.
func (s *answering) unchanged(q *request, p *planned, k answerKey) *kept {
	source, ok := s.source.(Versioned)
	if !ok || q.changes.begun() || !sharable(p.plan) || !s.cache.wants(p) {
		return nil
	}
	version := source.Version(q.ctx)
	if version == "" {
		return nil
	}
	return s.cache.answer(p, k, version)
}

// repeat sends an answer that was given before.
func (s *answering) repeat(out *response, a *kept, p *plan.Plan, f format) error {
	h := out.w.Header()
	s.setData(h, out.q, a.contentType, p, f)
	if a.applied != "" {
		h.Set("Preference-Applied", a.applied)
	}
	if f.csv {
		setTable(h, p.Top)
	}
	if a.link != "" {
		h.Set("Link", a.link)
	}
	out.q.timing.opened = out.q.timing.planned
	out.etag = a.etag
	return out.Send(a.body, true)
}

// tagAndKeep sets the entity tag of an answer, which is a hash of all that the answer depends on, and puts the answer into
// the cache if it was asked for before. An answer that depends on the caller or the time gets neither: the version of the
// data does not identify it.
func (s *answering) tagAndKeep(out *response, from *planned, k answerKey, version string) {
	q := out.q
	// What a transaction reads before its end has a version that another state may get.
	if version == "" || !sharable(from.plan) || q.changes.begun() {
		return
	}
	page := strconv.FormatInt(q.prefer.MaxPageSize, 10)
	if out.etag == "" {
		out.etag = s.etag(q, k, version, page)
	}
	if !s.cache.wants(from) {
		return
	}
	out.keep = func(block []byte) {
		if len(block) > maxKept {
			return
		}
		h := out.w.Header()
		s.cache.addAnswer(from, k, &kept{
			version: version, contentType: h.Get("Content-Type"), applied: h.Get("Preference-Applied"), etag: out.etag, body: bytes.Clone(block),
			link: h.Get("Link"),
		})
	}
}

// etag returns the entity tag of an answer with rows.
func (s *answering) etag(q *request, k answerKey, version, page string) string {
	return etagOf([]byte(s.documents.etag()), []byte(version), []byte(k.url), []byte(q.query), []byte(k.format.ContentType()), []byte(page), []byte(q.version()),
		strconv.AppendBool(nil, q.prefer.OmitNulls), []byte(k.format.language))
}

// tagged reports whether a plan reads one entity, or a part of it, that has an entity tag of its own.
func tagged(p *plan.Plan) bool {
	return p.Top.Tag != nil && p.Kind != plan.Collection && p.Kind != plan.RawCount
}

// entityTag returns the entity tag of a row. It is weak: representations that differ, such as by $select, share it.
func entityTag(n *plan.Node, row []plan.Value) string {
	return string(append(n.AppendTag([]byte(`W/"`), row), '"'))
}

// setData sets the headers of an answer with rows.
func (s *answering) setData(h http.Header, q *request, contentType string, p *plan.Plan, f format) {
	setSuccess(h, q, contentType, p.Private)
	if tagged(p) {
		// All formats of the entity share its tag: after a 304 a browser would show its copy in another format, without odata.etag.
		h.Set("Cache-Control", "no-store")
	}
	if f.Metadata == header.Full {
		s.documents.languages.tellLanguage(h, q, "")
	}
}

// write encodes rows into the response.
func (s *answering) write(out *response, p *plan.Plan, rows plan.Rows, format format) error {
	q, h := out.q, out.w.Header()
	s.setData(h, q, format.ContentType(), p, format)
	setApplied(h, q, p, format)
	e := s.encoder(q, format)
	buffer := s.buffers.Get(out)
	defer s.buffers.Put(buffer)
	switch {
	case format.csv:
		setTable(h, p.Top)
		if p.Top.Page.Next {
			out.trailer = "Link"
		}
		return e.CSV(buffer, p, rows, out.linkNext)
	case p.Kind == plan.Collection:
		return e.Collection(buffer, p, rows, q.nextLink)
	case p.Kind == plan.Entity:
		return e.Entity(buffer, p, rows)
	case p.Kind == plan.RawCount:
		h.Set("Content-Type", rawType(p)+";charset=utf-8")
		buffer.Raw(strconv.FormatInt(rows.Count(), 10))
		return buffer.End()
	}
	f := p.Top.Fields[0]
	if f.Column >= 0 && rows.Row()[f.Column].Null {
		out.noContent()
		return nil
	}
	if p.Kind == plan.Property {
		return e.Property(buffer, p, rows)
	}
	h.Set("Content-Type", rawType(p))
	buffer.Raw(string(payload.AppendText(nil, &rows.Row()[f.Column], &f.T)))
	return buffer.End()
}

// encoder returns the encoder of an answer.
func (s *answering) encoder(q *request, format format) *payload.Encoder {
	e := &payload.Encoder{
		Root: q.root, Namespace: s.documents.model.Namespace, Format: format.JSON, V401: q.v401, TakeRow: q.left.takeRow,
		OmitNulls: q.prefer.OmitNulls,
	}
	if format.Metadata == header.Full {
		e.MetadataETag = s.documents.localized[format.language].tag(q.version())
	}
	return e
}

// setApplied tells which preferences made the answer what it is (OData-Protocol
// 8.3.5). include-annotations is followed without any doing: answers have none.
func setApplied(h http.Header, q *request, p *plan.Plan, f format) {
	var list []string
	if n := p.Top.Page.Applied; n > 0 && p.Kind == plan.Collection {
		list = append(list, "odata.maxpagesize="+strconv.FormatInt(n, 10))
	}
	structured := !f.csv && (p.Kind == plan.Collection || p.Kind == plan.Entity || p.Kind == plan.Property)
	if structured && q.prefer.OmitNulls {
		list = append(list, "omit-values=nulls")
	}
	if wanted := q.prefer.IncludeAnnotations; structured && annotationList(wanted) {
		list = append(list, `odata.include-annotations="`+wanted+`"`)
	}
	if list != nil {
		h.Set("Preference-Applied", strings.Join(list, ", "))
	}
}

// annotationList tells whether s is a list of terms, with wildcards, exclusions and
// qualifiers, which can stand in a header as it is (OData-Protocol 8.2.8.4).
func annotationList(s string) bool {
	const signs = "*-.,#_"
	return s != "" && len(s) <= 1000 && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(signs, r) && !(r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
	})
}

// absent answers for an entity that is not there: 204 where a to-one
// navigation leads nowhere (OData-Protocol 11.2.7), else 404.
func absent(out *response, p *plan.Plan) error {
	if !p.Optional {
		return notFound("there is no such entity")
	}
	setSuccess(out.w.Header(), out.q, "", p.Private)
	out.noContent()
	return nil
}

// offers are the media types that what a plan reads can have.
func offers(p *plan.Plan) string {
	if p.Kind == plan.Collection && !p.Top.Ref {
		return typeJSON + ", " + typeCSV
	}
	return rawType(p)
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
		return typeJSON
	}
}
