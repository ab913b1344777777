package odata

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/planner"
)

// Service answers OData requests. It is an http.Handler, safe for concurrent
// use. Between requests it keeps plans, and short answers of sources that are
// Versioned, within fixed bounds.
type Service struct {
	model     *edm.Model
	source    Source
	planner   *planner.Planner
	opts      Options
	documents documents
	cache     cache
	buffers   payload.Pool
	gzips     sync.Pool
}

// New makes a Service for a model and the source that has its rows. It fails
// when the model, or a row policy in it, does not hold up.
func New(model *edm.Model, source Source, opts Options) (*Service, error) {
	if err := model.Check(); err != nil {
		return nil, fmt.Errorf("check model: %w", err)
	}
	binder, err := planner.New(model)
	if err != nil {
		return nil, fmt.Errorf("prepare plans: %w", err)
	}
	opts = opts.withDefaults()
	return &Service{
		model: model, source: source, planner: binder, opts: opts,
		documents: newDocuments(model, opts.Limits),
	}, nil
}

// ServeHTTP answers a request below Options.Root. When an answer fails after
// its first byte the connection is broken with http.ErrAbortHandler, because
// JSON that ends well would look complete.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, f := s.read(r)
	if f != nil {
		s.fail(w, q, f)
		return
	}
	s.serve(w, q)
}

// serve answers a request or a part of a batch.
func (s *Service) serve(w http.ResponseWriter, q *request) {
	err := s.answer(w, q)
	var f *fault
	switch {
	case err == nil, errors.Is(err, errHead):
	case errors.As(err, &f):
		s.fail(w, q, f)
	default:
		level := hclog.Error
		if q.ctx.Err() != nil { // the client left
			level = hclog.Debug
		}
		s.opts.Logger.Log(level, "odata answer broken off", "request_id", q.id, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// Error makes a fault an error, so that every stage can end a request with it.
func (f *fault) Error() string { return f.message }

// Unwrap gives the cause.
func (f *fault) Unwrap() error { return f.cause }
