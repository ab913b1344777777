package schema

import (
	"maps"
	"reflect"
	"slices"
)

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
			out[inner.Name] = inner.Reload(sub(running, inner.Name), sub(next, inner.Name))
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
		below := func(path ...string) { report(append([]string{inner.Name}, path...)...) }
		if inner.Label == "" {
			inner.Changed(sub(old, inner.Name), sub(next, inner.Name), below)
			continue
		}
		inner.changedLabels(sub(old, inner.Name), sub(next, inner.Name), below)
	}
}

func (b Block) changedLabels(old, next map[string]any, report func(path ...string)) {
	both := maps.Clone(old)
	if both == nil {
		both = map[string]any{}
	}
	maps.Copy(both, next)
	for _, label := range slices.Sorted(maps.Keys(both)) {
		_, was := old[label]
		_, is := next[label]
		if was != is {
			report(label)
			continue
		}
		b.Changed(sub(old, label), sub(next, label), func(path ...string) { report(append([]string{label}, path...)...) })
	}
}

// Fixed returns the paths of all keys that need a restart and stand in no labelled block.
func (b Block) Fixed() [][]string {
	var list [][]string
	for _, k := range b.Keys {
		if !k.Live {
			list = append(list, []string{k.Name})
		}
	}
	for _, inner := range b.Blocks {
		if inner.Live || inner.Label != "" {
			continue
		}
		for _, path := range inner.Fixed() {
			list = append(list, append([]string{inner.Name}, path...))
		}
	}
	return list
}

func sub(values map[string]any, name string) map[string]any {
	inner, _ := values[name].(map[string]any)
	return inner
}
