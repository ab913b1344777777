package config

import "time"

// OData is the block odata.
type OData struct {
	Guard      string               `koanf:"guard" default:"settled" oneof:"guards" doc:"who may query; a set may only ask for more"`
	Discover   []string             `koanf:"discover" default:"[]" check:"filled" sample:"[\"products\", \"categories\"]" doc:"tables and views to expose as found"`
	I18n       *string              `koanf:"i18n" is:"path" check:"filled" sample:"i18n" doc:"directory with i18n.properties, i18n_de.properties and so on, in UTF-8. Labels, titles and descriptions without a blank are its keys"`
	Pagination Pagination           `koanf:"pagination" doc:"Pages."`
	Database   ODataDatabase        `koanf:"database" doc:"Another database or a replica; null: the database above."`
	Limits     Limits               `koanf:"limits" doc:"Bounds of one request. null: no limit."`
	EntitySets map[string]EntitySet `koanf:"entity_set" label:"name" check:"identifier" doc:"A table or view as an entity set."`
	Singletons map[string]EntitySet `koanf:"singleton" label:"name" check:"identifier" doc:"A table or view with one row as a singleton."`
	Enums      map[string]Enum      `koanf:"enum" label:"name" check:"identifier" doc:"An enumeration for columns of integers."`
}

// Pagination is the block odata.pagination. A nil Max is no ceiling.
type Pagination struct {
	Default int64  `koanf:"default" default:"200" check:"positive" doc:"rows of a page without $top or maxpagesize"`
	Max     *int64 `koanf:"max" check:"positive" sample:"1000" doc:"most rows of a page; null: no limit"`
	Links   string `koanf:"links" default:"skip" oneof:"skip key" doc:"what a next link holds. skip: the number of rows before, so that concurrent changes may repeat or lose rows. key: the sort values and key of the last row, which avoids that"`
}

// ODataDatabase is the block odata.database; nil means the main database.
type ODataDatabase struct {
	Driver         *string `koanf:"driver" oneof:"drivers" doc:"as database.driver; null: inferred from dsn"`
	DSN            *string `koanf:"dsn" is:"secret" check:"filled" doc:"as database.dsn"`
	MaxConnections *int    `koanf:"max_connections" check:"connections" sample:"20" doc:"connections of queries; null: as database.max_connections"`
}

// Limits is the block odata.limits; nil is no limit. Bytes and SlowReader are sizes in bytes.
type Limits struct {
	MaxTop      *int64         `koanf:"max_top" check:"positive" sample:"10000" doc:"largest $top"`
	ExpandDepth *int           `koanf:"expand_depth" default:"4" check:"positive" doc:"levels of $expand"`
	FilterNodes *int           `koanf:"filter_nodes" default:"1000" check:"positive" doc:"literals, paths, operators and calls of all expressions; each further word of $search counts as 50"`
	Timeout     *time.Duration `koanf:"timeout" default:"30s" check:"positive" doc:"database time of one HTTP request, all parts of a batch together"`
	ApplySteps  *int           `koanf:"apply_steps" default:"20" check:"positive" doc:"transformations of $apply, nested ones and groupings of a rollup included"`
	ApplyGroups *int64         `koanf:"apply_groups" default:"1000000" check:"positive" doc:"groups of one transformation of $apply"`
	Rows        *int64         `koanf:"rows" default:"5000000" check:"positive" doc:"rows of one answer, expanded ones included; nested pages end at half of it"`
	Bytes       *int64         `koanf:"bytes" default:"4GiB" is:"size" check:"positive" doc:"bytes of one answer, before compression"`
	SlowReader  *int64         `koanf:"slow_reader" default:"4KiB" is:"size" check:"positive" doc:"bytes a second that a client must read, on average, while its answer holds a database connection"`
	Concurrent  *int           `koanf:"concurrent" check:"positive" sample:"5" doc:"queries of one client at once; null: a quarter of odata.database.max_connections"`
}

// EntitySet is a block entity_set or singleton.
type EntitySet struct {
	Table        string                `koanf:"table" check:"exposable" doc:"table or view; never users, password_reset_tokens or vestibule_*"`
	Type         *string               `koanf:"type" check:"identifier" sample:"Product" doc:"name of the entity type; null derives it"`
	Guard        *string               `koanf:"guard" oneof:"guards" doc:"null: as odata.guard; may only ask for more"`
	Key          []string              `koanf:"key" default:"null" check:"filled" sample:"[\"id\"]" doc:"key columns; null: the primary key; required for a view"`
	Hide         []string              `koanf:"hide" default:"[]" check:"filled" sample:"[\"cost\"]" doc:"columns that do not exist for clients"`
	Filter       *string               `koanf:"filter" check:"filled" sample:"tenant_id eq @user_partner_id" doc:"row policy in $filter syntax, hidden columns allowed; @user_COLUMN is a column of the signed-in user"`
	Description  *string               `koanf:"description" check:"filled" sample:"What is for sale" doc:"description in $metadata; null: the comment of the table"`
	Title        *string               `koanf:"title" check:"filled" sample:"Product" doc:"what one entity is called, as text or key of odata.i18n"`
	TitlePlural  *string               `koanf:"title_plural" check:"filled" sample:"Products" doc:"what several are called, likewise"`
	List         []string              `koanf:"list" default:"[]" check:"filled" sample:"[\"name\", \"category/name\", \"price\"]" doc:"columns of a table: properties, or paths to them"`
	Fields       []string              `koanf:"fields" default:"[]" check:"filled" sample:"[\"name\", \"description\"]" doc:"fields of a form, likewise"`
	SearchFields []string              `koanf:"search_fields" default:"[]" check:"filled" sample:"[\"name\", \"category_id\"]" doc:"filters, likewise"`
	SemanticKey  []string              `koanf:"semantic_key" default:"[]" check:"filled" sample:"[\"sku\"]" doc:"properties by which people recognise an entity"`
	Search       []string              `koanf:"search" in:"entity_set" default:"[]" check:"filled" sample:"[\"name\", \"description\"]" doc:"columns that $search looks into"`
	Apply        bool                  `koanf:"apply" in:"entity_set" default:"true" doc:"false: $apply answers 501"`
	Properties   map[string]Property   `koanf:"property" label:"column" check:"filled" doc:"How one column appears."`
	Complexes    map[string]Complex    `koanf:"complex" label:"type" check:"identifier" doc:"Columns with one prefix as a complex property of the labelled type."`
	Navigation   map[string]Navigation `koanf:"navigation" label:"name" check:"identifier" doc:"A link to another set, without a foreign key or under another name."`
	Write        Write                 `koanf:"write" in:"entity_set" doc:"What clients may write; without this block nothing."`
}

// Write is a block write.
type Write struct {
	Create    bool              `koanf:"create" default:"false" doc:"clients may create rows"`
	Update    bool              `koanf:"update" default:"false" doc:"clients may change rows"`
	Delete    bool              `koanf:"delete" default:"false" doc:"clients may delete rows"`
	Filter    *string           `koanf:"filter" check:"filled" sample:"author_id eq @user_id" doc:"rows that may be changed, before and after, besides the set's filter"`
	Set       map[string]string `koanf:"set" default:"{}" check:"filled" sample:"{ tenant_id = \"@user_partner_id\" }" doc:"columns that the host writes at creation: @user_COLUMN, @now, or a text"`
	Touch     map[string]string `koanf:"touch" default:"{}" check:"filled" sample:"{ changed_at = \"@now\" }" doc:"columns that the host writes with every change and creation"`
	Fixed     []string          `koanf:"fixed" default:"[]" check:"filled" sample:"[\"customer_id\"]" doc:"columns that never change after creation"`
	Version   *string           `koanf:"version" check:"filled" sample:"row_version" doc:"integer column that the host increments with every change; null: the entity tag is of the visible columns"`
	Validator *string           `koanf:"validator" check:"filled" sample:"order-rules" doc:"plugin with the role validator that judges each change; null: none"`
}

// Property is a block property; its label is the column.
type Property struct {
	Name        *string `koanf:"name" check:"identifier" doc:"name of the property"`
	Type        *string `koanf:"type" check:"filled" sample:"Status" doc:"an enum, or an Edm type such as Edm.Decimal"`
	Precision   *int    `koanf:"precision" check:"positive" doc:"of a decimal or a time"`
	Scale       *int    `koanf:"scale" check:"count" doc:"of a decimal"`
	Aggregate   *string `koanf:"aggregate" oneof:"sum min max average countdistinct unit" sample:"sum" doc:"default method of $apply; unit: the value that all rows have, else null"`
	Description *string `koanf:"description" check:"filled" sample:"Before tax" doc:"description in $metadata; null: the comment of the column"`
	Label       *string `koanf:"label" check:"filled" sample:"Price" doc:"text or key of odata.i18n; null: from the name, Released on of released_on"`
	Text        *string `koanf:"text" check:"filled" sample:"category/name" doc:"property whose text people see instead, as path"`
	Currency    *string `koanf:"currency" check:"filled" sample:"currency_code" doc:"property with the currency, or a code in quotes: \"'EUR'\""`
	Unit        *string `koanf:"unit" check:"filled" sample:"'kg'" doc:"property with the unit, or the unit in quotes"`
	ValueList   *string `koanf:"value_list" check:"identifier" sample:"Categories" doc:"entity set with the possible values"`
	Hidden      bool    `koanf:"hidden" default:"false" doc:"true: sent, but not shown; use hide for what clients must not see"`
	Format      *string `koanf:"format" oneof:"multiline url image_url upper digits masked year quarter month week year_month currency unit timezone language" sample:"multiline" doc:"what kind of text it is"`
}

// Complex is a block complex; its label is the type.
type Complex struct {
	Name   string `koanf:"name" check:"identifier" doc:"name of the property"`
	Prefix string `koanf:"prefix" check:"filled" doc:"the prefix, such as shipping_"`
}

// Navigation is a block navigation.
type Navigation struct {
	To      string            `koanf:"to" check:"identifier" doc:"the other entity set"`
	Many    bool              `koanf:"many" default:"false" doc:"true: to a collection"`
	On      map[string]string `koanf:"on" default:"null" check:"filled" sample:"{ category_id = \"id\" }" doc:"own columns = the other's"`
	Via     *string           `koanf:"via" check:"filled" doc:"table between the two"`
	FromKey *string           `koanf:"from_key" check:"filled" doc:"its column that holds the own key"`
	ToKey   *string           `koanf:"to_key" check:"filled" doc:"its column that holds the other's key"`
}

// Enum is a block enum.
type Enum struct {
	Flags   bool              `koanf:"flags" default:"false" doc:"true: a value may hold several members"`
	Members map[string]int64  `koanf:"members" doc:"values by name"`
	Labels  map[string]string `koanf:"labels" default:"{}" check:"filled" sample:"{ InStock = \"On the shelf\" }" doc:"what people see: texts or keys of odata.i18n; default: from the name, In stock of InStock"`
}
