package schema

import (
	"maps"
	"reflect"
	"slices"
)

// Walk calls visit for b and for each block inside values, with the values of that block
// and its path, labels included. It makes the unlabelled blocks that are missing.
func (b Block) Walk(values map[string]any, path []string, visit func(b Block, values map[string]any, path []string)) {
	visit(b, values, path)
	for _, inner := range b.Blocks {
		held, below := Child(values, inner.Name), append(path[:len(path):len(path)], inner.Name)
		if inner.Label == "" {
			inner.Walk(held, below, visit)
			continue
		}
		for label := range held {
			inner.Walk(Child(held, label), append(below[:len(below):len(below)], label), visit)
		}
	}
}

// Reload returns running with the Live settings of next. Neither is changed.
func (b Block) Reload(running, next map[string]any) map[string]any {
	out := maps.Clone(running)
	for _, k := range b.Keys {
		if k.Live {
			out[k.Name] = next[k.Name]
		}
	}
	for _, inner := range b.Blocks {
		if inner.Live {
			out[inner.Name] = next[inner.Name]
		} else if inner.Label == "" {
			out[inner.Name] = inner.Reload(Sub(running, inner.Name), Sub(next, inner.Name))
		}
	}
	return out
}

// Changed calls report for the path of each setting that differs between old and next,
// in the order of the schema. A labelled block that only one of them has is one setting.
func (b Block) Changed(old, next map[string]any, report func(path ...string)) {
	for _, k := range b.Keys {
		if !reflect.DeepEqual(old[k.Name], next[k.Name]) {
			report(k.Name)
		}
	}
	if b.Free && !reflect.DeepEqual(old, next) {
		report()
	}
	for _, inner := range b.Blocks {
		was, is := Sub(old, inner.Name), Sub(next, inner.Name)
		below := func(path ...string) { report(append([]string{inner.Name}, path...)...) }
		if inner.Label == "" {
			inner.Changed(was, is, below)
			continue
		}
		labels := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
		slices.Sort(labels)
		for _, label := range slices.Compact(labels) {
			if (was[label] == nil) != (is[label] == nil) {
				below(label)
				continue
			}
			inner.Changed(Sub(was, label), Sub(is, label), func(path ...string) { below(append([]string{label}, path...)...) })
		}
	}
}

// Fixed returns the paths of all keys that need a restart and stand in no labelled block.
func (b Block) Fixed() (list [][]string) {
	b.Walk(map[string]any{}, nil, func(b Block, _ map[string]any, path []string) {
		for _, k := range b.Keys {
			if !k.Live && !b.Live {
				list = append(list, append(path[:len(path):len(path)], k.Name))
			}
		}
	})
	return list
}

// Sub is the block or label inside values; nil when there is none.
func Sub(values map[string]any, name string) map[string]any {
	inner, _ := values[name].(map[string]any)
	return inner
}

// Child is Sub, and makes the block that is missing.
func Child(values map[string]any, name string) map[string]any {
	inner := Sub(values, name)
	if inner == nil {
		inner = map[string]any{}
		values[name] = inner
	}
	return inner
}

// Merge lays the values of a higher layer over lower, block by block. Any other value replaces
// the one below it.
func Merge(lower, higher map[string]any) {
	for name, value := range higher {
		if block, ok := value.(map[string]any); ok && Sub(lower, name) != nil {
			Merge(Sub(lower, name), block)
			continue
		}
		lower[name] = value
	}
}
