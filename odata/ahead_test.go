package odata_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// witnessing is a source that finds witnesses, and writes down what is asked of it.
type witnessing struct {
	numbers
	events []string
	fail   error // of OpenWith
}

func (s *witnessing) note(event string) { s.events = append(s.events, event) }

func (s *witnessing) Witnesses(p *plan.Plan) bool { return p.Kind != plan.RawCount }

func (s *witnessing) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	s.note("open")
	return s.numbers.Open(ctx, p)
}

func (s *witnessing) OpenWith(ctx context.Context, p *plan.Plan, w *odata.Witness) (plan.Rows, error) {
	s.note("open with " + w.Table)
	if s.fail != nil {
		return nil, s.fail
	}
	return s.numbers.Open(ctx, p)
}

// TestAhead holds that a page which was found together with the row of its caller goes to that caller, that whoever else
// asks is asked for first, and that whatever is not given out is given back.
func TestAhead(t *testing.T) {
	t.Parallel()
	ann := odata.Caller{SignedIn: true, Settled: true, Client: "ann"}
	const ahead, given = "admit, open with sessions, leave", "caller, admit, open, leave"
	for _, tt := range []struct {
		name, method, target string
		presumed, caller     odata.Caller
		unknown, fail        error
		status               int
		want                 string
	}{
		{name: "a page", target: "Settled", presumed: ann, status: 200, want: ahead},
		{name: "an open set", target: "Numbers", presumed: ann, status: 200, want: ahead},
		{name: "one row", target: "Settled(1)", presumed: ann, status: 200, want: ahead},
		{name: "head", method: "HEAD", target: "Settled", presumed: ann, status: 200, want: ahead},
		{name: "no such row", target: "Settled(9)", presumed: ann, status: 404, want: ahead},
		{name: "not acceptable", target: "Settled?$format=text/x", presumed: ann, status: 406, want: ahead},
		{name: "no witness", target: "Settled", presumed: ann, caller: ann, fail: errors.New("no row"), status: 200, want: ahead + ", " + given},
		{name: "no witness, and a guest", target: "Settled", presumed: ann, fail: errors.New("no row"), status: 401, want: ahead + ", caller"},
		{name: "no witness, and a guest at an open set", target: "Numbers", presumed: ann, fail: errors.New("no row"), status: 200, want: ahead + ", " + given},
		{name: "no witness, and a step open", target: "Settled", presumed: ann, caller: odata.Caller{SignedIn: true, Client: "ann"}, fail: errors.New("no row"), status: 403, want: ahead + ", caller"},
		{name: "no witness, and nobody can tell", target: "Settled", presumed: ann, unknown: errors.New("away"), fail: errors.New("no row"), status: 503, want: ahead + ", caller"},
		{name: "no witness, and bad credentials", target: "Settled", presumed: ann, unknown: &odata.Refused{}, fail: errors.New("no row"), status: 401, want: ahead + ", caller"},
		{name: "database away", target: "Settled", presumed: ann, caller: ann, fail: &plan.Error{Kind: plan.Unavailable}, status: 200, want: ahead + ", waited, " + given},
		{name: "presumed unsettled", target: "Settled", presumed: odata.Caller{SignedIn: true, Client: "ann"}, caller: ann, status: 200, want: given},
		{name: "presumed with columns", target: "Settled", presumed: odata.Caller{SignedIn: true, Settled: true, User: map[string]any{}}, caller: ann, status: 200, want: given},
		{name: "presumed with a step", target: "Settled", presumed: odata.Caller{SignedIn: true, Settled: true, Next: []byte("{}")}, caller: ann, status: 200, want: given},
		{name: "a number", target: "Settled/$count", presumed: ann, caller: ann, status: 200, want: given},
		{name: "no such set", target: "Nothing", presumed: ann, caller: ann, status: 404, want: "caller"},
		{name: "the model", target: "$metadata", presumed: ann, caller: ann, status: 200, want: "caller"},
		{name: "the OpenAPI document", target: "openapi.json", presumed: ann, caller: ann, status: 200, want: "caller"},
		{name: "to be written", method: "POST", target: "Settled", presumed: ann, caller: ann, status: 405, want: "caller"},
		{name: "of this moment", target: "Settled?$filter=now() gt 2020-01-01T00:00:00Z", presumed: ann, caller: ann, status: 200, want: given},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source := &witnessing{numbers: numbers{total: 3}, fail: tt.fail}
			s := service(t, source, func(o *odata.Options, _ *odata.Model) {
				o.Presume = func(*http.Request) *odata.Presumed {
					return &odata.Presumed{
						Caller: tt.presumed, Witness: odata.Witness{Table: "sessions"},
						Waited: func(*http.Request, time.Time) { source.note("waited") },
					}
				}
				o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
					source.note("caller")
					return tt.caller, tt.unknown
				}
				o.Admit = func(context.Context, odata.Caller) (func(), error) {
					source.note("admit")
					return func() { source.note("leave") }, nil
				}
			})
			w := send(t, s, orGet(tt.method), "/odata/"+strings.ReplaceAll(tt.target, " ", "%20"), "")
			if w.Code != tt.status {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(tt.want, strings.Join(source.events, ", ")); diff != "" {
				t.Error(diff)
			}
			if opened, closed := source.opened.Load(), source.closed.Load(); opened != closed {
				t.Errorf("opened %d times, closed %d times", opened, closed)
			}
		})
	}
}

func orGet(method string) string {
	if method == "" {
		return http.MethodGet
	}
	return method
}

// Without somebody to presume, and on a source that finds no witnesses, nothing is read before the caller is known.
func TestNothingAhead(t *testing.T) {
	t.Parallel()
	source := &witnessing{numbers: numbers{total: 3}}
	caller := func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		source.note("caller")
		return odata.Caller{}, nil
	}
	for name, presume := range map[string]func(*http.Request) *odata.Presumed{"no presumption": nil, "nobody presumed": func(*http.Request) *odata.Presumed { return nil }} {
		source.events = nil
		s := service(t, source, func(o *odata.Options, _ *odata.Model) { o.Caller, o.Presume = caller, presume })
		if w := get(t, s, "/odata/Numbers"); w.Code != 200 || !slices.Equal(source.events, []string{"caller", "open"}) {
			t.Errorf("%s: %d, %v", name, w.Code, source.events)
		}
	}
}

// writing is a source whose rows write themselves, and counts how many have.
type writing struct {
	witnessing
	wrote int
}

func (s *writing) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := s.witnessing.Open(ctx, p)
	return &writtenRows{rows, s}, err
}

func (s *writing) OpenWith(ctx context.Context, p *plan.Plan, w *odata.Witness) (plan.Rows, error) {
	rows, err := s.witnessing.OpenWith(ctx, p, w)
	return &writtenRows{rows, s}, err
}

type writtenRows struct {
	plan.Rows
	source *writing
}

func (r *writtenRows) AppendJSON(dst []byte, _ []plan.Member) ([]byte, bool) {
	r.source.wrote++
	return append(dst, `"ID":0,`...), true
}

// TestRowsWriteThemselves holds that rows which can write themselves do so, whichever way they were opened: what bounds and
// gives back must not hide that.
func TestRowsWriteThemselves(t *testing.T) {
	t.Parallel()
	ann := odata.Caller{SignedIn: true, Settled: true, Client: "ann"}
	for _, presumed := range []bool{false, true} {
		source := &writing{witnessing: witnessing{numbers: numbers{total: 3}}}
		s := service(t, source, func(o *odata.Options, _ *odata.Model) {
			o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) { return ann, nil }
			if presumed {
				o.Presume = func(*http.Request) *odata.Presumed {
					return &odata.Presumed{Caller: ann, Waited: func(*http.Request, time.Time) {}}
				}
			}
		})
		if w := get(t, s, "/odata/Settled"); w.Code != 200 || source.wrote != 3 {
			t.Errorf("presumed %t: %d, %d rows wrote themselves: %s", presumed, w.Code, source.wrote, w.Body)
		}
	}
}
