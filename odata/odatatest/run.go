package odatatest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Subject is what the suite tests: a source with the data of Tables, and the
// model of Mapping over it.
type Subject struct {
	Model  *edm.Model
	Source odata.Source
	// validate is odata.Options.Validate.
	validate func(context.Context, odata.Caller, []odata.Proposal) (odata.Verdict, error)
}

// base is what absolute URLs begin with in every test.
const base = "http://h"

// check is one request and what its answer has to be.
type check struct {
	name string
	// target stands below the service root, as it goes over the wire.
	target string
	// as is who asks: "" nobody, "ada" and "bob" settled users, "new" one whose
	// intent loop is open.
	as     string
	header []string
	// status is 200 when zero.
	status int
	// body is the whole body; "" does not compare it. "~" stands for base + /odata/.
	body string
	// ids are the values of the property id, by row; "-" stands for no rows, ""
	// does not compare them.
	ids string
}

// Run checks a subject. Parallel subtests are named after the rule that they
// check; the table in CONFORMANCE.md names them.
func Run(t *testing.T, s Subject) {
	t.Helper()
	h := handler(t, s, odata.Options{})
	for topic, list := range map[string][]check{
		"values": values(), "keys": keys(), "filters": filters(), "order": order(), "select": selects(), "expand": expands(),
		"search": searches(), "compute": computes(), "names": names(), "access": access(), "rows": policies(), "refused": refused(),
		"conformity": conformity(), "required": required(), "decimals": decimals(), "doubles": doubles(), "ranges": ranges(), "apply": applies(),
		"tables": tables(), "faults": faults(),
	} {
		t.Run(topic, func(t *testing.T) {
			for _, c := range list {
				t.Run(c.name, func(t *testing.T) { c.run(t, h) })
			}
		})
	}
	t.Run("pages", func(t *testing.T) { pages(t, h) })
	t.Run("nested pages", func(t *testing.T) { nestedPages(t, handler(t, s, odata.Options{Limits: odata.Limits{PageSize: 1}})) })
	t.Run("whole tables", func(t *testing.T) { wholeTables(t, h, handler(t, s, odata.Options{Limits: odata.Limits{PageSize: 1}})) })
	t.Run("key links", func(t *testing.T) {
		keyed := handler(t, s, odata.Options{KeyLinks: true})
		keyLinks(t, keyed)
		pages(t, keyed)
		groups(t, keyed)
		nestedKeyLinks(t, handler(t, s, odata.Options{KeyLinks: true, Limits: odata.Limits{PageSize: 1}}))
	})
	t.Run("groups", func(t *testing.T) { groups(t, h) })
	t.Run("batch", func(t *testing.T) { batchAnswers(t, h) })
}

// handler makes the service under test.
func handler(t testing.TB, s Subject, o odata.Options) http.Handler {
	t.Helper()
	o.Root, o.Validate = "/odata/", s.validate
	o.Base = func(*http.Request) string { return base }
	o.RequestID = func(*http.Request) string { return "id" }
	o.Caller = func(_ http.ResponseWriter, r *http.Request) (odata.Caller, error) {
		return caller(r.Header.Get("X-Test-User")), nil
	}
	svc, err := odata.New(s.Model, s.Source, o)
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

func caller(name string) odata.Caller {
	switch name {
	case "ada":
		return odata.Caller{SignedIn: true, Settled: true, ID: "1", User: map[string]any{"id": int64(1)}}
	case "bob":
		return odata.Caller{SignedIn: true, Settled: true, ID: "2", User: map[string]any{"id": int64(2)}}
	case "reader":
		return odata.Caller{SignedIn: true, Settled: true, ReadOnly: "token_reads_only", User: map[string]any{"id": int64(1)}}
	case "new":
		return odata.Caller{SignedIn: true, User: map[string]any{"id": nil}}
	}
	return odata.Caller{}
}

// get sends a GET as the client wrote it.
func get(h http.Handler, target, as string, header ...string) *httptest.ResponseRecorder {
	return send(h, http.MethodGet, target, as, "", header...)
}

func send(h http.Handler, method, target, as, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, base+"/", strings.NewReader(body))
	r.RequestURI = "/odata/" + target
	r.Header.Set("X-Test-User", as)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (c check) run(t *testing.T, h http.Handler) {
	t.Helper()
	w := get(h, escape(c.target), c.as, c.header...)
	want := c.status
	if want == 0 {
		want = http.StatusOK
	}
	if w.Code != want {
		t.Fatalf("GET %s gives %d, want %d: %.500s", c.target, w.Code, want, w.Body)
	}
	if want >= 400 {
		plainFault(t, w.Body.String())
	}
	got := metadataTag().ReplaceAllString(w.Body.String(), "")
	if body := strings.ReplaceAll(c.body, "~", base+"/odata/"); body != "" && got != body {
		t.Errorf("GET %s\ngives %s\nwant  %s", c.target, got, body)
	}
	if c.ids != "" {
		if got := idsOf(t, w.Body.Bytes()); got != c.ids {
			t.Errorf("GET %s gives the rows %s, want %s", c.target, got, c.ids)
		}
	}
}

// metadataTag is the entity tag of $metadata in an answer. Databases have other
// collations and types, so other metadata.
func metadataTag() *regexp.Regexp { return regexp.MustCompile(`"@odata.metadataEtag":"[^,]*",`) }

// escape does what a client does with blanks and quotation marks, so that the
// tables can be read.
func escape(target string) string {
	return strings.NewReplacer(" ", "%20", `"`, "%22", "\\", "%5C").Replace(target)
}

// plainFault checks that a fault is OData's JSON and shows nothing of a database.
func plainFault(t *testing.T, body string) {
	t.Helper()
	var doc struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil || doc.Error.Code == "" || doc.Error.Message == "" {
		t.Errorf("no OData fault: %s", body)
	}
	for _, word := range []string{"SELECT", "FROM ", "SQL", "sqlite", "panic"} {
		if strings.Contains(body, word) {
			t.Errorf("the fault tells %q: %s", word, body)
		}
	}
}

func idsOf(t *testing.T, body []byte) string {
	t.Helper()
	var doc struct {
		Value []struct {
			ID json.Number `json:"id"`
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	if len(doc.Value) == 0 {
		return "-"
	}
	ids := make([]string, len(doc.Value))
	for i, row := range doc.Value {
		ids[i] = row.ID.String()
	}
	return strings.Join(ids, " ")
}
