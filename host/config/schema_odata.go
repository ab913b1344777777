package config

func odataBlock() block {
	return block{
		name: "odata", doc: "The query endpoint under /odata/.",
		keys: []key{
			{name: "guard", def: `"session"`, oneOf: guards(), doc: "who may query; sets may differ"},
			{name: "discover", kind: texts, def: "[]", check: checkFilled, sample: `["products", "categories"]`, doc: "tables and views to expose as found; never the credential tables"},
		},
		blocks: []block{
			{
				name: "pagination", doc: "The size of a page when the client names no $top.",
				keys: []key{
					{name: "default", kind: number, def: "200", check: checkPositive, doc: "when the client has no preference"},
					{name: "max", kind: number, null: true, def: "null", check: checkPositive, sample: "1000", doc: "ceiling for both; null is no ceiling"},
				},
			},
			{
				name: "database", doc: "Another database, or a replica; null means the one above.",
				keys: []key{
					{name: "driver", null: true, def: "null", oneOf: drivers(), doc: "as database.driver"},
					{name: "dsn", null: true, secret: true, def: "null", check: checkFilled, doc: "as database.dsn"},
				},
			},
			{
				name: "limits", doc: "What one request may ask for.",
				keys: []key{
					{name: "max_top", kind: number, null: true, def: "null", check: checkPositive, sample: "10000", doc: "a larger $top is answered with 400"},
					{name: "expand_depth", kind: number, def: "4", check: checkPositive, doc: "levels of $expand"},
					{name: "filter_nodes", kind: number, def: "200", check: checkPositive, doc: "size of a $filter"},
					{name: "timeout", kind: span, def: `"30s"`, check: checkPositive, doc: "of the database's work for one request"},
				},
			},
			setBlock(), singletonBlock(), enumBlock(),
		},
	}
}

func setBlock() block {
	return block{
		name: "entity_set", label: "name", labelCheck: checkIdentifier, doc: "A table or view as an entity set.",
		sample: `  # entity_set "Products" {
  #   table = "products"
  #   hide  = ["cost"]
  # }
`,
		keys: append(entityKeys(), key{
			name: "search", kind: texts, def: "[]", check: checkFilled, sample: `["name", "description"]`, doc: "columns that $search looks into",
		}),
		blocks: mappingBlocks(),
	}
}

func singletonBlock() block {
	return block{
		name: "singleton", label: "name", labelCheck: checkIdentifier, doc: "A table or view with one row as a singleton.",
		keys: entityKeys(), blocks: mappingBlocks(),
	}
}

func entityKeys() []key {
	return []key{
		{name: "table", required: true, check: checkExposable, doc: "table or view; never users, password_reset_tokens or vestibule_*"},
		{name: "type", null: true, def: "null", check: checkIdentifier, sample: `"Product"`, doc: "name of the entity type; null derives it"},
		{name: "guard", null: true, def: "null", oneOf: guards(), doc: "null: that of odata"},
		{name: "key", kind: texts, null: true, def: "null", check: checkFilled, sample: `["id"]`, doc: "key columns; null: the primary key; required for a view"},
		{name: "hide", kind: texts, def: "[]", check: checkFilled, sample: `["cost"]`, doc: "columns that do not exist for clients"},
		{
			name: "filter", null: true, def: "null", check: checkFilled, sample: `"tenant_id eq @user_partner_id"`,
			doc: "row policy in $filter syntax; hidden columns allowed; @user_COLUMN is a column of the signed-in user",
		},
	}
}

func mappingBlocks() []block {
	return []block{
		{
			name: "property", label: "column", labelCheck: checkFilled, doc: "How one column appears.",
			keys: []key{
				{name: "name", null: true, def: "null", check: checkIdentifier, doc: "name of the property"},
				{name: "type", null: true, def: "null", check: checkFilled, sample: `"Status"`, doc: "an enum, or an Edm type such as Edm.Decimal"},
				{name: "precision", kind: number, null: true, def: "null", check: checkPositive, doc: "of a decimal or a time"},
				{name: "scale", kind: number, null: true, def: "null", check: checkCount, doc: "of a decimal"},
			},
		},
		{
			name: "complex", label: "type", labelCheck: checkIdentifier, doc: "Columns with one prefix as a complex property of the labelled type.",
			keys: []key{
				{name: "name", required: true, check: checkIdentifier, doc: "name of the property"},
				{name: "prefix", required: true, check: checkFilled, doc: "the prefix, such as shipping_"},
			},
		},
		{
			name: "navigation", label: "name", labelCheck: checkIdentifier, doc: "A way to another set, where no foreign key says so, or to rename one.",
			keys: []key{
				{name: "to", required: true, check: checkIdentifier, doc: "entity set that it leads to"},
				{name: "many", kind: flag, def: "false", doc: "true: to a collection"},
				{name: "on", kind: table, null: true, def: "null", check: checkFilled, sample: `{ category_id = "id" }`, doc: "own columns = the other's"},
				{name: "via", null: true, def: "null", check: checkFilled, doc: "table between the two"},
				{name: "from_key", null: true, def: "null", check: checkFilled, doc: "its column that holds the own key"},
				{name: "to_key", null: true, def: "null", check: checkFilled, doc: "its column that holds the other's key"},
			},
		},
	}
}

func enumBlock() block {
	return block{
		name: "enum", label: "name", labelCheck: checkIdentifier, doc: "An enumeration for columns of integers.",
		keys: []key{
			{name: "flags", kind: flag, def: "false", doc: "true: a value may hold several members"},
			{name: "members", kind: numbers, required: true, doc: "values by name"},
		},
	}
}
