package odata_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// TestCallerUnknown holds that a request whose caller cannot be told is an
// outage, whether or not nobody may have what it asks for.
func TestCallerUnknown(t *testing.T) {
	t.Parallel()
	source := &numbers{total: 3}
	s := service(t, source, func(o *odata.Options, _ *edm.Model) {
		o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{}, errors.New("secret: the database is away")
		}
	})
	for _, target := range []string{"/odata/Numbers", "/odata/Settled", "/odata/", "/odata/$metadata", "/odata/$batch"} {
		w := get(t, s, target)
		if w.Code != 503 || !strings.Contains(w.Body.String(), `"unavailable"`) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s gives %d %s", target, w.Code, w.Body)
		}
	}
	if n := source.opened.Load(); n != 0 {
		t.Errorf("rows were read %d times for an unknown caller", n)
	}
}

// owned is a source that knows the state of its data, and serves each caller the
// one row that the policy names.
type owned struct{ versioned }

func (o *owned) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := o.versioned.Open(ctx, p)
	if own := literal(p.Top.Query.Range.Policy); err == nil && own != nil {
		n := rows.(*numberRows)
		n.at, n.end = own.Value.Int-1, own.Value.Int
	}
	return rows, err
}

// TestEntityTagsUnderPolicy holds that neither the entity tag nor the answer of
// one person is any good to another who asks for the same under a row policy.
func TestEntityTagsUnderPolicy(t *testing.T) {
	t.Parallel()
	var who odata.Caller
	source := &owned{versioned{numbers: numbers{total: 9, version: "a"}}}
	s := service(t, source, func(o *odata.Options, m *edm.Model) {
		i := slices.IndexFunc(m.Sets, func(set *edm.EntitySet) bool { return set.Name == "Guarded" })
		m.Sets[i].Policy = "ID eq @user_id"
		o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) { return who, nil }
	})
	for _, target := range []string{"/odata/Guarded", "/odata/Guarded?$select=ID"} {
		tag := `"none yet"`
		for round := range 3 {
			for _, id := range []int64{4, 7} {
				who = odata.Caller{SignedIn: true, User: map[string]any{"id": id}}
				w := get(t, s, target, "If-None-Match", tag)
				if w.Code != 200 {
					t.Fatalf("%s: round %d: user %d gets %d for the tag of another", target, round, id, w.Code)
				}
				if p := pageOf(t, w.Body.String()); len(p.Value) != 1 || p.Value[0].ID != id {
					t.Fatalf("%s: round %d: user %d gets %s", target, round, id, w.Body)
				}
				if w.Header().Get("ETag") != "" {
					tag = w.Header().Get("ETag")
				}
			}
		}
	}
}
