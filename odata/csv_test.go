package odata_test

import (
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func TestCSV(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3, padding: 2}, nil)
	tests := []struct{ name, target, accept, body string }{
		{"by header", "/odata/Numbers", "text/csv", "\"ID\",Text,Nothing\r\n1,xx,\r\n2,xx,\r\n3,xx,\r\n"},
		{"by option", "/odata/Numbers?$format=csv", "", "\"ID\",Text,Nothing\r\n1,xx,\r\n2,xx,\r\n3,xx,\r\n"},
		{"by media type", "/odata/Numbers?$format=text/csv", "application/json", "\"ID\",Text,Nothing\r\n1,xx,\r\n2,xx,\r\n3,xx,\r\n"},
		{"any text", "/odata/Numbers?$top=1", "text/*", "\"ID\",Text,Nothing\r\n1,xx,\r\n"},
		{"with parameters", "/odata/Numbers?$top=1", "text/csv;charset=UTF-8;header=present", "\"ID\",Text,Nothing\r\n1,xx,\r\n"},
		{"before JSON", "/odata/Numbers?$top=1", "text/csv, application/json", "\"ID\",Text,Nothing\r\n1,xx,\r\n"},
		{"selected", "/odata/Numbers?$select=Text,ID&$skip=1&$top=1", "text/csv", "Text,ID\r\nxx,2\r\n"},
		{"one, then all", "/odata/Numbers?$select=Nothing,*&$top=1", "text/csv", "Nothing,ID,Text\r\n,1,xx\r\n"},
		{"all, then one", "/odata/Numbers?$select=*,ID&$top=1", "text/csv", "Text,Nothing,ID\r\nxx,,1\r\n"},
		{"no row", "/odata/Numbers?$top=0", "text/csv", "\"ID\",Text,Nothing\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := get(t, s, tt.target, "Accept", tt.accept)
			h := w.Header()
			if w.Code != 200 || w.Body.String() != tt.body || h.Get("Content-Type") != "text/csv;charset=utf-8;header=present" ||
				h.Get("Content-Disposition") != "attachment; filename=Numbers.csv" || !strings.Contains(h.Get("Vary"), "Accept") {
				t.Errorf("%d %v %q", w.Code, h, w.Body)
			}
		})
	}
}

func TestNoCSV(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	tests := []struct{ name, target, accept, message string }{
		{"entity", "/odata/Numbers(1)", "text/csv", ": application/json"},
		{"singleton", "/odata/First", "text/csv", ": application/json"},
		{"property", "/odata/Numbers(1)/Text", "text/csv", ": application/json"},
		{"count", "/odata/Numbers/$count?$format=csv", "", ": text/plain"},
		{"references", "/odata/Numbers/$ref", "text/csv", ": application/json"},
		{"service document", "/odata/", "text/csv", ": application/json, text/html"},
		{"metadata", "/odata/$metadata", "text/csv", ": application/xml, application/json"},
		{"total", "/odata/Numbers?$count=true", "text/csv", "text/csv cannot show the total: leave $count out and read …/$count by itself, or ask for application/json"},
		{"other charset", "/odata/Numbers", "text/csv;charset=iso-8859-1", ": application/json, text/csv"},
		{"without a header row", "/odata/Numbers", "text/csv;header=absent", ": application/json, text/csv"},
		{"refused", "/odata/Numbers", "text/csv;q=0", ": application/json, text/csv"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := get(t, s, tt.target, "Accept", tt.accept)
			if w.Code != 406 || !strings.Contains(w.Body.String(), tt.message+`"`) || w.Header().Get("Content-Disposition") != "" {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		})
	}
	if w := get(t, s, "/odata/Numbers?$count=true", "Accept", "text/csv, application/json;q=0.1"); w.Code != 200 || !strings.HasPrefix(w.Body.String(), "{") {
		t.Errorf("a client that takes JSON, too, gets %d %s", w.Code, w.Body)
	}
	body := `{"requests":[{"id":"1","method":"GET","url":"Numbers?$format=csv"}]}`
	if got := jsonBatch(t, s, body); got["1"].Status != 406 {
		t.Errorf("in a batch: %+v", got)
	}
}

// The pages of a table are those of JSON, with their links in a header; in a page of
// more than 256 KiB that comes behind the rows.
func TestCSVPagesOnTheWire(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(service(t, &numbers{total: 7000, padding: 500}, nil))
	t.Cleanup(h.Close)
	tests := []struct{ name, query, prefer, header, trailer string }{
		{"page behind $skip", "?$format=csv&$skip=200", "", "?$format=csv&$skip=400", ""},
		{"last page", "?$format=csv&$skip=6800", "", "", ""},
		{"chosen size", "?$format=csv&$select=ID", "maxpagesize=3", "?$format=csv&$select=ID&$skip=3", ""},
		{"long page", "?$format=csv", "maxpagesize=3000", "", "?$format=csv&$skip=3000"},
		{"long last page", "?$format=csv&$skip=1", "maxpagesize=6999", "", ""},
		{"explicit $top", "?$format=csv&$top=6000", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), "GET", h.URL+"/odata/Numbers"+tt.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Prefer", tt.prefer)
			resp, err := h.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			list, err := csv.NewReader(resp.Body).ReadAll()
			if err != nil || len(list) < 3 {
				t.Fatalf("%d rows, %v", len(list), err)
			}
			link := func(query string) string {
				if query == "" {
					return ""
				}
				return `<` + h.URL + `/odata/Numbers` + query + `>; rel="next"`
			}
			if got := resp.Header.Get("Link"); got != link(tt.header) {
				t.Errorf("header Link: %s", got)
			}
			if got := resp.Trailer.Get("Link"); got != link(tt.trailer) {
				t.Errorf("trailer Link: %s", got)
			}
			if applied := resp.Header.Get("Preference-Applied"); tt.prefer != "" && applied != "odata."+tt.prefer {
				t.Errorf("Preference-Applied: %s", applied)
			}
		})
	}
}

// TestCSVIsWhole holds that a table without $top, $skip and a page size has all rows, and that one beyond a limit never ends
// well.
func TestCSVIsWhole(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, target, prefer string
		rows                 int // of the table; 0 is a broken connection
		limits               odata.Limits
	}{
		{"by option", "?$format=csv", "", 7000, odata.Limits{}},
		{"by header", "", "", 7000, odata.Limits{}},
		{"beside a page size and a ceiling of the service", "?$select=ID", "", 7000, odata.Limits{PageSize: 10, MaxPageSize: 20}},
		{"as many rows as the limit", "?$select=ID", "", 7000, odata.Limits{Rows: 7000}},
		{"a preference that is ignored", "?$select=ID", "maxpagesize=0", 7000, odata.Limits{}},
		{"a page size", "?$select=ID", "maxpagesize=300", 300, odata.Limits{}},
		{"$top", "?$select=ID&$top=250", "", 250, odata.Limits{}},
		{"$skip", "?$select=ID&$skip=0", "", 200, odata.Limits{}},
		{"more rows than the limit", "", "", 0, odata.Limits{Rows: 6999}},
		{"more bytes than the limit", "", "", 0, odata.Limits{Bytes: 1 << 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := httptest.NewServer(service(t, &numbers{total: 7000, padding: 500}, func(o *odata.Options, _ *edm.Model) { o.Limits = tt.limits }))
			t.Cleanup(h.Close)
			r, err := http.NewRequestWithContext(t.Context(), "GET", h.URL+"/odata/Numbers"+tt.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", "text/csv")
			r.Header.Set("Prefer", tt.prefer)
			resp, err := h.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			list, err := csv.NewReader(resp.Body).ReadAll()
			if tt.rows == 0 {
				if err == nil {
					t.Errorf("%d, %d rows that end well", resp.StatusCode, len(list)-1)
				}
				return
			}
			if err != nil || len(list)-1 != tt.rows {
				t.Errorf("%d rows, %v; want %d", len(list)-1, err, tt.rows)
			}
			if whole := tt.rows == 7000; whole && (resp.Header.Get("Link")+resp.Trailer.Get("Link")+resp.Header.Get("Preference-Applied") != "" || len(resp.Trailer) > 0) {
				t.Errorf("a whole table has %v and the trailers %v", resp.Header, resp.Trailer)
			}
		})
	}
}

func TestCSVHeadAndTags(t *testing.T) {
	t.Parallel()
	s := service(t, &versioned{numbers: numbers{total: 500, version: "a"}}, nil)
	const target = "/odata/Numbers?$format=csv&$skip=1"
	first := get(t, s, target)
	tag, link := first.Header().Get("ETag"), first.Header().Get("Link")
	if tag == "" || link == "" || tag == get(t, s, "/odata/Numbers?$skip=1").Header().Get("ETag") {
		t.Fatalf("tag %s, link %s", tag, link)
	}
	for range 3 { // at last from the cache
		w := get(t, s, target)
		if w.Body.String() != first.Body.String() || w.Header().Get("Link") != link || w.Header().Get("Content-Disposition") == "" {
			t.Errorf("the same again: %v", w.Header())
		}
	}
	if w := get(t, s, target, "If-None-Match", tag); w.Code != 304 || w.Body.Len() > 0 || w.Header().Get("Link") != link {
		t.Errorf("unchanged: %d %v", w.Code, w.Header())
	}
	if w := send(t, s, "HEAD", target, ""); w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("Link") != link || w.Header().Get("ETag") != tag {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

func TestCSVLimitsAndFaults(t *testing.T) {
	t.Parallel()
	limited := service(t, &numbers{total: 5000, padding: 500}, func(o *odata.Options, _ *edm.Model) { o.Limits.Rows, o.Limits.Bytes = 4000, 1<<20 })
	for _, target := range []string{"/odata/Numbers?$format=csv&$top=5000&$select=ID", "/odata/Numbers?$format=csv&$top=3000"} {
		r := httptest.NewRequestWithContext(context.Background(), "GET", target, nil)
		w := httptest.NewRecorder()
		broken := breaks(func() { limited.ServeHTTP(w, r) })
		if !broken && w.Code == 200 {
			t.Errorf("%s goes beyond a limit: %d, %d bytes", target, w.Code, w.Body.Len())
		}
	}
	failing := service(t, &numbers{total: 5000, padding: 500, failAt: 10}, nil)
	w := get(t, failing, "/odata/Numbers?$format=csv")
	if h := w.Header(); w.Code != 500 || h.Get("Content-Disposition") != "" || h.Get("Link") != "" || !strings.HasPrefix(h.Get("Content-Type"), "application/json") {
		t.Errorf("a fault before the first byte: %d %v", w.Code, h)
	}
	late := service(t, &numbers{total: 5000, padding: 500, failAt: 4000}, nil)
	h := httptest.NewServer(late)
	defer h.Close()
	resp, err := http.Get(h.URL + "/odata/Numbers?$format=csv&$top=5000") // a request to this process
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("a table that broke off ends well")
	}
}

func TestCSVGuards(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	for _, set := range []string{"Guarded", "Settled"} {
		if w := get(t, s, "/odata/"+set+"?$format=csv"); w.Code != 401 || !strings.HasPrefix(w.Body.String(), "{") {
			t.Errorf("%s: a guest gets %d %s", set, w.Code, w.Body)
		}
	}
}
