package odata

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Service answers OData requests. It is an http.Handler, safe for concurrent
// use. Between requests it keeps plans, and short answers of sources that are
// Versioned, within fixed bounds.
type Service struct {
	opts  Options
	batch batches
	read  *pipeline
}

// New makes a Service for a model and the source that has its rows. It fails when the model or a row policy in it is
// faulty, or a set names a validator and Options.Validate is nil; the error names each fault.
func New(model *edm.Model, source Source, opts Options) (*Service, error) {
	if err := model.Check(); err != nil {
		return nil, fmt.Errorf("check model: %w", err)
	}
	if opts.Validate == nil {
		if i := slices.IndexFunc(model.Sets, func(s *edm.EntitySet) bool { return s.Write != nil && s.Write.Validator != "" }); i >= 0 {
			return nil, fmt.Errorf("entity set %q names a validator, and Options.Validate is nil", model.Sets[i].Name)
		}
	}
	binder, err := bind.New(model)
	if err != nil {
		return nil, fmt.Errorf("prepare plans: %w", err)
	}
	s := &Service{opts: opts.withDefaults()}
	report, shared, kept := reporter{s.opts.Logger, s.opts.Refused}, &spools{room: s.opts.Spool}, &cache{most: s.opts.Plans, mostBytes: s.opts.AnswerBytes}
	s.read = &pipeline{
		guard: model.Guard, opts: &s.opts, report: report,
		plans: planning{aggregates: transformations(source) != nil, binder: binder, opts: &s.opts, cache: kept},
		answers: answering{
			source: source, documents: newDocuments(model, &s.opts, transformations(source), repeats(source)), opts: &s.opts, cache: kept, spools: shared,
		},
	}
	s.read.writes = newWriting(model, source, s.read)
	s.batch = batches{opts: &s.opts, report: report, spools: shared, read: s.read}
	return s, nil
}

// ServeHTTP answers a request below Options.Root. When an answer fails after
// its first byte the connection is broken with http.ErrAbortHandler, because
// JSON that ends well would look complete.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, f := readRequest(r, &s.opts)
	if f == nil {
		q.caller, f = s.caller(w, r)
		if s.opts.Unsettled != nil {
			q.unsettled = func(w http.ResponseWriter) bool { return s.opts.Unsettled(w, r) }
		}
		if s.opts.Challenge != nil {
			q.challenge = func(h http.Header) { s.opts.Challenge(h, r) }
		}
	}
	switch {
	case f != nil:
		s.read.report.fail(w, q, f)
	case q.isBatch():
		s.batch.serve(w, q)
	default:
		s.read.serve(w, q)
	}
}

// Metadata is the model as $metadata gives it to a client of OData 4.0, as XML or
// as JSON. It needs no caller.
func (s *Service) Metadata(asJSON bool) []byte {
	media := typeXML
	if asJSON {
		media = typeJSON
	}
	docs := &s.read.answers.documents
	var text []byte
	_ = docs.localized[docs.languages.tags[0]].metadata["4.0"+media]().send(func(block []byte, _ bool) error { // which is in memory
		text = append(text, block...)
		return nil
	})
	return text
}
