package schema

import "github.com/vestibule-dev/vestibule/v2/internal/words"

// A Kind is the type of a setting.
type Kind int

// The kinds, and what a value of each is in Go.
const (
	Text    Kind = iota // string
	Number              // int64
	Flag                // bool
	Span                // time.Duration, written as "90s"
	Size                // Bytes, written as "4GiB"
	Texts               // []any of strings
	Table               // Object of strings
	Numbers             // Object of int64
)

// String names the kind as the documentation does.
func (k Kind) String() string {
	return [...]string{"string", "integer", "boolean", "duration", "size", "list of strings", "map of strings", "map of integers"}[k]
}

// A Key is one setting: everything that is to be known about it.
type Key struct {
	Name string
	Kind Kind
	// Def is the default in HCL syntax; empty for none.
	Def string
	// Null tells that the setting may be null.
	Null bool
	// Required tells that the setting has no default and must stand in the block.
	Required bool
	// Secret values are shown as ***.
	Secret bool
	// Path values are relative to the file that holds them.
	Path bool
	// Live values change while the host serves, at a reload. So do all in a Live block.
	Live bool
	// OneOf are the words that are allowed; nil for any.
	OneOf []string
	// Check looks at a value, or at each of a list's.
	Check Check
	// Doc is the line in the documentation; Sample a value for it.
	Doc, Sample string
}

// A Block is a group of settings.
type Block struct {
	Name string
	// Label is what the label of a block stands for, such as "name"; empty for
	// blocks that stand once and have no label.
	Label string
	// LabelCheck looks at the label.
	LabelCheck Check
	// Free blocks have no schema here: a plugin checks its own.
	Free bool
	// Live blocks change while the host serves, at a reload.
	Live   bool
	Keys   []Key
	Blocks []Block
	Doc    string
	// Sample is an example of a labelled block, for `vestibule init`.
	Sample string
}

// Key finds a key of the block.
func (b Block) Key(name string) (Key, bool) {
	for _, k := range b.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Block finds a block inside the block.
func (b Block) Block(name string) (Block, bool) {
	for _, inner := range b.Blocks {
		if inner.Name == name {
			return inner, true
		}
	}
	return Block{}, false
}

// Names are the names of all keys and blocks inside b.
func (b Block) Names() []string {
	var names []string
	for _, k := range b.Keys {
		names = append(names, k.Name)
	}
	for _, inner := range b.Blocks {
		names = append(names, inner.Name)
	}
	return names
}

// Opening is how the block begins in a file.
func (b Block) Opening() string {
	if b.Label == "" {
		return b.Name
	}
	return b.Name + ` "` + b.Label + `"`
}

// Remedy helps with a name that is not known in b: a slip of the pen, or a
// setting that belongs elsewhere below root.
func (b Block) Remedy(root Block, name string) string {
	if near := words.Nearest(name, b.Names()); near != "" {
		return didYouMean(near)
	}
	if holder, ok := b.holder(name); ok {
		return "it belongs into the block " + holder
	}
	if _, ok := root.Block(name); ok {
		return "it belongs to the top level of the file"
	}
	if holder, ok := root.holder(name); ok {
		return "it belongs into the block " + holder
	}
	if inside := within(name, b.Names()); inside != "" {
		return didYouMean(inside)
	}
	return "take it out; what can stand here: " + list(b.Names())
}

// holder finds the block below b that has a key or block of this name.
func (b Block) holder(name string) (string, bool) {
	for _, inner := range b.Blocks {
		_, isKey := inner.Key(name)
		_, isBlock := inner.Block(name)
		if isKey || isBlock {
			return inner.Name, true
		}
		if path, ok := inner.holder(name); ok {
			return inner.Name + "." + path, true
		}
	}
	return "", false
}
