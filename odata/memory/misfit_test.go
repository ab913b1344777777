package memory_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

// A value that its type cannot hold is null where the property may be null, and otherwise
// ends an answer that shows it, as on databases.
func TestValuesThatDoNotFit(t *testing.T) {
	t.Parallel()
	type stay struct {
		ID    string  `odata:"ID,type=Int32"`
		Span  *string `odata:",type=Duration"`
		Price string  `odata:",type=Decimal,precision=5,scale=2"`
	}
	text := func(s string) *string { return &s }
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "Stays", Rows: []stay{
		{"1", text("PT90S"), "1.5"}, {"02", text("soon"), "1.005"}, {"3", nil, "x"}, {"4", nil, "1e2"},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	service, err := odata.New(source.Model(), source, odata.Options{Logger: hclog.New(&hclog.LoggerOptions{Output: &log})})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target string
		status int
		want   string // in the body, or in the log
	}{
		{"Stays?$select=ID,Span", 200, `[{"ID":1,"Span":"PT1M30S"},{"ID":2,"Span":null},{"ID":3,"Span":null},{"ID":4,"Span":null}]`},
		{"Stays(1)", 200, `{"ID":1,"Span":"PT1M30S","Price":1.50}`},
		{"Stays(4)/Price/$value", 200, "100.00"},
		{"Stays?$filter=Price gt 1&$select=ID", 200, `[{"ID":1},{"ID":4}]`},
		{"Stays?$filter=Price eq null&$select=ID", 200, `[{"ID":2},{"ID":3}]`},
		{"Stays(2)", 500, "Stays(2)/Price: the value is no Edm.Decimal, and the property does not allow null"},
		{"Stays(3)/Price", 500, "Stays(3)/Price: the value is no Edm.Decimal"},
	} {
		log.Reset()
		r := httptest.NewRequest("GET", "/"+strings.ReplaceAll(tt.target, " ", "%20"), nil)
		r.Header.Set("Accept", "application/json;odata.metadata=none")
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String()+log.String(), tt.want) {
			t.Errorf("%s: %d %s %s", tt.target, w.Code, w.Body, log.String())
		}
	}
	if _, err := memory.New(memory.Config{Sets: []memory.Set{{Name: "Stays", Rows: []stay{{ID: "one"}}}}}); err == nil || !strings.Contains(err.Error(), "row 0 has no key") {
		t.Errorf("a key that is no integer: %v", err)
	}
}
