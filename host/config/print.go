package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// hidden stands for a secret wherever one would be shown.
const hidden = "***"

// Redacted is the configuration in effect, all layers merged, as HCL. Secrets,
// and everything that plugins get from the environment or a file, are ***.
func (c *Config) Redacted() (string, error) {
	schema := root()
	out, err := (&hclParser{schema: schema}).Marshal(c.redact(&schema, c.values, nil))
	return string(out), err
}

// redact copies the values without the secrets. schema is nil in free blocks.
func (c *Config) redact(schema *block, values map[string]any, path []string) map[string]any {
	clean := map[string]any{}
	for name, value := range values {
		below := append(path[:len(path):len(path)], name)
		k, isKey := key{}, false
		if schema != nil {
			k, isKey = schema.key(name)
		}
		switch {
		case isKey && k.secret && value != nil:
			clean[name] = hidden
		case isKey && k.kind != table:
			clean[name] = value
		default:
			clean[name] = c.redactInner(schema, name, value, below)
		}
	}
	return clean
}

func (c *Config) redactInner(schema *block, name string, value any, path []string) any {
	switch value := value.(type) {
	case map[string]any:
		if schema == nil {
			return c.redact(nil, value, path)
		}
		inner, ok := schema.block(name)
		if !ok { // a label: the schema stays
			return c.redact(schema, value, path)
		}
		if inner.free {
			return c.redact(nil, value, path)
		}
		if inner.label == "" {
			return c.redact(&inner, value, path)
		}
		labelled := map[string]any{}
		for label, one := range value {
			below := append(path[:len(path):len(path)], label)
			if m, ok := one.(map[string]any); ok {
				labelled[label] = c.redact(&inner, m, below)
			}
		}
		return labelled
	case object:
		return object(c.redact(nil, value, path))
	case []any:
		list := []any{}
		for i, one := range value {
			list = append(list, c.redactInner(nil, "", one, append(path[:len(path):len(path)], fmt.Sprint(i))))
		}
		return list
	case nil:
		return nil
	}
	if c.origins.secret(path...) {
		return hidden
	}
	return value
}

// Marshal writes values as a file that Unmarshal reads.
func (p *hclParser) Marshal(values map[string]any) ([]byte, error) {
	var out bytes.Buffer
	if err := writeBlock(&out, p.schema, values, ""); err != nil {
		return nil, err
	}
	return hclwrite.Format(out.Bytes()), nil
}

func writeBlock(out *bytes.Buffer, b block, values map[string]any, indent string) error {
	if b.free {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if err := writeAttribute(out, name, values[name], indent); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range b.keys {
		if value, ok := values[k.name]; ok {
			if err := writeAttribute(out, k.name, value, indent); err != nil {
				return err
			}
		}
	}
	for _, inner := range b.blocks {
		blocks := map[string]any{"": values[inner.name]}
		if inner.label != "" {
			blocks = sub(values, inner.name)
		}
		for _, label := range slices.Sorted(maps.Keys(blocks)) {
			m, ok := blocks[label].(map[string]any)
			if !ok {
				continue
			}
			title := inner.name
			if inner.label != "" {
				title += " " + quote(label)
			}
			fmt.Fprintf(out, "%s%s {\n", indent, title)
			if err := writeBlock(out, inner, m, indent+"  "); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s}\n", indent)
		}
	}
	return nil
}

func quote(s string) string { return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes()) }

func writeAttribute(out *bytes.Buffer, name string, value any, indent string) error {
	if d, ok := value.(time.Duration); ok {
		value = shortDuration(d)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	t, err := ctyjson.ImpliedType(text)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	v, err := ctyjson.Unmarshal(text, t)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if !hclsyntax.ValidIdentifier(name) {
		name = quote(name) // only a free block's label can be no identifier; as a map it is written with quotes
	}
	fmt.Fprintf(out, "%s%s = %s\n", indent, name, hclwrite.TokensForValue(v).Bytes())
	return nil
}

// shortDuration is the duration as people write it: 1h0m0s is 1h.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
