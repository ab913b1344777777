package config

import "time"

// OData is the block odata.
type OData struct {
	Guard      string               `koanf:"guard"`
	Discover   []string             `koanf:"discover"`
	I18n       *string              `koanf:"i18n"`
	Pagination Pagination           `koanf:"pagination"`
	Database   ODataDatabase        `koanf:"database"`
	Limits     Limits               `koanf:"limits"`
	EntitySets map[string]EntitySet `koanf:"entity_set"`
	Singletons map[string]EntitySet `koanf:"singleton"`
	Enums      map[string]Enum      `koanf:"enum"`
}

// Pagination is the block odata.pagination. A nil Max is no ceiling.
type Pagination struct {
	Default int64  `koanf:"default"`
	Max     *int64 `koanf:"max"`
}

// ODataDatabase is the block odata.database; nil means the main database.
type ODataDatabase struct {
	Driver *string `koanf:"driver"`
	DSN    *string `koanf:"dsn"`
	// MaxConnections is that of the main database when nil.
	MaxConnections *int `koanf:"max_connections"`
}

// Limits is the block odata.limits; nil is no limit. Bytes and SlowReader are sizes in bytes.
type Limits struct {
	MaxTop      *int64         `koanf:"max_top"`
	ExpandDepth *int           `koanf:"expand_depth"`
	FilterNodes *int           `koanf:"filter_nodes"`
	Timeout     *time.Duration `koanf:"timeout"`
	ApplySteps  *int           `koanf:"apply_steps"`
	ApplyGroups *int64         `koanf:"apply_groups"`
	Rows        *int64         `koanf:"rows"`
	Bytes       *int64         `koanf:"bytes"`
	SlowReader  *int64         `koanf:"slow_reader"`
	// Concurrent is a quarter of the connections when nil.
	Concurrent *int `koanf:"concurrent"`
}

// EntitySet is a block entity_set or singleton.
type EntitySet struct {
	Table  string   `koanf:"table"`
	Type   *string  `koanf:"type"`
	Guard  *string  `koanf:"guard"`
	Key    []string `koanf:"key"`
	Hide   []string `koanf:"hide"`
	Search []string `koanf:"search"`
	Filter *string  `koanf:"filter"`
	Apply  bool     `koanf:"apply"`
	// Description is the comment of the table when nil.
	Description *string `koanf:"description"`

	Title        *string  `koanf:"title"`
	TitlePlural  *string  `koanf:"title_plural"`
	List         []string `koanf:"list"`
	Fields       []string `koanf:"fields"`
	SearchFields []string `koanf:"search_fields"`
	SemanticKey  []string `koanf:"semantic_key"`

	Properties map[string]Property   `koanf:"property"`
	Complexes  map[string]Complex    `koanf:"complex"`
	Navigation map[string]Navigation `koanf:"navigation"`
}

// Property is a block property; its label is the column.
type Property struct {
	Name      *string `koanf:"name"`
	Type      *string `koanf:"type"`
	Precision *int    `koanf:"precision"`
	Scale     *int    `koanf:"scale"`
	Aggregate *string `koanf:"aggregate"`
	// Description is the comment of the column when nil.
	Description *string `koanf:"description"`
	// Label is derived from the name when nil.
	Label     *string `koanf:"label"`
	Text      *string `koanf:"text"`
	Currency  *string `koanf:"currency"`
	Unit      *string `koanf:"unit"`
	ValueList *string `koanf:"value_list"`
	Hidden    bool    `koanf:"hidden"`
	Format    *string `koanf:"format"`
}

// Complex is a block complex; its label is the type.
type Complex struct {
	Name   string `koanf:"name"`
	Prefix string `koanf:"prefix"`
}

// Navigation is a block navigation.
type Navigation struct {
	To      string            `koanf:"to"`
	Many    bool              `koanf:"many"`
	On      map[string]string `koanf:"on"`
	Via     *string           `koanf:"via"`
	FromKey *string           `koanf:"from_key"`
	ToKey   *string           `koanf:"to_key"`
}

// Enum is a block enum.
type Enum struct {
	Flags   bool              `koanf:"flags"`
	Members map[string]int64  `koanf:"members"`
	Labels  map[string]string `koanf:"labels"`
}
