package config_test

import (
	"os"
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
	made := "\n" + config.Reference()
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
	cfg := mustLoad(t, strings.Replace(all, "  public_url      = null", `  public_url      = "http://localhost:8080"`, 1), nil)
	if len(cfg.Plugins) != 2 || len(cfg.Identities) != 1 || len(cfg.OData.EntitySets) != 1 {
		t.Error("the examples are not there")
	}
	if cfg.Server.Address != "127.0.0.1:8080" {
		t.Errorf("address = %q", cfg.Server.Address)
	}
	for _, block := range config.Keys().Blocks {
		for _, k := range block.Keys {
			if block.Label == "" && !strings.Contains(all, "  "+k.Name+" ") {
				t.Errorf("%s.%s is missing", block.Name, k.Name)
			}
		}
	}
}

// Every key and block can be explained, and a default passes its own check.
func TestEveryKeyIsDocumented(t *testing.T) {
	var walk func(where string, b schema.Block)
	walk = func(where string, b schema.Block) {
		for _, k := range b.Keys {
			switch {
			case k.Doc == "":
				t.Errorf("%s%s has no documentation", where, k.Name)
			case k.Required && k.Def != "":
				t.Errorf("%s%s is required and has a default", where, k.Name)
			case k.Def == "null" && !k.Null:
				t.Errorf("%s%s is null by default and must not be null", where, k.Name)
			}
		}
		for _, inner := range b.Blocks {
			if inner.Doc == "" {
				t.Errorf("%s%s has no documentation", where, inner.Name)
			}
			if (inner.Label == "") != (inner.LabelCheck == nil) {
				t.Errorf("%s%s: a label is checked where there is one", where, inner.Name)
			}
			walk(where+inner.Name+".", inner)
		}
	}
	walk("", config.Keys())
	walk("", config.SourceKeys())
}
