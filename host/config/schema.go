package config

// A kind is the type of a setting.
type kind int

const (
	text    kind = iota // string
	number              // int64
	flag                // bool
	span                // time.Duration, written as "90s"
	texts               // list of strings
	table               // map of strings by name
	numbers             // map of integers by name
)

func (k kind) String() string {
	return [...]string{"string", "integer", "boolean", "duration", "list of strings", "map of strings", "map of integers"}[k]
}

// A key is one setting: everything that is to be known about it.
type key struct {
	name string
	kind kind
	// def is the default in HCL syntax; empty for none.
	def string
	// null tells that the setting may be null.
	null bool
	// required tells that the setting has no default and must stand in the block.
	required bool
	// secret values are shown as ***.
	secret bool
	// path values are relative to the file that holds them.
	path bool
	// oneOf are the words that are allowed; nil for any.
	oneOf []string
	// check looks at a value, or at each of a list's, and says what is wrong with
	// it and what to write instead; both empty when nothing is.
	check func(value any) (what, remedy string)
	// doc is the line in the documentation; sample a value for it.
	doc, sample string
}

// A block is a group of settings.
type block struct {
	name string
	// label is what the label of a block stands for, such as "name"; empty for
	// blocks that stand once and have no label.
	label string
	// labelCheck looks at the label as key.check does at a value.
	labelCheck func(value any) (what, remedy string)
	// free blocks hold what somebody else checks.
	free   bool
	keys   []key
	blocks []block
	doc    string
	// sample is an example of a labelled block, for `vestibule init`.
	sample string
}

// root is the whole of config.hcl.
func root() block {
	return block{blocks: []block{
		serverBlock(), databaseBlock(), sessionBlock(), authBlock(), mailBlock(),
		routeBlock(), uiBlock(), pluginBlock(), odataBlock(),
	}}
}

func (b block) key(name string) (key, bool) {
	for _, k := range b.keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

func (b block) block(name string) (block, bool) {
	for _, inner := range b.blocks {
		if inner.name == name {
			return inner, true
		}
	}
	return block{}, false
}

// names are the names of all keys and blocks inside b.
func (b block) names() []string {
	var names []string
	for _, k := range b.keys {
		names = append(names, k.name)
	}
	for _, inner := range b.blocks {
		names = append(names, inner.name)
	}
	return names
}

// holder finds the block below b that has a key or block of this name, for the
// hint at a setting that stands in the wrong place.
func (b block) holder(name string) (string, bool) {
	for _, inner := range b.blocks {
		_, isKey := inner.key(name)
		_, isBlock := inner.block(name)
		if isKey || isBlock {
			return inner.name, true
		}
		if path, ok := inner.holder(name); ok {
			return inner.name + "." + path, true
		}
	}
	return "", false
}
