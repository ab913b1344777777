package payload_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// bodyType is an entity type with a property of each kind.
func bodyType() *edm.EntityType {
	of := func(name string, k edm.Kind) *edm.Property {
		p := &edm.Property{Name: name, Type: edm.Of(k), Nullable: true}
		if k == edm.DateTimeOffset || k == edm.TimeOfDay || k == edm.Duration {
			p.Type.Precision = 6
		}
		return p
	}
	t := &edm.EntityType{Name: "Part", Properties: []*edm.Property{
		of("id", edm.Int64), of("name", edm.String), of("ok", edm.Boolean), of("byte", edm.Byte), of("small", edm.SByte), of("short", edm.Int16), of("int", edm.Int32),
		of("price", edm.Decimal), of("single", edm.Single), of("double", edm.Double), of("guid", edm.Guid), of("day", edm.Date), of("at", edm.DateTimeOffset),
		of("clock", edm.TimeOfDay), of("span", edm.Duration), of("data", edm.Binary), of("file", edm.Stream),
		{Name: "status", Type: edm.Type{Kind: edm.Enum, Enum: edm.NewEnum("Status", true, map[string]int64{"New": 1, "Sale": 2}, nil)}},
		{Name: "home", Type: edm.Type{Kind: edm.Complex, Complex: &edm.ComplexType{Name: "Address", Properties: []*edm.Property{of("city", edm.String), of("no", edm.Int32)}}}},
	}}
	set := &edm.EntitySet{Name: "Parts", Type: t}
	t.Navigation = []*edm.Navigation{{Name: "maker", Target: set}, {Name: "children", Collection: true, Target: set}}
	return t
}

// shown are the values of a body, by path, as $value has them.
func shown(values []write.Assignment) map[string]string {
	out := map[string]string{}
	for _, v := range values {
		names := make([]string, len(v.Path))
		for i, p := range v.Path {
			names[i] = p.Name
		}
		typ := v.Type()
		text := string(payload.AppendText(nil, &v.Value, &typ))
		if v.Value.Null {
			text = "null"
		}
		out[strings.Join(names, "/")] = text
	}
	return out
}

func TestBodyOfEntity(t *testing.T) {
	t.Parallel()
	body := ` { "@odata.context" : "x", "id":-5, "name":"\u00e4\"\ud834\udd1e\n", "ok":true, "byte":255, "small":-128, "short":32767, "int":-1,
		"price":-1.50, "single":0.1, "double":"-INF", "guid":"AAAAAAAA-0000-0000-0000-00000000000F", "day":"2024-02-29", "at":"2024-02-29T23:00:00.5-01:00",
		"clock":"07:05", "span":"PT90M", "data":"AP8=", "file":{"any":["thing"]}, "status":"Sale, New", "home":{"@odata.type":"#N.Address","city":null,"no":7},
		"@odata.etag":"W/\"t\"", "maker@odata.navigationLink":"x", "name@some.term":{"a":[1,2,{}]}, "maker":null } `
	got, err := payload.BodyReader{Namespace: "N"}.Entity([]byte(body), bodyType())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"id": "-5", "name": "ä\"𝄞\n", "ok": "true", "byte": "255", "small": "-128", "short": "32767", "int": "-1", "price": "-1.5", "single": "0.1", "double": "-INF",
		"guid": "aaaaaaaa-0000-0000-0000-00000000000f", "day": "2024-02-29", "at": "2024-03-01T00:00:00.5Z", "clock": "07:05:00", "span": "PT1H30M", "data": "\x00\xff",
		"status": "New,Sale", "home/city": "null", "home/no": "7",
	}
	if diff := cmp.Diff(want, shown(got.Values)); diff != "" {
		t.Error(diff)
	}
	if got.Tag != `W/"t"` || len(got.Related) != 1 || got.Related[0].Nav.Name != "maker" || body[got.Related[0].Pos:][:7] != `"maker"` {
		t.Errorf("tag %s, related %v", got.Tag, got.Related)
	}
}

// Faults name the property and the place.
func TestFaultsOfBodies(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		path string
		near string // what the body has at the place; "$" for the end
	}{
		`{"id":"x"}`:                       {"id", `"x"`},
		`{"home":{"no":1.5}}`:              {"home/no", "1.5"},
		`{"home":{"nope":1}}`:              {"home/nope", `"nope"`},
		`{"a":1,"id":2}`:                   {"a", `"a"`},
		`{"id":1,"id":2}`:                  {"", `"id":2}`},
		`{"@odata.etag":"a","@etag":"b"}`:  {"", `"@etag"`},
		`{"@id":"a","\u0040odata.id":"a"}`: {"", `"\u0040odata.id"`},
		`{"home":{"@type":"#N.Address","@odata.type":"#N.Address"}}`: {"", `"@odata.type"`},
		`{"id@odata.type":"#Int64","id@type":"#Int64"}`:              {"", `"id@type"`},
		`{"id":1`:                 {"", "$"},
		`{"name":"a`:              {"", `"a`},
		`{"name":"\u00g0"}`:       {"", `\u00g0`},
		`{"name":"\ud834x"}`:      {"", `\ud834`},
		"{\"name\":\"\xff\"}":     {"", "\xff"},
		"{\"name\":\"a\tb\"}":     {"", "\t"},
		`{"byte":256}`:            {"byte", "256"},
		`{"small":-129}`:          {"small", "-129"},
		`{"int":2147483648}`:      {"int", "2147483648"},
		`{"single":1e39}`:         {"single", "1e39"},
		`{"double":true}`:         {"double", "true"},
		`{"price":1e99}`:          {"price", "1e99"},
		`{"span":"1 hour"}`:       {"span", `"1 hour"`},
		`{"status":"Old"}`:        {"status", `"Old"`},
		`{"home":null}`:           {"home", "null"},
		`{"data":"AP9"}`:          {"data", `"AP9"`},
		`{"data":"A\nP8"}`:        {"data", `"A\nP8"`},
		`{"x@odata.bind":"y"}`:    {"", `"x@odata.bind"`},
		`{"@odata.removed":{}}`:   {"", `"@odata.removed"`},
		`{"@odata.type":"#N.X"}`:  {"", `"@odata.type"`},
		`{"id":1} true`:           {"", "true"},
		`{"id" 1}`:                {"", "1"},
		`{"@a.b":[1,]}`:           {"", "]"},
		`{"@a.b":{"c"}}`:          {"", "}"},
		`{"name":"a\u0000"}`:      {"name", `"a\u0000"`},
		`{"at":"2024-01-01T00Z"}`: {"at", `"2024-01-01T00Z"`},
	} {
		_, err := payload.BodyReader{Namespace: "N"}.Entity([]byte(body), bodyType())
		bad, ok := errors.AsType[*payload.BodyError](err)
		if !ok {
			t.Errorf("%s: %v", body, err)
			continue
		}
		at := body[bad.Pos:]
		if bad.Path != want.path || want.near == "$" && at != "" || want.near != "$" && !strings.HasPrefix(at, want.near) {
			t.Errorf("%s: %q at %q: %s", body, bad.Path, at, bad.Message)
		}
	}
}

func TestBodyOfProperty(t *testing.T) {
	t.Parallel()
	typ := bodyType()
	r := payload.BodyReader{Namespace: "N"}
	for _, tt := range []struct {
		path, body string
		want       map[string]string // nil for a fault
	}{
		{"id", `{"value":5}`, map[string]string{"id": "5"}},
		{"id", `{"@odata.context":"x","value":null}`, map[string]string{"id": "null"}},
		{"id", `{"value":5,"value":6}`, nil},
		{"id", `{"id":5}`, nil},
		{"id", `{}`, nil},
		{"id", `5`, nil},
		{"home", `{"no":5}`, map[string]string{"home/no": "5"}},
		{"home", `{"value":{"no":5}}`, nil},
	} {
		got, err := r.Property([]byte(tt.body), []*edm.Property{typ.Property(tt.path)})
		if (err == nil) != (tt.want != nil) {
			t.Errorf("%s %s: %v", tt.path, tt.body, err)
		} else if err == nil {
			if diff := cmp.Diff(tt.want, shown(got.Values)); diff != "" {
				t.Errorf("%s %s: %s", tt.path, tt.body, diff)
			}
		}
	}
	for _, tt := range []struct{ path, body, want string }{
		{"name", "a \"b\"\n", "a \"b\"\n"},
		{"name", "", ""},
		{"name", "a\x00", "fault"},
		{"name", "\xff", "fault"},
		{"data", "\xff\x00", "\xff\x00"},
		{"id", "5", "5"},
		{"id", " 5", "fault"},
		{"id", "null", "fault"},
		{"double", "NaN", "NaN"},
		{"status", "New", "New"},
		{"status", "Old", "fault"},
		{"ok", "yes", "fault"},
	} {
		got, err := r.Value([]byte(tt.body), []*edm.Property{typ.Property(tt.path)})
		switch {
		case err != nil && tt.want != "fault":
			t.Errorf("%s %q: %v", tt.path, tt.body, err)
		case err == nil && shown(got.Values)[tt.path] != tt.want:
			t.Errorf("%s %q: %v", tt.path, tt.body, shown(got.Values))
		}
	}
}

// A body that is read is JSON, and its values, written as answers have them, are read as the same.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"name":"a","home":{"city":"b","no":2},"@odata.etag":"W/\"x\""}`, `{"price":1e3,"double":-0,"at":"2024-01-01T00:00:00Z"}`, `{"status":"New,Sale","data":"AP8"}`,
		`{"name":"\ud834\udd1e\u0000"}`, `{"maker":{"a":[{}]},"children@odata.bind":[]}`, `{"maker":{"id":1,"maker":null},"children":[{"home":{"no":1}},{"maker@odata.bind":"a"}],"children@bind":["a","b"]}`, "{\"a\":\"\xff\"}", `[`, `{"id":1,}`, `{"@x":[[[[]]]]}`,
	} {
		f.Add(s)
	}
	typ := bodyType()
	r := payload.BodyReader{Namespace: "N"}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := r.Entity([]byte(body), typ)
		if err != nil {
			if bad, ok := errors.AsType[*payload.BodyError](err); !ok || bad.Pos < 0 || bad.Pos > len(body) {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if !json.Valid([]byte(body)) || !utf8.ValidString(body) {
			t.Fatalf("%q was read and is no JSON", body)
		}
		text, err := json.Marshal(asObject(got))
		if err != nil {
			t.Fatal(err)
		}
		second, err := r.Entity(text, typ)
		if err != nil {
			t.Fatalf("%q became %s: %v", body, text, err)
		}
		if diff := cmp.Diff(values(got), values(second)); diff != "" {
			t.Fatalf("%q became %s: %s", body, text, diff)
		}
	})
}

// values are those of a body, and the addresses, by their paths.
func values(b *payload.Body) map[string]string {
	out := map[string]string{}
	for path, v := range shown(b.Values) {
		out[b.Path+path] = v
	}
	for _, r := range b.Related {
		if r.Bound {
			out[r.Path+"@bind"] = fmt.Sprint(r.Null, r.IDs)
		} else if !r.Delta {
			out[r.Path] = fmt.Sprint(r.Null, len(r.Entities))
		}
		for _, e := range r.Entities {
			maps.Copy(out, values(e))
		}
	}
	return out
}

// asObject is a body as a client would send it.
func asObject(b *payload.Body) map[string]any {
	out := map[string]any{}
	for _, v := range b.Values {
		in := out
		for _, p := range v.Path[:len(v.Path)-1] {
			if in[p.Name] == nil {
				in[p.Name] = map[string]any{}
			}
			in = in[p.Name].(map[string]any)
		}
		in[v.Path[len(v.Path)-1].Name] = asJSON(&v)
	}
	for _, r := range b.Related {
		list := []any{}
		for _, e := range r.Entities {
			list = append(list, asObject(e))
		}
		for _, id := range r.IDs {
			list = append(list, id)
		}
		name, value := r.Nav.Name, any(list)
		if r.Bound {
			name += "@odata.bind"
		}
		switch {
		case r.Delta:
			continue
		case r.Null:
			value = nil
		case !r.Nav.Collection:
			value = list[0]
		}
		out[name] = value
	}
	return out
}

// asJSON is a value as an answer has it.
func asJSON(v *write.Assignment) any {
	typ := v.Type()
	text := string(payload.AppendText(nil, &v.Value, &typ))
	switch k := typ.Kind; {
	case v.Value.Null:
		return nil
	case k == edm.Boolean:
		return v.Value.Int == 1
	case k.Floating() && (math.IsNaN(v.Value.Float) || math.IsInf(v.Value.Float, 0)):
		return text
	case k.Numeric():
		return json.Number(text)
	case k == edm.Binary:
		return base64url(v.Value.Bytes)
	}
	return text
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// The members of the largest object are read in time that grows with its length alone.
func TestManyMembers(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; b.Len() < 1<<20-20; i++ {
		fmt.Fprintf(&b, `"@a%d":0,`, i)
	}
	b.WriteString(`"@z":0}`)
	since := time.Now()
	_, err := payload.BodyReader{}.Entity([]byte(b.String()), &edm.EntityType{Name: "T"})
	if took := time.Since(since); err != nil || took > 2*time.Second {
		t.Errorf("%v, after %v", err, took)
	}
}
