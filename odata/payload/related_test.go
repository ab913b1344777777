package payload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/payload"
)

// tree shows what a body has for navigation properties: the ids of entities, and addresses.
func tree(b *payload.Body) string {
	out := b.Path + shown(b.Values)["id"]
	if b.ID != "" {
		out += "@" + b.ID
	}
	for _, r := range b.Related {
		out += fmt.Sprintf(" %s(", r.Path)
		switch {
		case r.Delta:
			out += "delta"
		case r.Null:
			out += "null"
		case r.Bound:
			out += strings.Join(r.IDs, ",")
		}
		for i, e := range r.Entities {
			if i > 0 {
				out += ", "
			}
			out += tree(e)
		}
		out += ")"
	}
	return out
}

func TestRelatedInBodies(t *testing.T) {
	t.Parallel()
	r := payload.BodyReader{Namespace: "N"}
	for body, want := range map[string]string{
		`{"id":1,"maker":{"id":2,"maker":null},"children":[{"id":3},{"id":4,"children":[{"id":5}]}]}`: "1 maker(maker/2 maker/maker(null)) children(children/0/3, children/1/4 children/1/children(children/1/children/0/5))",
		`{"maker@odata.bind":"Parts(1)","children@bind":["a","b"]}`:                                   " maker(Parts(1)) children(a,b)",
		`{"maker@odata.bind":null,"children@odata.bind":[]}`:                                          " maker(null) children()",
		`{"maker":{"@id":"Parts(1)"},"children":[{"@odata.id":"x"},{"@odata.id":null,"id":1}]}`:       " maker(maker/@Parts(1)) children(children/0/@x, children/1/1)",
		`{"children":[],"children@odata.bind":["a"],"children@odata.count":0}`:                        " children() children(a)",
		`{"children@delta":[{"any":1}]}`:                                                              " children(delta)",
		`{"maker":{"@odata.type":"#N.Part","@odata.etag":"x","name":"n"}}`:                            " maker(maker/)",
	} {
		got, err := r.Entity([]byte(body), bodyType())
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if diff := cmp.Diff(want, tree(got)); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestFaultsOfRelated(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"maker":`, 40) + "null" + strings.Repeat("}", 40)
	many := `{"children":[` + strings.Repeat("{},", payload.MaxEntities) + `{}]}`
	for _, tt := range []struct {
		body, path string
		tooMany    bool
	}{
		{`{"maker":[{}]}`, "maker", false},
		{`{"maker":5}`, "", false},
		{`{"maker":nul}`, "", false},
		{`{"children":{}}`, "children", false},
		{`{"children":null}`, "children", false},
		{`{"children":[{},]}`, "", false},
		{`{"children":[{}`, "", false},
		{`{"children":[null]}`, "", false},
		{`{"children":[{"id":"x"}]}`, "children/0/id", false},
		{`{"children":[{},{"home":{"no":"x"}}]}`, "children/1/home/no", false},
		{`{"children":[{},{"nope":1}]}`, "children/1/nope", false},
		{`{"maker@odata.bind":["a"]}`, "maker", false},
		{`{"maker@odata.bind":5}`, "maker", false},
		{`{"children@odata.bind":"a"}`, "children", false},
		{`{"children@odata.bind":["a",null]}`, "children", false},
		{`{"maker":{"@odata.id":{}}}`, "", false},
		{deep, "", false},
		{many, "", true},
		{`{"children@bind":[` + strings.Repeat(`"a",`, payload.MaxEntities) + `"a"]}`, "", true},
	} {
		_, err := payload.BodyReader{}.Entity([]byte(tt.body), bodyType())
		bad, ok := errors.AsType[*payload.BodyError](err)
		if !ok || bad.Path != tt.path || bad.TooMany != tt.tooMany || bad.Pos < 0 {
			t.Errorf("%.60s: %+v", tt.body, err)
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"@odata.id":"Parts(1)"}`: "Parts(1)", `{"@id":"x"}`: "x", ` {"@odata.context":"c","@odata.id":"x","@a.b":[{}]} `: "x",
		`{}`: "", `{"@odata.id":""}`: "", `{"@odata.id":5}`: "", `{"id":1,"@odata.id":"x"}`: "", `[]`: "", `{"@odata.id":"x"}x`: "", "{\"@odata.id\":\"\xff\"}": "",
	} {
		got, err := payload.BodyReader{}.Reference([]byte(body))
		if got != want && err == nil || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}
