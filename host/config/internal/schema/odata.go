package schema

func odataBlock() Block {
	return Block{
		Name: "odata", Doc: "The query endpoint under /odata/.",
		Keys: []Key{
			{Name: "guard", Def: `"settled"`, OneOf: guards(), Doc: "who may query; it comes before any name is looked up, and sets may only ask for more"},
			{Name: "discover", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["products", "categories"]`, Doc: "tables and views to expose as found; never the credential tables"},
			{
				Name: "i18n", Null: true, Def: "null", Path: true, Check: checkFilled, Sample: `"i18n"`,
				Doc: "directory with i18n.properties, i18n_de.properties and so on, in UTF-8: labels, titles and descriptions are keys of them then, but for those with a blank",
			},
		},
		Blocks: []Block{
			{
				Name: "pagination", Doc: "The size of a page when the client names no $top.",
				Keys: []Key{
					{Name: "default", Kind: Number, Def: "200", Check: checkPositive, Doc: "when the client has no preference"},
					{Name: "max", Kind: Number, Null: true, Def: "null", Check: checkPositive, Sample: "1000", Doc: "ceiling for both; null is no ceiling"},
				},
			},
			{
				Name: "database", Doc: "Another database, or a replica; null means the one above. Connections are its own in any case.",
				Keys: []Key{
					{Name: "driver", Null: true, Def: "null", OneOf: Drivers(), Doc: "as database.driver"},
					{Name: "dsn", Null: true, Secret: true, Def: "null", Check: checkFilled, Doc: "as database.dsn. Queries on PostgreSQL run without parallel workers, unless the dsn that they use names max_parallel_workers_per_gather"},
					{Name: "max_connections", Kind: Number, Null: true, Def: "null", Check: checkPositive, Sample: "20", Doc: "connections of queries at once; null: as database.max_connections"},
				},
			},
			{
				Name: "limits", Doc: "What one request may ask for. null is no limit.",
				Keys: []Key{
					{Name: "max_top", Kind: Number, Null: true, Def: "null", Check: checkPositive, Sample: "10000", Doc: "a larger $top is answered with 400"},
					{Name: "expand_depth", Kind: Number, Null: true, Def: "4", Check: checkPositive, Doc: "levels of $expand"},
					{Name: "filter_nodes", Kind: Number, Null: true, Def: "1000", Check: checkPositive, Doc: "literals, paths, operators and calls of all expressions, after parameter aliases are put in; a $compute expression counts once, each use of its name as one"},
					{Name: "timeout", Kind: Span, Null: true, Def: `"30s"`, Check: checkPositive, Doc: "of the database's work for one HTTP request, all parts of a batch together"},
					{Name: "apply_steps", Kind: Number, Null: true, Def: "20", Check: checkPositive, Doc: "transformations of $apply, those inside of others and each grouping of a rollup counted"},
					{Name: "apply_groups", Kind: Number, Null: true, Def: "1000000", Check: checkPositive, Doc: "groups that one transformation of $apply makes, of which a row of the answer comes"},
					{Name: "rows", Kind: Number, Null: true, Def: "5000000", Check: checkPositive, Doc: "in the answer to one HTTP request, expanded ones included; nested pages shrink so that they cannot multiply to more"},
					{Name: "bytes", Kind: Size, Null: true, Def: `"4GiB"`, Check: checkPositive, Doc: "in the answer to one HTTP request, before it is compressed"},
					{Name: "slow_reader", Kind: Size, Null: true, Def: `"4KiB"`, Check: checkPositive, Doc: "a second, on average; slower readers lose their connection, but only while their answer holds one of the database"},
					{Name: "concurrent", Kind: Number, Null: true, Def: "null", Check: checkPositive, Sample: "5", Doc: "requests of one client in the database at once; null: a quarter of odata.database.max_connections, at least one"},
				},
			},
			setBlock(), singletonBlock(), enumBlock(),
		},
	}
}

func setBlock() Block {
	return Block{
		Name: "entity_set", Label: "name", LabelCheck: checkIdentifier, Doc: "A table or view as an entity set.",
		Sample: `  # entity_set "Products" {
  #   table = "products"
  #   hide  = ["cost"]
  # }
`,
		Keys: append(entityKeys(), Key{
			Name: "search", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["name", "description"]`, Doc: "columns that $search looks into",
		}, Key{
			Name: "apply", Kind: Flag, Def: "true", Doc: "false: $apply answers 501",
		}),
		Blocks: mappingBlocks(),
	}
}

func singletonBlock() Block {
	return Block{
		Name: "singleton", Label: "name", LabelCheck: checkIdentifier, Doc: "A table or view with one row as a singleton.",
		Keys: entityKeys(), Blocks: mappingBlocks(),
	}
}

func entityKeys() []Key {
	return append([]Key{
		{Name: "table", Required: true, Check: CheckExposable, Doc: "table or view; never users, password_reset_tokens or vestibule_*"},
		{Name: "type", Null: true, Def: "null", Check: checkIdentifier, Sample: `"Product"`, Doc: "name of the entity type; null derives it"},
		{Name: "guard", Null: true, Def: "null", OneOf: guards(), Doc: "null: that of odata, which holds for every set; a set can only ask for more"},
		{Name: "key", Kind: Texts, Null: true, Def: "null", Check: checkFilled, Sample: `["id"]`, Doc: "key columns; Null: the primary key; required for a view"},
		{Name: "hide", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["cost"]`, Doc: "columns that do not exist for clients"},
		{
			Name: "filter", Null: true, Def: "null", Check: checkFilled, Sample: `"tenant_id eq @user_partner_id"`,
			Doc: "row policy in $filter syntax; hidden columns allowed; @user_COLUMN is a column of the signed-in user",
		},
		{Name: "description", Null: true, Def: "null", Check: checkFilled, Sample: `"What is for sale"`, Doc: "what it is, in $metadata; null: the comment of the table. SQLite has none"},
	}, typeLookKeys()...)
}

func mappingBlocks() []Block {
	return []Block{
		{
			Name: "property", Label: "column", LabelCheck: checkFilled, Doc: "How one column appears.",
			Keys: append([]Key{
				{Name: "name", Null: true, Def: "null", Check: checkIdentifier, Doc: "name of the property"},
				{Name: "type", Null: true, Def: "null", Check: checkFilled, Sample: `"Status"`, Doc: "an enum, or an Edm type such as Edm.Decimal"},
				{Name: "precision", Kind: Number, Null: true, Def: "null", Check: checkPositive, Doc: "of a decimal or a time"},
				{Name: "scale", Kind: Number, Null: true, Def: "null", Check: checkCount, Doc: "of a decimal"},
				{
					Name: "aggregate", Null: true, Def: "null", OneOf: []string{"sum", "min", "max", "average", "countdistinct", "unit"}, Sample: `"sum"`,
					Doc: "a custom aggregate of $apply: how the property is aggregated where a client names no method; unit: the one value that all rows have, else null",
				},
				{Name: "description", Null: true, Def: "null", Check: checkFilled, Sample: `"Before tax"`, Doc: "what it is, in $metadata; null: the comment of the column. SQLite has none"},
			}, lookKeys()...),
		},
		{
			Name: "complex", Label: "type", LabelCheck: checkIdentifier, Doc: "Columns with one prefix as a complex property of the labelled type.",
			Keys: []Key{
				{Name: "name", Required: true, Check: checkIdentifier, Doc: "name of the property"},
				{Name: "prefix", Required: true, Check: checkFilled, Doc: "the prefix, such as shipping_"},
			},
		},
		{
			Name: "navigation", Label: "name", LabelCheck: checkIdentifier, Doc: "A way to another set, where no foreign key says so, or to rename one.",
			Keys: []Key{
				{Name: "to", Required: true, Check: checkIdentifier, Doc: "entity set that it leads to"},
				{Name: "many", Kind: Flag, Def: "false", Doc: "true: to a collection"},
				{Name: "on", Kind: Table, Null: true, Def: "null", Check: checkFilled, Sample: `{ category_id = "id" }`, Doc: "own columns = the other's"},
				{Name: "via", Null: true, Def: "null", Check: checkFilled, Doc: "table between the two"},
				{Name: "from_key", Null: true, Def: "null", Check: checkFilled, Doc: "its column that holds the own key"},
				{Name: "to_key", Null: true, Def: "null", Check: checkFilled, Doc: "its column that holds the other's key"},
			},
		},
	}
}

func enumBlock() Block {
	return Block{
		Name: "enum", Label: "name", LabelCheck: checkIdentifier, Doc: "An enumeration for columns of integers.",
		Keys: []Key{
			{Name: "flags", Kind: Flag, Def: "false", Doc: "true: a value may hold several members"},
			{Name: "members", Kind: Numbers, Required: true, Doc: "values by name"},
			{
				Name: "labels", Kind: Table, Def: "{}", Check: checkFilled, Sample: `{ InStock = "On the shelf" }`,
				Doc: "what people see for members: texts, or keys of odata.i18n; a member without one: derived from its name, In stock of InStock",
			},
		},
	}
}
