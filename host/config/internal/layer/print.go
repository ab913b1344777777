package layer

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

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// hidden stands for a secret wherever one would be shown.
const hidden = "***"

// Redacted is the values as HCL, with *** in place of secrets and of everything
// that plugins get from the environment or a file.
func Redacted(root schema.Block, values map[string]any, from Origins) (string, error) {
	clean := redactor{from}.block(&root, values, nil)
	out, err := (&Parser{Schema: root}).Marshal(clean)
	return string(out), err
}

type redactor struct{ from Origins }

// block copies the values without the secrets. b is nil in free blocks.
func (r redactor) block(b *schema.Block, values map[string]any, path []string) map[string]any {
	clean := map[string]any{}
	for name, value := range values {
		below := append(path[:len(path):len(path)], name)
		k, isKey := schema.Key{}, false
		if b != nil {
			k, isKey = b.Key(name)
		}
		switch {
		case isKey && k.Secret && value != nil:
			clean[name] = hidden
		case isKey && k.Kind != schema.Table:
			clean[name] = value
		default:
			clean[name] = r.inner(b, name, value, below)
		}
	}
	return clean
}

func (r redactor) inner(b *schema.Block, name string, value any, path []string) any {
	switch value := value.(type) {
	case map[string]any:
		if b == nil {
			return r.block(nil, value, path)
		}
		inner, ok := b.Block(name)
		if !ok { // a label: the schema stays
			return r.block(b, value, path)
		}
		if inner.Free {
			return r.block(nil, value, path)
		}
		if inner.Label == "" {
			return r.block(&inner, value, path)
		}
		labelled := map[string]any{}
		for label, one := range value {
			below := append(path[:len(path):len(path)], label)
			if m, ok := one.(map[string]any); ok {
				labelled[label] = r.block(&inner, m, below)
			}
		}
		return labelled
	case schema.Object:
		return schema.Object(r.block(nil, value, path))
	case []any:
		list := []any{}
		for i, one := range value {
			list = append(list, r.inner(nil, "", one, append(path[:len(path):len(path)], fmt.Sprint(i))))
		}
		return list
	case nil:
		return nil
	}
	if r.from.Secret(path...) {
		return hidden
	}
	return value
}

// Marshal writes values as a file that Unmarshal reads.
func (p *Parser) Marshal(values map[string]any) ([]byte, error) {
	var out bytes.Buffer
	if err := writeBlock(&out, p.Schema, values, ""); err != nil {
		return nil, err
	}
	return hclwrite.Format(out.Bytes()), nil
}

func writeBlock(out *bytes.Buffer, b schema.Block, values map[string]any, indent string) error {
	if b.Free {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if err := writeAttribute(out, name, values[name], indent); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range b.Keys {
		if value, ok := values[k.Name]; ok {
			if err := writeAttribute(out, k.Name, value, indent); err != nil {
				return err
			}
		}
	}
	for _, inner := range b.Blocks {
		blocks := map[string]any{"": values[inner.Name]}
		if inner.Label != "" {
			blocks = Sub(values, inner.Name)
		}
		for _, label := range slices.Sorted(maps.Keys(blocks)) {
			m, ok := blocks[label].(map[string]any)
			if !ok {
				continue
			}
			title := inner.Name
			if inner.Label != "" {
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
	switch v := value.(type) {
	case time.Duration:
		value = shortDuration(v)
	case schema.Bytes:
		value = v.String()
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
