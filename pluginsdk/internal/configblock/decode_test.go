package configblock_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
)

type sample struct {
	Name     string            `config:"name,required" doc:"What to call it."`
	Mode     string            `config:"mode" default:"plain" oneof:"plain loud"`
	Wait     time.Duration     `config:"wait" default:"3s"`
	Count    int               `config:"count" default:"7"`
	Small    int8              `config:"small"`
	Positive uint              `config:"positive"`
	Ratio    float64           `config:"ratio"`
	On       bool              `config:"on" default:"true"`
	Tags     []string          `config:"tags" default:"[\"a\"]"`
	Labels   map[string]string `config:"labels"`
	Free     any               `config:"free"`
	Inner    inner             `config:"inner"`
	Maybe    *inner            `config:"maybe"`
	Rules    []rule            `config:"rules"`
	ByName   map[string]rule   `config:"by_name"`
	HTTPPort int
	Skipped  chan int `config:"-"`
	hidden   string   //nolint:unused // unexported fields are left alone
}

type inner struct {
	Depth int `config:"depth" default:"2"`
}

type rule struct {
	Target string `config:"target,required"`
	Weight int64  `config:"weight"`
}

// Validate refuses what the tags cannot say.
func (r rule) Validate() error {
	if strings.HasPrefix(r.Target, "//") {
		return configblock.Bad("target", "it leaves the host")
	}
	if r.Target == "odd" {
		return errors.New("odd")
	}
	return nil
}

func TestDecode(t *testing.T) {
	var got sample
	err := configblock.Decode([]byte(`{
		"name": "x", "count": 9, "wait": "1m", "small": -128, "positive": 5, "ratio": 2, "on": false, "tags": [],
		"labels": {"a": "b"}, "free": {"n": 9223372036854775807, "l": [1, 2.5, null, "s", true]}, "maybe": {},
		"rules": [{"target": "/", "weight": 9223372036854775807}], "by_name": {"k": {"target": "/k"}}, "http_port": 80,
		"mode": null
	}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := sample{
		Name: "x", Mode: "plain", Wait: time.Minute, Count: 9, Small: -128, Positive: 5, Ratio: 2, Tags: []string{},
		Labels: map[string]string{"a": "b"},
		Free:   map[string]any{"n": int64(math.MaxInt64), "l": []any{int64(1), 2.5, nil, "s", true}},
		Inner:  inner{Depth: 2}, Maybe: &inner{Depth: 2},
		Rules:  []rule{{Target: "/", Weight: math.MaxInt64}},
		ByName: map[string]rule{"k": {Target: "/k"}}, HTTPPort: 80,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	tests := []struct{ name, block, path, message string }{
		{"missing", `{}`, "name", "required: What to call it"},
		{"null is missing", `{"name": null}`, "name", "required"},
		{"empty", `{"name": ""}`, "name", "must not be empty"},
		{"type", `{"name": 1}`, "name", "a text is wanted here, not a number"},
		{"misspelt", `{"name": "x", "cuont": 1}`, "cuont", `did you mean "count"?`},
		{"unknown", `{"name": "x", "zzzzzzzzzzzzzzz": 1}`, "zzzzzzzzzzzzzzz", "known are: name, mode"},
		{"choice", `{"name": "x", "mode": "soft"}`, "mode", `"soft" is none of: plain, loud`},
		{"duration", `{"name": "x", "wait": "3"}`, "wait", "not a duration"},
		{"duration as number", `{"name": "x", "wait": 3}`, "wait", `a duration such as "3s" is wanted here`},
		{"too large", `{"name": "x", "small": 128}`, "small", "not a whole number of 8 bits"},
		{"fraction", `{"name": "x", "count": 1.5}`, "count", "not a whole number"},
		{"negative", `{"name": "x", "positive": -1}`, "positive", "not a positive whole number"},
		{"float range", `{"name": "x", "ratio": 1e400}`, "ratio", "out of range"},
		{"bool", `{"name": "x", "on": "yes"}`, "on", "true or false is wanted here, not a text"},
		{"list", `{"name": "x", "tags": "a"}`, "tags", "a list is wanted here, not a text"},
		{"element", `{"name": "x", "tags": ["a", 2]}`, "tags[1]", "a text is wanted here"},
		{"null element", `{"name": "x", "tags": [null]}`, "tags[0]", "null cannot stand in a list"},
		{"map", `{"name": "x", "labels": []}`, "labels", "a map is wanted here, not a list"},
		{"map value", `{"name": "x", "labels": {"a": true}}`, "labels.a", "a text is wanted here"},
		{"block", `{"name": "x", "inner": "x"}`, "inner", "a block is wanted here, not a text"},
		{"inside a block", `{"name": "x", "inner": {"dept": 1}}`, "inner.dept", `did you mean "depth"?`},
		{"inside a list", `{"name": "x", "rules": [{"target": "/"}, {}]}`, "rules[1].target", "required"},
		{"inside a map", `{"name": "x", "by_name": {"k": {"target": 1}}}`, "by_name.k.target", "a text is wanted here"},
		{"validated", `{"name": "x", "rules": [{"target": "//x"}]}`, "rules[0].target", "it leaves the host"},
		{"validated with a plain error", `{"name": "x", "rules": [{"target": "odd"}]}`, "rules[0]", "odd"},
		{"not an object", `[]`, "", "a block is wanted here, not a list"},
		{"not JSON", `{`, "", "it is not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into sample
			err := configblock.Decode([]byte(tt.block), &into)
			var mistakes *configblock.Error
			if !errors.As(err, &mistakes) || len(mistakes.Problems) != 1 {
				t.Fatalf("got %v, want one mistake", err)
			}
			if p := mistakes.Problems[0]; p.Path != tt.path || !strings.Contains(p.Message, tt.message) {
				t.Errorf("got %+v, want %s: %s", p, tt.path, tt.message)
			}
			if diff := cmp.Diff(sample{}, into, cmp.AllowUnexported(sample{})); diff != "" {
				t.Error("the struct was changed:", diff)
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	err := configblock.Decode([]byte(`{"count": "x", "mode": "y", "rules": [{}, {"target": "//"}], "more": 1}`), &sample{})
	want := `config.name: this key is required: What to call it; config.mode: "y" is none of: plain, loud; ` +
		`config.count: a number is wanted here, not a text; config.rules[0].target: this key is required; ` +
		`config.rules[1].target: it leaves the host; config.more: this key is unknown; did you mean "mode"?`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// One block may stand where several can.
func TestOneBlockForAList(t *testing.T) {
	var got sample
	if err := configblock.Decode([]byte(`{"name": "x", "rules": {"target": "/"}}`), &got); err != nil || len(got.Rules) != 1 {
		t.Errorf("got %+v, %v", got.Rules, err)
	}
}

func TestKeys(t *testing.T) {
	keys, err := configblock.KeysOf(&sample{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, k := range keys {
		got[k.Path] = k.Type
	}
	want := map[string]string{
		"name": "string", "mode": "string", "wait": "duration", "count": "int", "small": "int", "positive": "int",
		"ratio": "float", "on": "bool", "tags": "list", "labels": "map", "free": "any", "inner": "block",
		"inner.depth": "int", "maybe": "block", "maybe.depth": "int", "rules": "list", "rules[].target": "string",
		"rules[].weight": "int", "by_name": "map", "by_name[].target": "string", "by_name[].weight": "int", "http_port": "int",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesOfTheAuthor(t *testing.T) {
	type bad struct{ C chan int }
	if _, err := configblock.KeysOf(&bad{}); err == nil {
		t.Error("a channel was accepted")
	}
	if _, err := configblock.KeysOf(sample{}); err == nil {
		t.Error("a struct that is no pointer was accepted")
	}
	if err := configblock.Decode(nil, sample{}); err == nil {
		t.Error("a struct that is no pointer was filled")
	}
	type wrong struct {
		N int `default:"x"`
	}
	var mistakes *configblock.Error
	if err := configblock.Decode(nil, &wrong{}); err == nil || errors.As(err, &mistakes) {
		t.Errorf("a wrong default is the author's mistake, not the operator's: %v", err)
	}
}

// Errors of other kinds than mistakes in the block do not get lost among them.
func TestProblemsOf(t *testing.T) {
	one, two := configblock.Bad("a", "x"), configblock.Bad("b", "y")
	if n := len(configblock.ProblemsOf(errors.Join(one, errors.Join(two, one)))); n != 3 {
		t.Errorf("%d problems of 3", n)
	}
	if p := configblock.ProblemsOf(errors.Join(one, errors.New("network"))); p != nil {
		t.Errorf("a network error became %v", p)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"x","rules":[{"target":"/"}],"free":[1,{"a":null}]}`))
	f.Add([]byte(`{"name":1e999,"wait":"-1ns","labels":{"":""}}`))
	f.Fuzz(func(t *testing.T, block []byte) {
		var into sample
		err := configblock.Decode(block, &into)
		var mistakes *configblock.Error
		if err != nil && (!errors.As(err, &mistakes) || len(mistakes.Problems) == 0) {
			t.Errorf("an error that is not about the block: %v", err)
		}
		if err == nil && (into.Name == "" || !json.Valid(block)) {
			t.Errorf("accepted %q as %+v", block, into)
		}
	})
}
