package payload_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// sink collects blocks.
type sink struct {
	bytes.Buffer
	blocks int
	ended  bool
	err    error
}

func (s *sink) Send(b []byte, last bool) error {
	s.blocks++
	s.ended = last
	s.Write(b)
	return s.err
}

// rows are rows in memory; inner are those of the expanded properties.
type rows struct {
	data  [][]plan.Value
	inner func(row, i int) plan.Rows
	at    int
	more  bool
	count int64
	err   error
}

func (r *rows) Next() bool             { r.at++; return r.at <= len(r.data) }
func (r *rows) Row() []plan.Value      { return r.data[r.at-1] }
func (r *rows) Expand(i int) plan.Rows { return r.inner(r.at-1, i) }
func (r *rows) More() bool             { return r.more }
func (r *rows) Count() int64           { return r.count }
func (r *rows) Version() string        { return "" }
func (r *rows) Err() error             { return r.err }
func (r *rows) Close() error           { return nil }

func number(n int64) plan.Value { return plan.Value{Int: n} }
func text(s string) plan.Value  { return plan.Value{Bytes: []byte(s)} }
func null() plan.Value          { return plan.Value{Null: true} }

// shop is a model of products in categories.
type shop struct {
	model                *edm.Model
	products, categories *edm.EntitySet
	status               *edm.EnumType
}

func newShop() shop {
	id := func() *edm.Property { return &edm.Property{Name: "ID", Type: edm.Of(edm.Int32)} }
	name := &edm.Property{Name: "Name", Type: edm.Of(edm.String)}
	status := &edm.EnumType{Name: "Status", Flags: true, Members: []edm.EnumMember{{Name: "None", Value: 0}, {Name: "New", Value: 1}, {Name: "Sale", Value: 2}}}
	pid, cid := id(), id()
	product := &edm.EntityType{Name: "Product", Key: []*edm.Property{pid}, Properties: []*edm.Property{pid, name}}
	code := &edm.Property{Name: "Code", Type: edm.Of(edm.String)}
	category := &edm.EntityType{Name: "Category", Key: []*edm.Property{cid, code}, Properties: []*edm.Property{cid, code}}
	s := shop{
		products:   &edm.EntitySet{Name: "Products", Type: product},
		categories: &edm.EntitySet{Name: "My Categories", Type: category},
		status:     status,
	}
	product.Navigation = []*edm.Navigation{{Name: "Category", Target: s.categories, Nullable: true}}
	category.Navigation = []*edm.Navigation{{Name: "Products", Target: s.products, Collection: true}}
	s.model = &edm.Model{
		Namespace: "Shop", Container: "Container", Types: []*edm.EntityType{product, category},
		Sets: []*edm.EntitySet{s.products, s.categories}, Enums: []*edm.EnumType{status},
	}
	return s
}

func encoder(m header.Metadata) *payload.Encoder {
	return &payload.Encoder{Root: "http://h/odata/", Namespace: "Shop", Format: header.JSON{Metadata: m}}
}

func collection(t *testing.T, e *payload.Encoder, n *plan.Node, r plan.Rows) string {
	t.Helper()
	var out sink
	var pool payload.Pool
	w := pool.Get(&out)
	defer pool.Put(w)
	err := e.Collection(w, &plan.Plan{Kind: plan.Collection, Top: n}, r, func(option string) string {
		return "http://h/odata/Products?" + option
	})
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) || !out.ended {
		t.Errorf("no complete JSON: %s", out.String())
	}
	return out.String()
}

func TestCollection(t *testing.T) {
	t.Parallel()
	s := newShop()
	products := func(change func(*plan.Node)) *plan.Node {
		n := &plan.Node{
			Set: s.products, Many: true, Key: []int{0},
			Fields: []plan.Field{{Name: "ID", T: edm.Of(edm.Int32)}, {Name: "Name", T: edm.Of(edm.String), Column: 1}},
			Page:   plan.Page{Next: true, NextSkip: 2},
		}
		change(n)
		return n
	}
	category := &plan.Node{
		Nav: s.products.Type.Nav("Category"), Set: s.categories, Key: []int{0, 1},
		Fields: []plan.Field{{Name: "Code", T: edm.Of(edm.String), Column: 1}}, Explicit: true,
	}
	inner := func(row, _ int) plan.Rows {
		if row == 0 {
			return &rows{data: [][]plan.Value{{number(7), text("it's")}}}
		}
		return &rows{}
	}
	two := func() *rows {
		return &rows{data: [][]plan.Value{{number(1), text(`a"b`)}, {number(2), null()}}, inner: inner, count: 9}
	}
	tests := []struct {
		name string
		enc  *payload.Encoder
		node *plan.Node
		rows *rows
		want string
	}{
		{
			"minimal", encoder(header.Minimal), products(func(*plan.Node) {}), two(),
			`{"@odata.context":"http://h/odata/$metadata#Products","value":[{"ID":1,"Name":"a\"b"},{"ID":2,"Name":null}]}`,
		},
		{"none", encoder(header.None), products(func(*plan.Node) {}), two(), `{"value":[{"ID":1,"Name":"a\"b"},{"ID":2,"Name":null}]}`},
		{"no rows", encoder(header.None), products(func(*plan.Node) {}), &rows{}, `{"value":[]}`},
		{
			"count and next link", encoder(header.None),
			products(func(n *plan.Node) { n.Count = true }),
			func() *rows { r := two(); r.more = true; return r }(),
			`{"@odata.count":9,"value":[{"ID":1,"Name":"a\"b"},{"ID":2,"Name":null}],"@odata.nextLink":"http://h/odata/Products?$skip=2"}`,
		},
		{
			"more rows, but no page", encoder(header.None),
			products(func(n *plan.Node) { n.Page = plan.Page{} }),
			func() *rows { r := two(); r.more = true; return r }(),
			`{"value":[{"ID":1,"Name":"a\"b"},{"ID":2,"Name":null}]}`,
		},
		{
			"select and expand", encoder(header.Minimal),
			products(func(n *plan.Node) { n.Explicit, n.Fields, n.Expand = true, n.Fields[:1], []*plan.Node{category} }), two(),
			`{"@odata.context":"http://h/odata/$metadata#Products(ID,Category(Code))","value":[{"ID":1,"Category":{"@odata.id":"http://h/odata/My%20Categories(ID=7,Code='it''s')","Code":"it's"}},{"ID":2,"Category":null}]}`,
		},
		{
			"full", encoder(header.Full), products(func(*plan.Node) {}), &rows{data: [][]plan.Value{{number(1), text("x")}}},
			`{"@odata.context":"http://h/odata/$metadata#Products","value":[{"@odata.type":"#Shop.Product","@odata.id":"http://h/odata/Products(1)",` +
				`"@odata.readLink":"http://h/odata/Products(1)","Category@odata.associationLink":"http://h/odata/Products(1)/Category/$ref",` +
				`"Category@odata.navigationLink":"http://h/odata/Products(1)/Category","ID@odata.type":"#Int32","ID":1,"Name":"x"}]}`,
		},
		{
			"references", encoder(header.Minimal),
			products(func(n *plan.Node) { n.Ref, n.Set, n.Key = true, s.categories, []int{0, 1} }),
			&rows{data: [][]plan.Value{{number(1), text("it's ü/&")}}},
			`{"@odata.context":"http://h/odata/$metadata#Collection($ref)","value":[{"@odata.id":"http://h/odata/My%20Categories(ID=1,Code='it''s%20%C3%BC%2F%26')"}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, collection(t, tt.enc, tt.node, tt.rows)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNestedPages(t *testing.T) {
	t.Parallel()
	s := newShop()
	inner := &plan.Node{
		Nav: s.categories.Type.Nav("Products"), Set: s.products, Many: true, Count: true, Key: []int{0},
		Fields: []plan.Field{{Name: "ID", T: edm.Of(edm.Int32)}}, Page: plan.Page{Next: true, NextSkip: 1},
		Options: `$orderby=Name&$select=ID`,
	}
	number1 := *inner
	number1.CountOnly = true
	outer := &plan.Node{Set: s.categories, Many: true, Key: []int{0, 1}, Expand: []*plan.Node{inner, &number1}}
	got := collection(t, encoder(header.None), outer, &rows{
		data: [][]plan.Value{{number(3), text("x")}},
		inner: func(int, int) plan.Rows {
			return &rows{data: [][]plan.Value{{number(1)}}, more: true, count: 12}
		},
	})
	want := `{"value":[{"Products@odata.count":12,"Products":[{"ID":1}],` +
		`"Products@odata.nextLink":"http://h/odata/My%20Categories(ID=3,Code='x')/Products?$orderby=Name&$select=ID&$skip=1","Products@odata.count":12}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEntity(t *testing.T) {
	t.Parallel()
	s := newShop()
	n := &plan.Node{
		Set: s.products, Key: []int{0}, Fields: []plan.Field{{Name: "ID", T: edm.Of(edm.Int32)}},
		Columns: []plan.Column{{Expr: &plan.Ref{Path: s.products.Type.Key}}},
	}
	ref := *n
	ref.Ref = true
	tests := []struct {
		name string
		kind plan.Kind
		node *plan.Node
		want string
	}{
		{"entity", plan.Entity, n, `{"@odata.context":"http://h/odata/$metadata#Products/$entity","ID":5}`},
		{"reference", plan.Entity, &ref, `{"@odata.context":"http://h/odata/$metadata#$ref","@odata.id":"http://h/odata/Products(5)"}`},
		{"nothing to write", plan.Entity, &plan.Node{Set: s.products}, `{"@odata.context":"http://h/odata/$metadata#Products/$entity"}`},
		{"property", plan.Property, n, `{"@odata.context":"http://h/odata/$metadata#Products(5)/ID","value":5}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out sink
			var pool payload.Pool
			w := pool.Get(&out)
			r := &rows{data: [][]plan.Value{{number(5)}}}
			r.Next()
			p := &plan.Plan{Kind: tt.kind, Top: tt.node}
			write := encoder(header.Minimal).Entity
			if tt.kind == plan.Property {
				write = encoder(header.Minimal).Property
			}
			if err := write(w, p, r); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := newShop()
	tests := []struct {
		name        string
		typ         edm.Type
		value       plan.Value
		json, exact string
	}{
		{"boolean", edm.Of(edm.Boolean), number(1), `true`, `true`},
		{"int64", edm.Of(edm.Int64), number(math.MinInt64), `-9223372036854775808`, `"-9223372036854775808"`},
		{"decimal", edm.Of(edm.Decimal), text("-12.50"), `-12.50`, `"-12.50"`},
		{"int32", edm.Of(edm.Int32), number(-3), `-3`, `-3`},
		{"double", edm.Of(edm.Double), plan.Value{Float: 0.1}, `0.1`, `0.1`},
		{"huge double", edm.Of(edm.Double), plan.Value{Float: 1e300}, `1e+300`, `1e+300`},
		{"single", edm.Of(edm.Single), plan.Value{Float: float64(float32(0.1))}, `0.1`, `0.1`},
		{"no number", edm.Of(edm.Double), plan.Value{Float: math.NaN()}, `"NaN"`, `"NaN"`},
		{"negative zero", edm.Of(edm.Double), plan.Value{Float: math.Copysign(0, -1)}, `0`, `0`},
		{"infinity", edm.Of(edm.Double), plan.Value{Float: math.Inf(-1)}, `"-INF"`, `"-INF"`},
		{"guid", edm.Of(edm.Guid), text("01234567-89ab-cdef-0123-456789abcdef"), `"01234567-89ab-cdef-0123-456789abcdef"`, `"01234567-89ab-cdef-0123-456789abcdef"`},
		{"binary", edm.Of(edm.Binary), text("\xff\xfe\x00"), `"__4A"`, `"__4A"`},
		{"enum", edm.Type{Kind: edm.Enum, Enum: s.status}, number(2), `"Sale"`, `"Sale"`},
		{"flags", edm.Type{Kind: edm.Enum, Enum: s.status}, number(3), `"New,Sale"`, `"New,Sale"`},
		{"unknown member", edm.Type{Kind: edm.Enum, Enum: s.status}, number(9), `"9"`, `"9"`},
		{"null", edm.Of(edm.Int64), null(), `null`, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := &plan.Node{Set: s.products, Many: true, Fields: []plan.Field{{Name: "V", T: tt.typ}}}
			for _, exact := range []bool{false, true} {
				want := tt.json
				if exact {
					want = tt.exact
				}
				e := encoder(header.None)
				e.Format.IEEE754 = exact
				got := collection(t, e, n, &rows{data: [][]plan.Value{{tt.value}}})
				if got != `{"value":[{"V":`+want+`}]}` {
					t.Errorf("got %s, want %s (IEEE754 %v)", got, want, exact)
				}
			}
		})
	}
}

func TestComplexValues(t *testing.T) {
	t.Parallel()
	s := newShop()
	street := &edm.Property{Name: "Street", Type: edm.Of(edm.String)}
	city := &edm.Property{Name: "City", Type: edm.Of(edm.String)}
	address := &edm.ComplexType{Name: "Address", Properties: []*edm.Property{street, city}}
	n := &plan.Node{Set: s.products, Many: true, Key: []int{0}, Explicit: true, Fields: []plan.Field{{
		Name: "Home", T: edm.Type{Kind: edm.Complex, Complex: address}, Column: -1,
		Fields: []plan.Field{{Name: "City", T: edm.Of(edm.String), Column: 1}},
	}}}
	got := collection(t, encoder(header.Minimal), n, &rows{data: [][]plan.Value{{number(1), text("Ulm")}}})
	want := `{"@odata.context":"http://h/odata/$metadata#Products(Home/City)","value":[{"@odata.id":"http://h/odata/Products(1)","Home":{"City":"Ulm"}}]}`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	n.Explicit = false
	got = collection(t, encoder(header.Full), n, &rows{data: [][]plan.Value{{number(1), text("Ulm")}}})
	if !strings.Contains(got, `"Home":{"@odata.type":"#Shop.Address","City":"Ulm"}`) {
		t.Errorf("the complex value has no type: %s", got)
	}
}

func TestStreamsInBlocks(t *testing.T) {
	t.Parallel()
	s := newShop()
	n := &plan.Node{Set: s.products, Many: true, Fields: []plan.Field{{Name: "Name", T: edm.Of(edm.String)}}}
	data := make([][]plan.Value, 300)
	for i := range data {
		data[i] = []plan.Value{text(strings.Repeat("x", 1000))}
	}
	var out sink
	var pool payload.Pool
	w := pool.Get(&out)
	if err := encoder(header.None).Collection(w, &plan.Plan{Kind: plan.Collection, Top: n}, &rows{data: data}, nil); err != nil {
		t.Fatal(err)
	}
	if out.blocks != 5 || !json.Valid(out.Bytes()) {
		t.Errorf("%d bytes came in %d blocks", out.Len(), out.blocks)
	}
	broken := &sink{err: errors.New("gone")}
	w = pool.Get(broken)
	err := encoder(header.None).Collection(w, &plan.Plan{Kind: plan.Collection, Top: n}, &rows{data: data}, nil)
	if !errors.Is(err, broken.err) || broken.blocks != 1 {
		t.Errorf("after a broken connection: %v, %d blocks", err, broken.blocks)
	}
	fault := errors.New("database away")
	err = encoder(header.None).Collection(pool.Get(&out), &plan.Plan{Kind: plan.Collection, Top: n}, &rows{err: fault}, nil)
	if !errors.Is(err, fault) {
		t.Errorf("a fault of the rows gives %v", err)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain text of some length", "quote\"", "back\\slash", "tab\tnl\n", "ümlaut, 日本語, 😀", "\xff\xc3(", "\x00\x1f\x7f", "1234567\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := payload.AppendString(nil, s)
		if other := payload.AppendString(nil, []byte(s)); !bytes.Equal(got, other) {
			t.Errorf("string and bytes differ: %s, %s", got, other)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		want, _ := json.Marshal(s)
		var ref string
		_ = json.Unmarshal(want, &ref)
		if back != ref {
			t.Errorf("%q comes back as %q, want %q", s, back, ref)
		}
	})
}

// BenchmarkRow compares the writer with encoding/json for a row of ten columns.
func BenchmarkRow(b *testing.B) {
	s := newShop()
	n := &plan.Node{Set: s.products, Many: true}
	type row struct {
		C0, C1, C2, C3, C4 int64
		C5, C6, C7, C8, C9 string
	}
	values, strct := make([]plan.Value, 0, 10), row{123456, 2, 3, 4, 5, "a name of a product", "b", "c", "some longer text that is plain ASCII", "2024-01-02T03:04:05Z"}
	for i, v := range []any{strct.C0, strct.C1, strct.C2, strct.C3, strct.C4, strct.C5, strct.C6, strct.C7, strct.C8, strct.C9} {
		t := edm.Of(edm.Int64)
		if text, ok := v.(string); ok {
			t = edm.Of(edm.String)
			values = append(values, plan.Value{Bytes: []byte(text)})
		} else {
			values = append(values, number(v.(int64)))
		}
		n.Fields = append(n.Fields, plan.Field{Name: "C" + strconv.Itoa(i), T: t, Column: i})
	}
	b.Run("payload", func(b *testing.B) {
		b.ReportAllocs()
		data := make([][]plan.Value, b.N)
		for i := range data {
			data[i] = values
		}
		var out discard
		var pool payload.Pool
		b.ResetTimer()
		if err := encoder(header.None).Collection(pool.Get(out), &plan.Plan{Kind: plan.Collection, Top: n}, &rows{data: data}, nil); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		enc := json.NewEncoder(discard{})
		for range b.N {
			if err := enc.Encode(&strct); err != nil {
				b.Fatal(err)
			}
		}
	})
}

type discard struct{}

func (discard) Send([]byte, bool) error     { return nil }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
