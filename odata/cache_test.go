package odata_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// versioned is a source that knows the state of its data.
type versioned struct{ numbers }

func (v *versioned) Version(context.Context) string { return v.version }

func TestUnchangedAnswers(t *testing.T) {
	t.Parallel()
	source := &versioned{numbers: numbers{total: 450, version: "a"}}
	s := service(t, source, nil)
	const target = "/odata/Numbers?$count=true"
	first := get(t, s, target)
	get(t, s, target) // the second request makes the answer worth keeping
	opened := source.opened.Load()
	again := get(t, s, target)
	if source.opened.Load() != opened {
		t.Error("an unchanged page was read again")
	}
	for _, name := range []string{"Content-Type", "ETag", "Preference-Applied", "Cache-Control", "OData-Version", "Content-Length"} {
		if first.Header().Get(name) != again.Header().Get(name) {
			t.Errorf("%s: %q first, then %q", name, first.Header().Get(name), again.Header().Get(name))
		}
	}
	if first.Body.String() != again.Body.String() {
		t.Error("the answer differs")
	}
	if w := get(t, s, target, "If-None-Match", first.Header().Get("ETag")); w.Code != 304 {
		t.Errorf("If-None-Match gives %d", w.Code)
	}
	for _, header := range [][]string{{"Accept", "application/json;odata.metadata=none"}, {"Prefer", "maxpagesize=3"}} {
		w := get(t, s, target, header...)
		if w.Body.String() == first.Body.String() || w.Header().Get("ETag") == first.Header().Get("ETag") {
			t.Errorf("%v gets the answer of another request", header)
		}
	}
	if p := pageOf(t, get(t, s, "/odata/%4Eumbers?$count=true").Body.String()); p.Next != "http://h/odata/%4Eumbers?$count=true&$skip=200" {
		t.Errorf("the next link of another spelling: %s", p.Next)
	}
	tag := get(t, s, target).Header().Get("ETag")
	source.version, source.total = "b", 451
	if w := get(t, s, target, "If-None-Match", tag); w.Code != 200 || w.Header().Get("ETag") == tag {
		t.Errorf("after a change the old ETag gives %d", w.Code)
	}
	if p := pageOf(t, get(t, s, target).Body.String()); *p.Count != 451 {
		t.Errorf("after a change the count is %d", *p.Count)
	}
	source.version, source.total = "", 452
	get(t, s, target)
	if p := pageOf(t, get(t, s, target).Body.String()); *p.Count != 452 {
		t.Errorf("without a version the count is %d", *p.Count)
	}
}

// TestPlansOfDifferentCallers asks for one target as different people.
func TestPlansOfDifferentCallers(t *testing.T) {
	t.Parallel()
	var who odata.Caller
	s := service(t, &versioned{numbers: numbers{total: 3, version: "a"}}, func(o *odata.Options, m *edm.Model) {
		o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) { return who, nil }
	})
	for range 3 {
		for _, c := range []struct {
			set    string
			caller odata.Caller
			want   int
		}{
			{"Guarded", odata.Caller{}, 401},
			{"Guarded", odata.Caller{SignedIn: true}, 200},
			{"Settled", odata.Caller{}, 401},
			{"Settled", odata.Caller{SignedIn: true}, 403},
			{"Settled", odata.Caller{SignedIn: true, Settled: true}, 200},
		} {
			who = c.caller
			if w := get(t, s, "/odata/"+c.set); w.Code != c.want {
				t.Errorf("%s: %+v gets %d, want %d", c.set, c.caller, w.Code, c.want)
			}
		}
	}
}

// TestAnswersOfTheirTime asks for what depends on the time of the request.
func TestAnswersOfTheirTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC)
	source := &clocked{}
	s := service(t, source, func(o *odata.Options, _ *edm.Model) { o.Now = func() time.Time { return now } })
	for range 3 {
		now = now.Add(time.Hour)
		get(t, s, "/odata/Numbers?$filter=Text%20eq%20cast(now(),Edm.String)")
		if want := now.Format(time.RFC3339); source.asked != want {
			t.Errorf("at %s the source was asked about %s", want, source.asked)
		}
	}
}

// clocked is a source that notes the time in the filter, and whose data never changes.
type clocked struct{ asked string }

func (c *clocked) Version(context.Context) string { return "a" }

func (c *clocked) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	c.asked = string(literal(p.Top.Query.Filter).Value.Bytes)
	return (&numbers{total: 1, version: "a"}).Open(ctx, p)
}

func TestManyTargets(t *testing.T) {
	t.Parallel()
	s := service(t, &versioned{numbers: numbers{total: 5000, version: "a"}}, nil)
	for range 2 {
		for i := range 1500 {
			p := pageOf(t, get(t, s, fmt.Sprintf("/odata/Numbers?$skip=%d&$top=1", i)).Body.String())
			if p.Value[0].ID != int64(i+1) {
				t.Fatalf("row %d has the key %d", i, p.Value[0].ID)
			}
		}
	}
}

// TestAnswersWithinBytes holds that answers count with what finds them: small ones would take ten times their bodies otherwise.
func TestAnswersWithinBytes(t *testing.T) {
	t.Parallel()
	for bytes, kept := range map[int]bool{20 << 10: false, 1 << 20: true} {
		source := &versioned{numbers: numbers{total: 5000, version: "a"}}
		s := service(t, source, func(o *odata.Options, _ *edm.Model) { o.AnswerBytes = bytes })
		for i := range 60 {
			for range 2 {
				get(t, s, fmt.Sprintf("/odata/Numbers?$skip=%d&$top=1", i))
			}
		}
		opened := source.opened.Load()
		get(t, s, "/odata/Numbers?$skip=0&$top=1")
		if read := source.opened.Load() > opened; read == kept {
			t.Errorf("with %d bytes the first answer is read again: %v", bytes, read)
		}
	}
}

// TestPlansWithinTheirNumber holds that plans beyond Options.Plans are dropped, and answers with them.
func TestPlansWithinTheirNumber(t *testing.T) {
	t.Parallel()
	source := &versioned{numbers: numbers{total: 5000, version: "a"}}
	s := service(t, source, func(o *odata.Options, _ *edm.Model) { o.Plans = 8 })
	for i := range 60 {
		for range 3 {
			get(t, s, "/odata/Numbers?$top=1&$select=ID"+strings.Repeat(",ID", i))
		}
	}
	opened := source.opened.Load()
	get(t, s, "/odata/Numbers?$top=1&$select=ID")
	if source.opened.Load() == opened {
		t.Error("a plan that was not used for longest is kept")
	}
}

// BenchmarkPage compares a page that is read with one that has not changed.
func BenchmarkPage(b *testing.B) {
	for name, version := range map[string]string{"read": "", "unchanged": "a"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := service(b, &versioned{numbers: numbers{total: 450, version: version, padding: 200}}, nil)
			for range b.N {
				get(b, s, "/odata/Numbers?$select=ID,Text")
			}
		})
	}
}

// explained is a source that tells about itself.
type explained struct{ numbers }

func (e *explained) Explain(_ context.Context, p *plan.Plan, out io.Writer) (plan.Explanation, error) {
	_, err := fmt.Fprintln(out, "a statement")
	return plan.Explanation{Advice: []string{fmt.Sprintf("asked about %s, %d rows", p.Top.Set.Name, p.Top.Page.Rows)}}, err
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := service(t, &explained{}, nil)
	whole := regexp.MustCompile(`(?s)^collection of Numbers.*\nparse .*\na statement\n.*asked about Numbers, 3 rows`)
	for _, target := range []string{"Numbers?$top=3", "/odata/Numbers?$top=3", "http://h/odata/Numbers?$top=3"} {
		var out strings.Builder
		err := s.Explain(t.Context(), &out, target, nil)
		if err != nil || !whole.MatchString(out.String()) {
			t.Errorf("%s: %v\n%s", target, err, &out)
		}
	}
	for _, target := range []string{"Nowhere", "Numbers?$foo=1", "/elsewhere"} {
		if err := s.Explain(t.Context(), io.Discard, target, nil); err == nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := s.Explain(t.Context(), io.Discard, "$metadata", nil); !errors.Is(err, odata.ErrNotExplained) {
		t.Errorf("metadata: %v", err)
	}
	if err := service(t, &numbers{}, nil).Explain(t.Context(), io.Discard, "Numbers", nil); !errors.Is(err, odata.ErrNotExplained) {
		t.Errorf("a source that cannot: %v", err)
	}
}

// TestMetadataWithoutARequest holds that the document without a request is that of one.
func TestMetadataWithoutARequest(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{}, nil)
	for target, asJSON := range map[string]bool{"/odata/$metadata": false, "/odata/$metadata?$format=json": true} {
		if got, want := string(s.Metadata(asJSON)), get(t, s, target).Body.String(); got != want {
			t.Errorf("%s gives\n%s\nand without a request\n%s", target, want, got)
		}
	}
}
