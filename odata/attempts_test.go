package odata_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// attempted is a source that finds rows together with a witness, or does not.
type attempted struct {
	numbers
}

func (w *attempted) Witnesses(*plan.Plan) bool { return true }

func (w *attempted) OpenWith(ctx context.Context, p *plan.Plan, _ *odata.Witness) (plan.Rows, error) {
	rows, err := w.Open(ctx, p)
	if err != nil || w.total > 0 {
		return rows, err
	}
	return nil, errors.Join(rows.Close(), errors.New("there is no row, or no witness"))
}

// presumed counts what a service that presumes its callers takes and gives back.
type presumed struct {
	admitted, left, told int
	// caller is what is told of who asks, and busy what is said to who wants to use the database.
	caller func() (odata.Caller, error)
	busy   error
}

func (p *presumed) options(o *odata.Options, m *edm.Model) {
	m.Guard = edm.GuardSettled
	o.Presume = func(*http.Request) *odata.Presumed {
		return &odata.Presumed{
			Caller: ada(), Waited: func(*http.Request, time.Time) {},
		}
	}
	o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		p.told++
		return p.caller()
	}
	o.Admit = func(context.Context, odata.Caller) (func(), error) {
		p.admitted++
		if p.busy != nil {
			return nil, p.busy
		}
		return func() { p.left++ }, nil
	}
}

func ada() odata.Caller { return odata.Caller{SignedIn: true, Settled: true, Client: "ada"} }

func isAda() (odata.Caller, error) { return ada(), nil }

// TestAttemptsGiveBack holds that whatever was taken for a page that was read together with the row of its caller is given
// back, once, whatever ends the answer.
func TestAttemptsGiveBack(t *testing.T) {
	for _, tt := range []struct {
		name           string
		target         string
		limits         odata.Limits
		status         int
		admitted, told int
	}{
		{"too many rows", "Numbers", odata.Limits{Rows: 2}, 400, 1, 0},
		{"a batch", "$batch", odata.Limits{}, 405, 0, 1},
		{"posted", "Numbers/$query", odata.Limits{}, 405, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := &attempted{numbers{total: 3}}
			p := &presumed{caller: isAda}
			s := service(t, source, func(o *odata.Options, m *edm.Model) {
				p.options(o, m)
				o.Limits = tt.limits
			})
			if w := get(t, s, "/odata/"+tt.target); w.Code != tt.status || strings.Contains(w.Body.String(), `"value"`) {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tt.status)
			}
			if p.told != tt.told || p.admitted != tt.admitted || p.left != p.admitted {
				t.Errorf("%d callers; %d admitted, want %d; %d have left", p.told, p.admitted, tt.admitted, p.left)
			}
			if opened, closed := source.opened.Load(), source.closed.Load(); opened != closed {
				t.Errorf("%d opened, %d closed", opened, closed)
			}
		})
	}
}

// failing is named, of a source that may panic when it is asked for the state of its data.
type failing struct {
	named
	panics bool
}

func (s *failing) Version(ctx context.Context) string {
	if s.panics {
		panic(http.ErrAbortHandler)
	}
	return s.named.Version(ctx)
}

// TestAttemptsGiveBackInPanics holds the same for what is opened and not taken yet.
func TestAttemptsGiveBackInPanics(t *testing.T) {
	source, p := &failing{named: named{attempted{numbers{total: 3}}}}, &presumed{caller: isAda}
	s := service(t, source, p.options)
	for range 2 { // the state is asked for where an answer comes again
		get(t, s, "/odata/Numbers")
	}
	source.panics = true
	if !breaks(func() { get(t, s, "/odata/Numbers") }) {
		t.Error("it did not panic")
	}
	if opened, closed := source.opened.Load(), source.closed.Load(); p.admitted != 3 || p.left != 3 || opened != 3 || closed != 3 {
		t.Errorf("%d admitted, %d left; %d opened, %d closed", p.admitted, p.left, opened, closed)
	}
}

// TestAttemptsWaitOnce holds that who is refused at the database has waited for that once, and is refused once. A refusal
// looks at no row, so that the sign-in tells who asks.
func TestAttemptsWaitOnce(t *testing.T) {
	for _, tt := range []struct {
		name     string
		caller   odata.Caller
		err      error
		target   string
		admitted int
		status   int
	}{
		{"the same", ada(), nil, "Numbers", 1, 429},
		{"nobody", odata.Caller{Client: "ada"}, nil, "Numbers", 1, 401},
		{"nobody, and a format that there is not", odata.Caller{Client: "ada"}, nil, "Numbers?$format=text/x", 1, 401},
		{"a step is open", odata.Caller{SignedIn: true, Client: "ada"}, nil, "Numbers", 1, 403},
		{"nobody can tell", ada(), errors.New("away"), "Numbers", 1, 503},
		{"another one", odata.Caller{SignedIn: true, Settled: true, Client: "bob"}, nil, "Numbers", 2, 429},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &presumed{caller: func() (odata.Caller, error) { return tt.caller, tt.err }, busy: &odata.Busy{Share: true, Limit: "odata.limits.concurrent", Allowed: 1}}
			s := service(t, &attempted{numbers{total: 3}}, p.options)
			w := get(t, s, "/odata/"+tt.target)
			if w.Code != tt.status || p.admitted != tt.admitted || p.told != 1 {
				t.Errorf("%d %s; asked for %d places, want %d; %d callers", w.Code, w.Body, p.admitted, tt.admitted, p.told)
			}
		})
	}
}

// named is attempted, of a source that names the state of its data.
type named struct{ attempted }

func (*named) Version(context.Context) string { return "1" }

func (s *named) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := s.attempted.Open(ctx, p)
	return namedRows{rows}, err
}

func (s *named) OpenWith(ctx context.Context, p *plan.Plan, w *odata.Witness) (plan.Rows, error) {
	rows, err := s.attempted.OpenWith(ctx, p, w)
	return namedRows{rows}, err
}

type namedRows struct{ plan.Rows }

func (namedRows) Version() string { return "1" }

// TestRefusedAttemptsShowNoPage holds that an answer which is remembered goes to nobody whose row was not looked for, since
// the database was busy.
func TestRefusedAttemptsShowNoPage(t *testing.T) {
	p := &presumed{caller: isAda}
	s := service(t, &named{attempted{numbers{total: 3}}}, p.options)
	for range 3 {
		if w := get(t, s, "/odata/Numbers"); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	p.busy = &odata.Busy{Share: true, Limit: "odata.limits.concurrent", Allowed: 1}
	p.caller = func() (odata.Caller, error) { return odata.Caller{Client: "ada"}, nil }
	if w := get(t, s, "/odata/Numbers"); w.Code != http.StatusUnauthorized {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestEmptyPagesHaveAllTheTime holds that a page without rows, which tells nothing of the caller, may take as long as any
// other.
func TestEmptyPagesHaveAllTheTime(t *testing.T) {
	for _, tt := range []struct {
		name   string
		takes  time.Duration
		status int
	}{{"within the time", 600 * time.Millisecond, 200}, {"too slow", 1200 * time.Millisecond, 503}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, p := &attempted{numbers{dawdle: tt.takes}}, &presumed{caller: isAda}
				s := service(t, source, func(o *odata.Options, m *edm.Model) {
					p.options(o, m)
					o.Timeout = time.Second
				})
				if w := get(t, s, "/odata/Numbers"); w.Code != tt.status {
					t.Errorf("%d %s, want %d", w.Code, w.Body, tt.status)
				}
				if p.admitted != p.left || source.opened.Load() != source.closed.Load() {
					t.Errorf("%d admitted, %d left; %d opened, %d closed", p.admitted, p.left, source.opened.Load(), source.closed.Load())
				}
			})
		})
	}
}

// TestTimeOfAttempts holds that what an attempt took which found no page counts as finding out who asks, and neither as
// planning nor as reading.
func TestTimeOfAttempts(t *testing.T) {
	for _, tt := range []struct{ name, target, want string }{
		{"no row", "Numbers", "parse;dur=700.000, plan;dur=0.000, query;dur=200.000, write;dur=0.000"},
		{"nothing to attempt", "Numbers?$filter=now()%20gt%202020-01-01T00:00:00Z", "parse;dur=500.000, plan;dur=0.000, query;dur=200.000, write;dur=0.000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &presumed{caller: func() (odata.Caller, error) {
					time.Sleep(500 * time.Millisecond)
					return ada(), nil
				}}
				s := service(t, &attempted{numbers{dawdle: 200 * time.Millisecond}}, p.options)
				if got := get(t, s, "/odata/"+tt.target).Header().Get("Server-Timing"); got != tt.want {
					t.Errorf("%s\nwant %s", got, tt.want)
				}
			})
		})
	}
}

// TestEmptyPagesAreNotAttempted holds that a page which had no row the last time is read as it always was, until it has one.
func TestEmptyPagesAreNotAttempted(t *testing.T) {
	for _, tt := range []struct {
		target, tag   string
		without, with int
	}{
		{"Numbers", "", 200, 200},
		{"Numbers", "*", 304, 304},
		{"Numbers?$format=text/csv", "", 200, 200},
		{"Numbers/$ref", "", 200, 200},
		{"Numbers(2)", "", 404, 200},
		{"Numbers(2)/Text", "", 404, 200},
		{"Numbers(2)/Nothing", "", 404, 204},
	} {
		t.Run(tt.target+tt.tag, func(t *testing.T) {
			source, p := &attempted{}, &presumed{caller: isAda}
			s := service(t, source, p.options)
			for i, step := range []struct {
				total    int64
				admitted int // an attempt that finds nothing is another one
			}{{0, 2}, {0, 1}, {0, 1}, {3, 1}, {3, 1}, {0, 2}, {0, 1}} {
				source.total, p.admitted, p.told = step.total, 0, 0
				want, told := tt.without, 1
				if step.total > 0 {
					want = tt.with
				}
				if i == 4 {
					told = 0 // the page was found together with the row of its caller
				}
				if w := get(t, s, "/odata/"+tt.target, "If-None-Match", tt.tag); w.Code != want || p.admitted != step.admitted || p.told != told {
					t.Errorf("%d: %d %s, want %d; %d admitted, want %d; %d callers, want %d", i, w.Code, w.Body, want, p.admitted, step.admitted, p.told, told)
				}
			}
		})
	}
}
