package bind_test

import (
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

func keyed(t testing.TB, target string) *plan.Plan {
	t.Helper()
	p, err := build(t, strings.ReplaceAll(target, " ", "%20"), bind.Options{Caller: reader(), KeyLinks: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTokensComeBack holds that the next page begins behind the values of the row that made the token.
func TestTokensComeBack(t *testing.T) {
	text := func(s string) plan.Value { return plan.Value{Bytes: []byte(s)} }
	cases := []struct {
		name, order string
		value, want plan.Value
	}{
		{"null", "Price", plan.Value{Null: true}, plan.Value{Null: true}},
		{"decimal", "Price", text("-12.50"), text("-12.5")},
		{"decimal of many digits", "Price", text(strings.Repeat("9", 200) + ".5"), text(strings.Repeat("9", 200) + ".5")},
		{"zero", "Price", text("0.00"), text("0")},
		{"text", "Title", text("a\u00e9\U0001D11E '\"\n"), text("a\u00e9\U0001D11E '\"\n")},
		{"empty text", "Title", plan.Value{}, text("")},
		{"instant", "Printed", text("2024-02-29T23:59:59.123456789Z"), text("2024-02-29T23:59:59.123456789Z")},
		{"flags", "Genre", plan.Value{Int: 3}, plan.Value{Int: 3}},
		{"double", "Size/Width", plan.Value{Float: 0.1}, plan.Value{Float: 0.1}},
		{"zero as a double", "Size/Width", plan.Value{}, plan.Value{}},
		{"infinity", "Size/Width", plan.Value{Float: math.Inf(-1)}, plan.Value{Float: math.Inf(-1)}},
		{"the least integer", "Id sub 1", plan.Value{Int: math.MinInt64}, plan.Value{Int: math.MinInt64}},
		{"condition", "Price gt 1", plan.Value{Int: 1}, plan.Value{Int: 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := keyed(t, "Books?$skip=5&$orderby="+c.order+" desc")
			row := make([]plan.Value, len(p.Top.Columns))
			row[p.Top.Cursor[0]], row[p.Top.Cursor[1]] = c.value, plan.Value{Int: 7}
			option := p.Top.NextOption(p.Top.Path, p.Top.Page.NextSkip, p.Top.Place(nil, row))
			token, ok := strings.CutPrefix(option, "$skiptoken=")
			if !ok || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				t.Fatalf("the next page is %s", option)
			}
			next, err := bind.Behind(keyed(t, "Books?$orderby="+c.order+" desc"), token, 0)
			if err != nil {
				t.Fatal(err)
			}
			page := next.Top.Page
			if got := page.After[0]; !plan.Same(&plan.Literal{Value: got}, &plan.Literal{Value: c.want}) || page.After[1].Int != 7 {
				t.Errorf("the page begins behind %+v, want %+v", page.After, c.want)
			}
			if page.Skip != 0 || page.NextSkip != 405 || page.Read != 201 {
				t.Errorf("the page is %+v", page)
			}
		})
	}
}

// TestWhatHasTokens lists which collections have links with tokens.
func TestWhatHasTokens(t *testing.T) {
	cases := map[string]bool{
		"Books": true, "Books/$ref": true, "Books(1)/Sequels": true, "Books?$orderby=Author/Name": true, "Books?$top=5": false, "Books/$count": false,
		"Books?$apply=groupby((Title))": true, "Books?$apply=topcount(3,Price)": true, "Books?$apply=aggregate($count as N)": false,
		"Books?$apply=concat(identity,aggregate($count as N))": false, "Books?$apply=concat(identity,aggregate($count as N))/filter(Id gt 1)&$orderby=Title": false,
		"Books?$apply=groupby((rollup(Genre,Title)))": false,
	}
	for target, want := range cases {
		if got := keyed(t, target).Top.Cursor != nil; got != want {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
	p := keyed(t, "Books(1)?$expand=Sequels($orderby=Title),Author,Loans($top=1),Prequel($expand=Sequels)")
	for i, want := range []bool{true, false, false, false} {
		if got := p.Top.Expand[i].Cursor != nil; got != want {
			t.Errorf("%s: %v, want %v", p.Top.Expand[i].Nav.Name, got, want)
		}
	}
	if mustBuild(t, "Books").Top.Cursor != nil {
		t.Error("links carry tokens that nobody asked for")
	}
}

// FuzzToken holds that no token makes a panic, and that one that is taken has values of the right types.
func FuzzToken(f *testing.F) {
	plans := []*plan.Plan{keyed(f, "Books?$orderby=Price,Title desc,Printed,Genre,Size/Width,Price gt 1"), keyed(f, "Authors"), keyed(f, "Loans?$orderby=Due")}
	var hashes [][]byte
	for i, p := range plans {
		f.Add([]byte{1}, i)
		row := make([]plan.Value, len(p.Top.Columns))
		for i, c := range p.Top.Columns {
			if row[i] = (plan.Value{Bytes: []byte("2024-02-29")}); c.T.Kind == edm.Guid {
				row[i].Bytes = []byte("0a0b0c0d-0000-0000-0000-000000000001")
			}
		}
		token := strings.TrimPrefix(p.Top.NextOption(p.Top.Path, p.Top.Page.NextSkip, p.Top.Place(nil, row)), "$skiptoken=")
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			f.Fatal(err)
		}
		hashes = append(hashes, raw[1:9])
		f.Add(raw, i)
		f.Add(slices.Concat(raw[:9], []byte{0xff, 0x01, 3, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'}), i)
	}
	f.Fuzz(func(t *testing.T, raw []byte, at int) {
		n := uint(at) % uint(len(plans))
		p := plans[n]
		if len(raw) > 9 {
			raw = slices.Concat(raw[:1], hashes[n], raw[9:])
		}
		for _, token := range []string{base64.RawURLEncoding.EncodeToString(raw), string(raw)} {
			next, err := bind.Behind(p, token, 3)
			if err != nil {
				if fault := (*plan.Error)(nil); !errors.As(err, &fault) || fault.Kind != plan.Malformed || fault.Pos != 3 {
					t.Fatalf("%q: %v", token, err)
				}
				continue
			}
			for i, v := range next.Top.Page.After {
				kind := p.Top.Query.Order[i].Expr.Type().Kind
				if number := kind.Integer() || kind.Floating() || kind == edm.Boolean || kind == edm.Enum; !v.Null && number != (v.Bytes == nil) {
					t.Fatalf("%q: %+v is no %s", token, v, kind)
				}
			}
		}
	})
}
