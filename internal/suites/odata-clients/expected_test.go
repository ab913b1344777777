package odataclients_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
)

// expected asks as plainly as can be for what the clients have to find.
func expected(t *testing.T, service string) seen {
	t.Helper()
	type row struct {
		ID       int
		Name     string
		Customer struct{ Name string }
		Items    []any
	}
	type rows struct {
		Count int `json:"@odata.count"`
		Value []row
	}
	var out seen
	var one row
	decode(t, get(t, service+"Products(7)"), &one)
	out.One = one.Name
	var list rows
	filter := url.PathEscape("price gt 400 and contains(tolower(name),'tent')")
	decode(t, get(t, service+"Products?$count=true&$top=5&$orderby=price%20desc&$filter="+filter), &list)
	out.Count = list.Count
	for _, r := range list.Value {
		out.Filtered = append(out.Filtered, r.ID)
	}
	var orders rows
	decode(t, get(t, service+"Orders?$top=2&$expand=customer,items"), &orders)
	for _, r := range orders.Value {
		out.Expanded = append(out.Expanded, order{r.Customer.Name, len(r.Items)})
	}
	for skip := 0; skip < 30; skip += 10 {
		var page rows
		decode(t, get(t, service+"Products?$top=10&$skip="+strconv.Itoa(skip)), &page)
		var ids []int
		for _, r := range page.Value {
			ids = append(ids, r.ID)
		}
		out.Pages = append(out.Pages, ids)
	}
	if out.One == "" || out.Count <= 5 || len(out.Filtered) != 5 || len(out.Expanded) != 2 || len(out.Pages[2]) != 10 {
		t.Fatalf("the demo has too little: %+v", out)
	}
	return out
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	return getAs(t, "", address)
}

// getAs gets an address with a token.
func getAs(t *testing.T, token, address string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req) // of the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s gives %d, %v: %s", address, resp.StatusCode, err, text)
	}
	return text
}
