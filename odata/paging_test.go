package odata_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// page is the body of a collection.
type page struct {
	Context string `json:"@odata.context"`
	Count   *int64 `json:"@odata.count"`
	Value   []struct{ ID int64 }
	Next    string `json:"@odata.nextLink"`
}

func pageOf(t testing.TB, body string) page {
	t.Helper()
	var p page
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	return p
}

func (p page) span() (first, last int64) {
	if len(p.Value) == 0 {
		return 0, 0
	}
	return p.Value[0].ID, p.Value[len(p.Value)-1].ID
}

// TestPages has a row for each rule on pages of the specification (4.2) and of
// the contract (section 7).
func TestPages(t *testing.T) {
	t.Parallel()
	const base = "http://h"
	tests := []struct {
		name        string
		target      string
		prefer      string
		change      func(*odata.Options)
		first, last int64
		applied     string // Preference-Applied
		next        string
	}{
		{name: "default page size", target: "/odata/Numbers", first: 1, last: 200, applied: "200", next: "/odata/Numbers?$skip=200"},
		{name: "top", target: "/odata/Numbers?$top=10", first: 1, last: 10},
		{name: "top and skip", target: "/odata/Numbers?$top=10&$skip=20", first: 21, last: 30},
		{name: "top beyond the page size", target: "/odata/Numbers?$top=700", first: 1, last: 700},
		{name: "top beyond the rows", target: "/odata/Numbers?$top=5000", first: 1, last: 1000},
		{name: "top of zero", target: "/odata/Numbers?$top=0"},
		{name: "top with a preference", target: "/odata/Numbers?$top=10", prefer: "odata.maxpagesize=3", first: 1, last: 10},
		{name: "skip alone", target: "/odata/Numbers?$skip=20", first: 21, last: 220, applied: "200", next: "/odata/Numbers?$skip=220"},
		{name: "skip beyond the rows", target: "/odata/Numbers?$skip=2000", applied: "200"},
		{name: "largest skip", target: "/odata/Numbers?$skip=9223372036854775807", applied: "200"},
		{name: "preference", target: "/odata/Numbers", prefer: "odata.maxpagesize=3", first: 1, last: 3, applied: "3", next: "/odata/Numbers?$skip=3"},
		{name: "preference without prefix", target: "/odata/Numbers", prefer: "maxpagesize=3", first: 1, last: 3, applied: "3", next: "/odata/Numbers?$skip=3"},
		{name: "both preferences", target: "/odata/Numbers", prefer: "maxpagesize=4, odata.maxpagesize=3", first: 1, last: 4, applied: "4", next: "/odata/Numbers?$skip=4"},
		{name: "preference above the default", target: "/odata/Numbers", prefer: "odata.maxpagesize=500", first: 1, last: 500, applied: "500", next: "/odata/Numbers?$skip=500"},
		{name: "preference of zero", target: "/odata/Numbers", prefer: "odata.maxpagesize=0", first: 1, last: 200, applied: "200", next: "/odata/Numbers?$skip=200"},
		{name: "negative preference", target: "/odata/Numbers", prefer: "odata.maxpagesize=-5", first: 1, last: 200, applied: "200", next: "/odata/Numbers?$skip=200"},
		{name: "malformed preference", target: "/odata/Numbers", prefer: "odata.maxpagesize=many", first: 1, last: 200, applied: "200", next: "/odata/Numbers?$skip=200"},
		{
			name: "maximum below the preference", target: "/odata/Numbers", prefer: "odata.maxpagesize=500",
			change: func(o *odata.Options) { o.Limits.MaxPageSize = 100 }, first: 1, last: 100, applied: "100", next: "/odata/Numbers?$skip=100",
		},
		{
			name: "maximum below the default", target: "/odata/Numbers",
			change: func(o *odata.Options) { o.Limits.MaxPageSize = 50 }, first: 1, last: 50, applied: "50", next: "/odata/Numbers?$skip=50",
		},
		{
			name: "configured default", target: "/odata/Numbers",
			change: func(o *odata.Options) { o.Limits.PageSize = 7 }, first: 1, last: 7, applied: "7", next: "/odata/Numbers?$skip=7",
		},
		{
			name: "page that is exactly the end", target: "/odata/Numbers?$skip=800", first: 801, last: 1000, applied: "200",
		},
		{
			name: "page as large as everything", target: "/odata/Numbers", prefer: "odata.maxpagesize=1000", first: 1, last: 1000, applied: "1000",
		},
		{
			name: "largest page size", target: "/odata/Numbers", prefer: "odata.maxpagesize=9223372036854775807", first: 1, last: 1000, applied: "9223372036854775807",
		},
		{
			name:   "query as sent, byte for byte and in order",
			target: "/odata/Numbers?custom=a;b&$orderby=ID%20asc&x=%7a+1&&$filter=ID+gt+0&$count=true", first: 1, last: 200, applied: "200",
			next: "/odata/Numbers?custom=a;b&$orderby=ID%20asc&x=%7a+1&&$filter=ID+gt+0&$count=true&$skip=200",
		},
		{
			name: "old skip replaced, wherever it stood", target: "/odata/Numbers?a=1&$skip=3&b=2", first: 4, last: 203, applied: "200",
			next: "/odata/Numbers?a=1&b=2&$skip=203",
		},
		{
			name: "encoded name of skip", target: "/odata/Numbers?%24skip=3&b=%24skip", first: 4, last: 203, applied: "200",
			next: "/odata/Numbers?b=%24skip&$skip=203",
		},
		{
			name: "custom option that only looks like skip", target: "/odata/Numbers?skip=3", first: 1, last: 200, applied: "200",
			next: "/odata/Numbers?skip=3&$skip=200",
		},
		{
			name: "path as sent", target: "/odata/%4Eumbers?$skip=1", first: 2, last: 201, applied: "200", next: "/odata/%4Eumbers?$skip=201",
		},
		{
			name: "absolute form", target: "http://elsewhere:99/odata/Numbers?$skip=1", first: 2, last: 201, applied: "200", next: "/odata/Numbers?$skip=201",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := service(t, &numbers{total: 1000}, func(o *odata.Options, _ *edm.Model) {
				if tt.change != nil {
					tt.change(o)
				}
			})
			var header []string
			if tt.prefer != "" {
				header = []string{"Prefer", tt.prefer}
			}
			w := get(t, s, tt.target, header...)
			if w.Code != 200 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			p := pageOf(t, w.Body.String())
			if first, last := p.span(); first != tt.first || last != tt.last {
				t.Errorf("rows %d to %d, want %d to %d", first, last, tt.first, tt.last)
			}
			wantNext := ""
			if tt.next != "" {
				wantNext = base + tt.next
			}
			if p.Next != wantNext {
				t.Errorf("next link %q, want %q", p.Next, wantNext)
			}
			applied := ""
			if tt.applied != "" {
				applied = "odata.maxpagesize=" + tt.applied
			}
			if got := w.Header().Get("Preference-Applied"); got != applied {
				t.Errorf("Preference-Applied %q, want %q", got, applied)
			}
		})
	}
}

func TestCountOnEveryPage(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 450}, nil)
	target, pages := "/odata/Numbers?$count=true", 0
	for target != "" {
		p := pageOf(t, get(t, s, target).Body.String())
		if p.Count == nil || *p.Count != 450 {
			t.Fatalf("page %d has the count %v", pages, p.Count)
		}
		pages++
		target = strings.TrimPrefix(p.Next, "http://h")
	}
	if pages != 3 {
		t.Errorf("%d pages, want 3", pages)
	}
}

func TestPublicBase(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"https://app.example.com", "https://app.example.com/"} {
		s := service(t, &numbers{total: 450}, func(o *odata.Options, _ *edm.Model) {
			o.Base = func(*http.Request) string { return given }
		})
		p := pageOf(t, get(t, s, "/odata/Numbers", "X-Forwarded-Host", "evil.example").Body.String())
		if p.Next != "https://app.example.com/odata/Numbers?$skip=200" || p.Context != "https://app.example.com/odata/$metadata#Numbers" {
			t.Errorf("next link %q, context %q", p.Next, p.Context)
		}
	}
}

func TestRefusedWindows(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 10}, func(o *odata.Options, _ *edm.Model) { o.Limits.MaxTop = 5 })
	for _, query := range []string{
		"$top=-1", "$skip=-1", "$top=+5", "$top=%2B5", "$top=5.0", "$top=", "$top=x", "$top=1&$top=2", "$skip=1&%24skip=2",
		"$top=9223372036854775808", "$skip=9223372036854775808", "$top=6", "$foo=1", "$count=maybe", "$top=5&$filter=%zz", "$skiptoken=1",
	} {
		w := get(t, s, "/odata/Numbers?"+query)
		if w.Code != 400 {
			t.Errorf("%s gives %d %s", query, w.Code, w.Body)
		}
	}
	if w := get(t, s, "/odata/Numbers?$top=5"); w.Code != 200 {
		t.Errorf("$top at the limit gives %d", w.Code)
	}
}

func TestVersion401Options(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 450}, nil)
	p := pageOf(t, get(t, s, "/odata/Numbers?TOP=3", "OData-MaxVersion", "4.01").Body.String())
	if len(p.Value) != 3 {
		t.Errorf("TOP=3 under 4.01 gives %d rows", len(p.Value))
	}
	p = pageOf(t, get(t, s, "/odata/Numbers?Skip=3", "OData-MaxVersion", "4.01").Body.String())
	if p.Next != "http://h/odata/Numbers?$skip=203" {
		t.Errorf("next link %q", p.Next)
	}
	p = pageOf(t, get(t, s, "/odata/Numbers?TOP=3").Body.String())
	if len(p.Value) != 200 {
		t.Errorf("TOP=3 under 4.0, a custom option, gives %d rows", len(p.Value))
	}
	if w := get(t, s, "/odata/Numbers?$TOP=3"); w.Code != 400 {
		t.Errorf("$TOP under 4.0 gives %d", w.Code)
	}
}
