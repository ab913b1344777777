package config

import "time"

// OData is the block odata.
type OData struct {
	Guard      string               `koanf:"guard" default:"settled" oneof:"guards" doc:"who may query; it comes before any name is looked up, and sets may only ask for more"`
	Discover   []string             `koanf:"discover" default:"[]" check:"filled" sample:"[\"products\", \"categories\"]" doc:"tables and views to expose as found; never the credential tables"`
	I18n       *string              `koanf:"i18n" is:"path" check:"filled" sample:"i18n" doc:"directory with i18n.properties, i18n_de.properties and so on, in UTF-8: labels, titles and descriptions are keys of them then, but for those with a blank"`
	Pagination Pagination           `koanf:"pagination" doc:"The size of a page when the client names no $top."`
	Database   ODataDatabase        `koanf:"database" doc:"Another database, or a replica; null means the one above. Connections are its own in any case."`
	Limits     Limits               `koanf:"limits" doc:"What one request may ask for. null is no limit."`
	EntitySets map[string]EntitySet `koanf:"entity_set" label:"name" check:"identifier" doc:"A table or view as an entity set."`
	Singletons map[string]EntitySet `koanf:"singleton" label:"name" check:"identifier" doc:"A table or view with one row as a singleton."`
	Enums      map[string]Enum      `koanf:"enum" label:"name" check:"identifier" doc:"An enumeration for columns of integers."`
}

// Pagination is the block odata.pagination. A nil Max is no ceiling.
type Pagination struct {
	Default int64  `koanf:"default" default:"200" check:"positive" doc:"when the client has no preference"`
	Max     *int64 `koanf:"max" check:"positive" sample:"1000" doc:"ceiling for both; null is no ceiling"`
	Links   string `koanf:"links" default:"skip" oneof:"skip key" doc:"how a next link names the next page. skip: by the number of rows before it, as $skip; rows that come and go meanwhile make others appear twice or not at all. key: by the sort values and the key of the row before it, as $skiptoken; a row whose sort values stay is neither lost nor repeated"`
}

// ODataDatabase is the block odata.database; nil means the main database.
type ODataDatabase struct {
	Driver         *string `koanf:"driver" oneof:"drivers" doc:"as database.driver; null: inferred from the form of dsn"`
	DSN            *string `koanf:"dsn" is:"secret" check:"filled" doc:"as database.dsn. Queries on PostgreSQL run without parallel workers, unless the dsn that they use names max_parallel_workers_per_gather, and are not compiled, unless it names jit"`
	MaxConnections *int    `koanf:"max_connections" check:"connections" sample:"20" doc:"connections of queries at once; null: as database.max_connections"`
}

// Limits is the block odata.limits; nil is no limit. Bytes and SlowReader are sizes in bytes.
type Limits struct {
	MaxTop      *int64         `koanf:"max_top" check:"positive" sample:"10000" doc:"a larger $top is answered with 400"`
	ExpandDepth *int           `koanf:"expand_depth" default:"4" check:"positive" doc:"levels of $expand"`
	FilterNodes *int           `koanf:"filter_nodes" default:"1000" check:"positive" doc:"literals, paths, operators and calls of all expressions, after parameter aliases are put in; a $compute expression counts once, each use of its name as one; each word to search for behind the first counts as 50"`
	Timeout     *time.Duration `koanf:"timeout" default:"30s" check:"positive" doc:"of the database's work for one HTTP request, all parts of a batch together"`
	ApplySteps  *int           `koanf:"apply_steps" default:"20" check:"positive" doc:"transformations of $apply, those inside of others and each grouping of a rollup counted; a second one that ranks all rows counts as ten"`
	ApplyGroups *int64         `koanf:"apply_groups" default:"1000000" check:"positive" doc:"groups that one transformation of $apply makes, of which a row of the answer comes"`
	Rows        *int64         `koanf:"rows" default:"5000000" check:"positive" doc:"in the answer to one HTTP request, expanded ones included; nested pages end at half of it, so that they do not multiply to more"`
	Bytes       *int64         `koanf:"bytes" default:"4GiB" is:"size" check:"positive" doc:"in the answer to one HTTP request, before it is compressed"`
	SlowReader  *int64         `koanf:"slow_reader" default:"4KiB" is:"size" check:"positive" doc:"a second, on average; slower readers lose their connection, but only while their answer holds one of the database"`
	Concurrent  *int           `koanf:"concurrent" check:"positive" sample:"5" doc:"requests of one client in the database at once; null: a quarter of odata.database.max_connections, at least one"`
}

// EntitySet is a block entity_set or singleton.
type EntitySet struct {
	Table        string                `koanf:"table" check:"exposable" doc:"table or view; never users, password_reset_tokens or vestibule_*"`
	Type         *string               `koanf:"type" check:"identifier" sample:"Product" doc:"name of the entity type; null derives it"`
	Guard        *string               `koanf:"guard" oneof:"guards" doc:"null: that of odata, which holds for every set; a set can only ask for more"`
	Key          []string              `koanf:"key" default:"null" check:"filled" sample:"[\"id\"]" doc:"key columns; Null: the primary key; required for a view"`
	Hide         []string              `koanf:"hide" default:"[]" check:"filled" sample:"[\"cost\"]" doc:"columns that do not exist for clients"`
	Filter       *string               `koanf:"filter" check:"filled" sample:"tenant_id eq @user_partner_id" doc:"row policy in $filter syntax; hidden columns allowed; @user_COLUMN is a column of the signed-in user"`
	Description  *string               `koanf:"description" check:"filled" sample:"What is for sale" doc:"what it is, in $metadata; null: the comment of the table. SQLite has none"`
	Title        *string               `koanf:"title" check:"filled" sample:"Product" doc:"what one entity is called; a text, or a key of odata.i18n"`
	TitlePlural  *string               `koanf:"title_plural" check:"filled" sample:"Products" doc:"what several are called, likewise"`
	List         []string              `koanf:"list" default:"[]" check:"filled" sample:"[\"name\", \"category/name\", \"price\"]" doc:"paths of properties, as clients see them, through navigation to one: the columns of a table"`
	Fields       []string              `koanf:"fields" default:"[]" check:"filled" sample:"[\"name\", \"description\"]" doc:"paths of properties, as clients see them, through navigation to one: what a form shows"`
	SearchFields []string              `koanf:"search_fields" default:"[]" check:"filled" sample:"[\"name\", \"category_id\"]" doc:"paths of properties, as clients see them, through navigation to one: what one filters by"`
	SemanticKey  []string              `koanf:"semantic_key" default:"[]" check:"filled" sample:"[\"sku\"]" doc:"properties by which people know an entity"`
	Search       []string              `koanf:"search" in:"entity_set" default:"[]" check:"filled" sample:"[\"name\", \"description\"]" doc:"columns that $search looks into"`
	Apply        bool                  `koanf:"apply" in:"entity_set" default:"true" doc:"false: $apply answers 501"`
	Properties   map[string]Property   `koanf:"property" label:"column" check:"filled" doc:"How one column appears."`
	Complexes    map[string]Complex    `koanf:"complex" label:"type" check:"identifier" doc:"Columns with one prefix as a complex property of the labelled type."`
	Navigation   map[string]Navigation `koanf:"navigation" label:"name" check:"identifier" doc:"A way to another set, where no foreign key says so, or to rename one."`
	Write        Write                 `koanf:"write" in:"entity_set" doc:"What may be written. Without this block nothing of the set can be."`
}

// Write is a block write.
type Write struct {
	Create    bool              `koanf:"create" default:"false" doc:"true: rows can be created"`
	Update    bool              `koanf:"update" default:"false" doc:"true: rows can be changed"`
	Delete    bool              `koanf:"delete" default:"false" doc:"true: rows can be deleted"`
	Filter    *string           `koanf:"filter" check:"filled" sample:"author_id eq @user_id" doc:"rows that may be changed, besides the set's filter, before and after; $filter syntax"`
	Set       map[string]string `koanf:"set" default:"{}" check:"filled" sample:"{ tenant_id = \"@user_partner_id\" }" doc:"columns that the host writes at creation, whatever a client sends: @user_COLUMN, @now, or a text as $value has it"`
	Touch     map[string]string `koanf:"touch" default:"{}" check:"filled" sample:"{ changed_at = \"@now\" }" doc:"columns that the host writes with every change, creation included"`
	Fixed     []string          `koanf:"fixed" default:"[]" check:"filled" sample:"[\"customer_id\"]" doc:"columns that are given at creation and never changed"`
	Version   *string           `koanf:"version" check:"filled" sample:"row_version" doc:"integer column that the host moves with every change; null: the entity tag is of the visible columns"`
	Validator *string           `koanf:"validator" check:"filled" sample:"order-rules" doc:"a plugin with the role validator, which judges each change before it is made: see docs/plugins.md; null: no rules"`
}

// Property is a block property; its label is the column.
type Property struct {
	Name        *string `koanf:"name" check:"identifier" doc:"name of the property"`
	Type        *string `koanf:"type" check:"filled" sample:"Status" doc:"an enum, or an Edm type such as Edm.Decimal"`
	Precision   *int    `koanf:"precision" check:"positive" doc:"of a decimal or a time"`
	Scale       *int    `koanf:"scale" check:"count" doc:"of a decimal"`
	Aggregate   *string `koanf:"aggregate" oneof:"sum min max average countdistinct unit" sample:"sum" doc:"a custom aggregate of $apply: how the property is aggregated where a client names no method; unit: the one value that all rows have, else null"`
	Description *string `koanf:"description" check:"filled" sample:"Before tax" doc:"what it is, in $metadata; null: the comment of the column. SQLite has none"`
	Label       *string `koanf:"label" check:"filled" sample:"Price" doc:"a text, or a key of odata.i18n; null: derived from the name, Released on of released_on"`
	Text        *string `koanf:"text" check:"filled" sample:"category/name" doc:"path of the property whose text stands for the value"`
	Currency    *string `koanf:"currency" check:"filled" sample:"currency_code" doc:"path of the property with the currency of the number, or an ISO 4217 code in quotes: \"'EUR'\""`
	Unit        *string `koanf:"unit" check:"filled" sample:"'kg'" doc:"path of the property with the unit of the number, or the unit in quotes"`
	ValueList   *string `koanf:"value_list" check:"identifier" sample:"Categories" doc:"entity set whose rows are the possible values"`
	Hidden      bool    `koanf:"hidden" default:"false" doc:"true: sent, but of no interest to people; what clients must not see belongs into hide"`
	Format      *string `koanf:"format" oneof:"multiline url image_url upper digits masked year quarter month week year_month currency unit timezone language" sample:"multiline" doc:"what kind of text it is"`
}

// Complex is a block complex; its label is the type.
type Complex struct {
	Name   string `koanf:"name" check:"identifier" doc:"name of the property"`
	Prefix string `koanf:"prefix" check:"filled" doc:"the prefix, such as shipping_"`
}

// Navigation is a block navigation.
type Navigation struct {
	To      string            `koanf:"to" check:"identifier" doc:"entity set that it leads to"`
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
	Labels  map[string]string `koanf:"labels" default:"{}" check:"filled" sample:"{ InStock = \"On the shelf\" }" doc:"what people see for members: texts, or keys of odata.i18n; a member without one: derived from its name, In stock of InStock"`
}
