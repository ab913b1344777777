package layer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
func Redacted(root schema.Block, values map[string]any, from *Origins) (string, error) {
	out, err := write(root, values, from)
	return string(out), err
}

// Marshal writes values as a file that Unmarshal reads.
func (p *Parser) Marshal(values map[string]any) ([]byte, error) { return write(p.Schema, values, nil) }

// A writer writes values as HCL. It hides secrets by from, and none without it.
type writer struct {
	out  bytes.Buffer
	from *Origins
}

func write(root schema.Block, values map[string]any, from *Origins) ([]byte, error) {
	w := &writer{from: from}
	err := w.block(root, values, nil)
	return hclwrite.Format(w.out.Bytes()), err
}

func (w *writer) block(b schema.Block, values map[string]any, path []string) error {
	below := func(more ...string) []string { return append(path[:len(path):len(path)], more...) }
	var errs []error
	if b.Free {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			errs = append(errs, w.attribute(name, w.shown(values[name], below(name))))
		}
	}
	for _, k := range b.Keys {
		value, ok := values[k.Name]
		if k.Secret && value != nil && w.from != nil {
			value = hidden
		} else if k.Kind == schema.Table {
			value = w.shown(value, below(k.Name))
		}
		if ok {
			errs = append(errs, w.attribute(k.Name, value))
		}
	}
	for _, inner := range b.Blocks {
		if inner.Label == "" {
			errs = append(errs, w.titled(inner.Name, inner, values[inner.Name], below(inner.Name)))
			continue
		}
		held := schema.Sub(values, inner.Name)
		for _, label := range slices.Sorted(maps.Keys(held)) {
			errs = append(errs, w.titled(inner.Name+" "+quote(label), inner, held[label], below(inner.Name, label)))
		}
	}
	return errors.Join(errs...)
}

func (w *writer) titled(title string, b schema.Block, values any, path []string) error {
	inside, ok := values.(map[string]any)
	if !ok {
		return nil
	}
	fmt.Fprintf(&w.out, "%s {\n", title)
	err := w.block(b, inside, path)
	w.out.WriteString("}\n")
	return err
}

// shown is a value without what in it is to be hidden.
func (w *writer) shown(value any, path []string) any {
	below := func(name string) []string { return append(path[:len(path):len(path)], name) }
	switch value := value.(type) {
	case schema.Object:
		return w.shown(map[string]any(value), path)
	case map[string]any:
		clean := map[string]any{}
		for name, one := range value {
			clean[name] = w.shown(one, below(name))
		}
		return clean
	case []any:
		clean := make([]any, len(value))
		for i, one := range value {
			clean[i] = w.shown(one, below(strconv.Itoa(i)))
		}
		return clean
	case nil:
		return nil
	}
	if w.from.Secret(path...) {
		return hidden
	}
	return value
}

func quote(s string) string { return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes()) }

func (w *writer) attribute(name string, value any) error {
	switch v := value.(type) {
	case time.Duration:
		value = shortDuration(v)
	case schema.Bytes:
		value = v.String()
	}
	text, err := json.Marshal(value)
	var v ctyjson.SimpleJSONValue
	if err == nil {
		err = v.UnmarshalJSON(text)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if !hclsyntax.ValidIdentifier(name) {
		name = quote(name) // only a free block's label can be no identifier; as a map it is written with quotes
	}
	fmt.Fprintf(&w.out, "%s = %s\n", name, hclwrite.TokensForValue(v.Value).Bytes())
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
