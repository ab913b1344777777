package odata_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// A commit whose outcome nobody knows is looked at in the next transaction, if the client repeats requests: the change is made once,
// whether the commit was done or not.
func TestRepeatedOutcomes(t *testing.T) {
	t.Parallel()
	lost := &write.Refusal{Kind: write.OutcomeUnknown}
	for name, tt := range map[string]struct {
		commit func(n int, f *flaky) error
		begun  int
	}{
		"lost before":     {func(n int, _ *flaky) error { return first(n, lost) }, 2},
		"lost behind":     {func(n int, f *flaky) error { f.behind = n == 1; return nil }, 2},
		"undone and lost": {func(n int, f *flaky) error { f.behind = n == 2; return first(n, &write.Refusal{Kind: write.Conflict}) }, 3},
	} {
		f := &flaky{}
		f.commit = func(n int) error { return tt.commit(n, f) }
		h := notes(t, f, nil)
		for range 2 {
			w := request(h, "POST", "Notes", `{"text":"two"}`, repeatHeaders()...)
			if w.Code != 201 || w.Header().Get("Repeatability-Result") != "accepted" || w.Header().Get("Location") != "http://h/odata/Notes(2)" || !strings.Contains(w.Body.String(), `"text":"two"`) {
				t.Errorf("%s: %d %s %v", name, w.Code, w.Body, w.Header())
			}
		}
		if n := int(f.begun.Load()); n != tt.begun+1 {
			t.Errorf("%s: %d transactions", name, n)
		}
		if got := request(h, "GET", "Notes/$count", "").Body.String(); got != "2" {
			t.Errorf("%s: there are %s rows", name, got)
		}
	}
}

func first(n int, err error) error {
	if n == 1 {
		return err
	}
	return nil
}

func repeatHeaders() []string {
	return []string{"Repeatability-Request-ID", "r", "Repeatability-First-Sent", time.Now().UTC().Format(http.TimeFormat)}
}

// Of an answer beyond 64 KiB the body is not kept.
func TestLongAnswersAreKeptShort(t *testing.T) {
	t.Parallel()
	f := &flaky{}
	h := notes(t, f, nil)
	for i, status := range []int{201, 204, 204} {
		w := request(h, "POST", "Notes", `{"text":"`+strings.Repeat("x", 70_000)+`"}`, repeatHeaders()...)
		entity := w.Header().Get("OData-EntityId")
		if w.Code != status || w.Header().Get("Location") != "http://h/odata/Notes(2)" || i > 0 && (w.Body.Len() > 0 || entity != "http://h/odata/Notes(2)") {
			t.Errorf("answer %d: %d %v", i, w.Code, w.Header())
		}
	}
}

// A group that was done under one address of the service is repeated under another one, and its references lead there.
func TestGroupsAreRepeatedUnderAnotherAddress(t *testing.T) {
	t.Parallel()
	h := notes(t, &flaky{}, func(o *odata.Options) { o.Base = func(r *http.Request) string { return "http://" + r.Host } })
	ids := fmt.Sprintf(`"Repeatability-Request-ID":"r","Repeatability-First-Sent":%q`, repeatHeaders()[3])
	body := `{"requests":[
		{"id":"1","atomicityGroup":"g","method":"POST","url":"Notes","headers":{"Content-Type":"application/json",` + ids + `},"body":{"text":"two"}},
		{"id":"2","atomicityGroup":"g","method":"PATCH","url":"$1","headers":{"Content-Type":"application/json","If-Match":"*",` + ids + `},"body":{"text":"three"}},
		{"id":"3","method":"GET","url":"$1/text"}]}`
	answers := [2]string{}
	for i, host := range []string{"a", "b"} {
		r := httptest.NewRequest(http.MethodPost, "http://"+host+"/odata/$batch", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if answers[i] = w.Body.String(); !strings.Contains(answers[i], `"value":"three"`) {
			t.Errorf("%s: %d %s", host, w.Code, answers[i])
		}
		answers[i], _, _ = strings.Cut(answers[i], `{"id":"3"`) // its addresses are those of the host that reads
	}
	if answers[0] != answers[1] {
		t.Errorf("first %s\nthen %s", answers[0], answers[1])
	}
}
