package config_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

const documentation = "../../docs/configuration.md"

const begin, end = "<!-- made by make generate: the keys -->\n", "<!-- end of what is made -->\n"

// docs/configuration.md holds the table of all keys as the schema has it. With
// UPDATE=1 the file is written anew.
func TestGeneratedReference(t *testing.T) {
	raw, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(raw), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks %q and %q", documentation, begin, end)
	}
	made := "\n" + schema.Reference()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(documentation, []byte(head+begin+made+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, made); diff != "" {
		t.Errorf("the reference is out of date, run make generate:\n%s", diff)
	}
}

// What init writes is a configuration without a finding, and has every key of
// the blocks that stand once.
func TestSampleIsInOrder(t *testing.T) {
	mustLoad(t, config.Sample(), nil)
	comment := regexp.MustCompile(`(?m)^( *)# (\w+ += .*|\w+ "\w+" \{|  \w+ += .*|\})$`)
	all := comment.ReplaceAllString(config.Sample(), "$1$2")
	cfg := mustLoad(t, all, nil)
	if len(cfg.Plugins) != 1 || len(cfg.OData.EntitySets) != 1 {
		t.Error("the examples are not there")
	}
	if cfg.Server.Address != "127.0.0.1:8080" {
		t.Errorf("address = %q", cfg.Server.Address)
	}
	for _, block := range schema.Root().Blocks {
		for _, k := range block.Keys {
			if block.Label == "" && !strings.Contains(all, "  "+k.Name+" ") {
				t.Errorf("%s.%s is missing", block.Name, k.Name)
			}
		}
	}
}

// Every key has a field in Config, and every field a key.
func TestSchemaAndStructsAgree(t *testing.T) {
	var walk func(where string, b schema.Block, typ reflect.Type)
	walk = func(where string, b schema.Block, typ reflect.Type) {
		fields := map[string]reflect.Type{}
		for i := range typ.NumField() {
			if tag := typ.Field(i).Tag.Get("koanf"); tag != "" {
				fields[tag] = typ.Field(i).Type
			}
		}
		for _, k := range b.Keys {
			field, ok := fields[k.Name]
			if !ok {
				t.Errorf("%s.%s has no field in %s", where, k.Name, typ)
			} else if scalar := k.Kind <= schema.Span; scalar && (k.Null || k.Def == "" && !k.Required && k.Name != "guard") && field.Kind() != reflect.Pointer {
				t.Errorf("%s.%s may be null, but its field is no pointer", where, k.Name)
			}
			delete(fields, k.Name)
		}
		for _, inner := range b.Blocks {
			field, ok := fields[inner.Name]
			delete(fields, inner.Name)
			switch {
			case !ok:
				t.Errorf("%s.%s has no field in %s", where, inner.Name, typ)
			case inner.Free:
			case inner.Label != "":
				walk(where+"."+inner.Name, inner, field.Elem())
			default:
				walk(where+"."+inner.Name, inner, field)
			}
		}
		if b.Name == "singleton" {
			delete(fields, "search") // the struct is that of entity_set
			delete(fields, "apply")
		}
		for tag := range fields {
			t.Errorf("%s: the field for %q has no key in the schema", typ, tag)
		}
	}
	walk("", schema.Root(), reflect.TypeFor[config.Config]())
}
