package payload_test

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// table writes rows as CSV, and gives the option of the next page; empty for none.
func table(t testing.TB, n *plan.Node, r *rows) (text, next string) {
	t.Helper()
	var out sink
	var pool payload.Pool
	if err := encoder(header.Minimal).CSV(pool.Get(&out), &plan.Plan{Kind: plan.Collection, Top: n}, r, func(option string) { next = option }); err != nil {
		t.Fatal(err)
	}
	if !out.ended {
		t.Error("the answer did not end")
	}
	return out.String(), next
}

func columns(types ...edm.Type) *plan.Node {
	n := &plan.Node{Set: newShop().products, Many: true}
	for i, typ := range types {
		n.Fields = append(n.Fields, plan.Field{Name: string(rune('A' + i)), T: typ, Column: i})
	}
	return n
}

func TestCSVValues(t *testing.T) {
	t.Parallel()
	text8, status := edm.Of(edm.String), edm.Type{Kind: edm.Enum, Enum: newShop().status}
	tests := []struct {
		name  string
		typ   edm.Type
		value plan.Value
		want  string
	}{
		{"text", text8, text("Ulm"), `Ulm`},
		{"null", text8, null(), ``},
		{"empty text", text8, text(""), `""`},
		{"comma", text8, text("a,b"), `"a,b"`},
		{"quotes", text8, text(`5" "x"`), `"5"" ""x"""`},
		{"line end", text8, text("a\r\nb"), "\"a\r\nb\""},
		{"blank in front", text8, text(" a"), `" a"`},
		{"no UTF-8", text8, text("a\xffb"), "a\ufffdb"},
		{"formula", text8, text("=1+2"), `'=1+2`},
		{"formula in quotes", text8, text(`=HYPERLINK("x","y")`), `"'=HYPERLINK(""x"",""y"")"`},
		{"plus", text8, text("+1"), `'+1`},
		{"minus", text8, text("-1"), `'-1`},
		{"at", text8, text("@SUM(A1)"), `'@SUM(A1)`},
		{"tab", text8, text("\t=1"), "'\t=1"},
		{"line end in front", text8, text("\r=1"), "\"'\r=1\""},
		{"line feed in front", text8, text("\n=1"), "\"'\n=1\""},
		{"equals inside", text8, text("a=1"), `a=1`},
		{"negative number", edm.Of(edm.Int64), number(math.MinInt64), `-9223372036854775808`},
		{"negative decimal", edm.Of(edm.Decimal), text("-12.50"), `-12.50`},
		{"infinity", edm.Of(edm.Double), plan.Value{Float: math.Inf(-1)}, `-INF`},
		{"boolean", edm.Of(edm.Boolean), number(1), `true`},
		{"date", edm.Of(edm.Date), text("2024-02-29"), `2024-02-29`},
		{"duration", edm.Of(edm.Duration), text("-PT5S"), `-PT5S`},
		{"binary", edm.Of(edm.Binary), text("\xff\xfe\x00"), `__4A`},
		{"empty binary", edm.Of(edm.Binary), text(""), `""`},
		{"flags", status, number(3), `"New,Sale"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := table(t, columns(tt.typ, edm.Of(edm.Byte)), &rows{data: [][]plan.Value{{tt.value, number(7)}}})
			if want := "A,B\r\n" + tt.want + ",7\r\n"; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestCSVShape(t *testing.T) {
	t.Parallel()
	n := &plan.Node{Set: newShop().products, Many: true, Fields: []plan.Field{
		{Name: "ID", T: edm.Of(edm.Int32), Column: 1},
		{Name: "Photo", T: edm.Of(edm.Stream), Column: 2},
		{Name: "Home", T: edm.Type{Kind: edm.Complex}, Column: -1, Fields: []plan.Field{
			{Name: "City", T: edm.Of(edm.String), Column: 0},
			{Name: "=Zip", T: edm.Of(edm.String), Column: 2},
		}},
		{Name: "+1", T: edm.Of(edm.Int32), Column: 1, Computed: true},
	}}
	got, _ := table(t, n, &rows{data: [][]plan.Value{{text("Ulm"), number(1), null()}, {null(), number(2), text("x")}}})
	if want := "\"ID\",Home/City,Home/=Zip,'+1\r\n1,Ulm,,1\r\n2,,x,2\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, _ := table(t, n, &rows{}); got != "\"ID\",Home/City,Home/=Zip,'+1\r\n" {
		t.Errorf("without rows: %q", got)
	}
	if got, _ := table(t, columns(edm.Of(edm.String)), &rows{data: [][]plan.Value{{null()}, {text("")}}}); got != "A\r\n\"\"\r\n\"\"\r\n" {
		t.Errorf("a line is empty: %q", got)
	}
}

func TestCSVPages(t *testing.T) {
	t.Parallel()
	long := make([][]plan.Value, 3000)
	for i := range long {
		long[i] = []plan.Value{text(strings.Repeat("x", 1000))}
	}
	tests := []struct {
		name   string
		page   plan.Page
		rows   rows
		next   string
		before int // blocks that are sent before the link is known
	}{
		{"more", plan.Page{Next: true, NextSkip: 7}, rows{data: long[:200], more: true}, "$skip=7", 0},
		{"the end", plan.Page{Next: true, NextSkip: 7}, rows{data: long[:2]}, "", 0},
		{"an explicit $top", plan.Page{}, rows{data: long[:200], more: true}, "", 3},
		{"a long page", plan.Page{Next: true, NextSkip: 7}, rows{data: long, more: true}, "$skip=7", 42},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := columns(edm.Of(edm.String))
			n.Page = tt.page
			var out sink
			var pool payload.Pool
			next, before := "", 0
			err := encoder(header.Minimal).CSV(pool.Get(&out), &plan.Plan{Kind: plan.Collection, Top: n}, &tt.rows, func(option string) { next, before = option, out.blocks })
			if err != nil || next != tt.next || next != "" && before != tt.before || next == "" && out.blocks != tt.before+1 {
				t.Errorf("%v, %q after %d of %d blocks", err, next, before, out.blocks)
			}
		})
	}
	fault := errors.New("database away")
	var out sink
	var pool payload.Pool
	err := encoder(header.None).CSV(pool.Get(&out), &plan.Plan{Kind: plan.Collection, Top: columns(edm.Of(edm.String))}, &rows{err: fault}, nil)
	if !errors.Is(err, fault) || out.ended {
		t.Errorf("a fault of the rows gives %v, ended %v", err, out.ended)
	}
}

// FuzzCSV reads what is written back by another implementation.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"", "plain", "a,b", `"`, "\r\n", " x ", "=1", "\xff", "-1", "a\"\r\n,", "ü, 日本語"} {
		f.Add(s, "b", false)
		f.Add("a", s, true)
	}
	f.Fuzz(func(t *testing.T, a, b string, isNull bool) {
		row := []plan.Value{text(a), text(b), {Null: isNull, Bytes: []byte(b)}}
		got, _ := table(t, columns(edm.Of(edm.String), edm.Of(edm.String), edm.Of(edm.String)), &rows{data: [][]plan.Value{row, row}})
		last := expectedCSV(b)
		if isNull {
			last = ""
		}
		want := [][]string{{"A", "B", "C"}, {expectedCSV(a), expectedCSV(b), last}, {expectedCSV(a), expectedCSV(b), last}}
		r := csv.NewReader(strings.NewReader(got))
		for _, line := range want {
			read, err := r.Read()
			if err != nil {
				t.Fatalf("%q: %v", got, err)
			}
			if diff := cmp.Diff(line, read); diff != "" {
				t.Fatalf("%q: %s", got, diff)
			}
		}
		if _, err := r.Read(); !errors.Is(err, io.EOF) {
			t.Fatalf("%q goes on: %v", got, err)
		}
	})
}

// expectedCSV is what encoding/csv makes of a text: a line end within quotes is \n.
func expectedCSV(s string) string {
	s = string([]rune(s))
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		s = "'" + s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}
