package schema

// typeLookKeys are the settings of a set for tables and forms.
func typeLookKeys() []Key {
	const paths = "paths of properties, as clients see them, through navigation to one: "
	return []Key{
		{Name: "title", Null: true, Def: "null", Check: checkFilled, Sample: `"Product"`, Doc: "what one entity is called; a text, or a key of odata.i18n"},
		{Name: "title_plural", Null: true, Def: "null", Check: checkFilled, Sample: `"Products"`, Doc: "what several are called, likewise"},
		{Name: "list", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["name", "category/name", "price"]`, Doc: paths + "the columns of a table"},
		{Name: "fields", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["name", "description"]`, Doc: paths + "what a form shows"},
		{Name: "search_fields", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["name", "category_id"]`, Doc: paths + "what one filters by"},
		{Name: "semantic_key", Kind: Texts, Def: "[]", Check: checkFilled, Sample: `["sku"]`, Doc: "properties by which people know an entity"},
	}
}

// lookKeys are the settings of a property for tables and forms.
func lookKeys() []Key {
	return []Key{
		{Name: "label", Null: true, Def: "null", Check: checkFilled, Sample: `"Price"`, Doc: "a text, or a key of odata.i18n; null: derived from the name, Released on of released_on"},
		{Name: "text", Null: true, Def: "null", Check: checkFilled, Sample: `"category/name"`, Doc: "path of the property whose text stands for the value"},
		{Name: "currency", Null: true, Def: "null", Check: checkFilled, Sample: `"currency_code"`, Doc: "path of the property with the currency of the number, or an ISO 4217 code in quotes: \"'EUR'\""},
		{Name: "unit", Null: true, Def: "null", Check: checkFilled, Sample: `"'kg'"`, Doc: "path of the property with the unit of the number, or the unit in quotes"},
		{Name: "value_list", Null: true, Def: "null", Check: checkIdentifier, Sample: `"Categories"`, Doc: "entity set whose rows are the possible values"},
		{Name: "hidden", Kind: Flag, Def: "false", Doc: "true: sent, but of no interest to people; what clients must not see belongs into hide"},
		{
			Name: "format", Null: true, Def: "null", Sample: `"multiline"`,
			OneOf: []string{
				"multiline", "url", "image_url", "upper", "digits", "masked", "year", "quarter", "month", "week", "year_month",
				"currency", "unit", "timezone", "language",
			},
			Doc: "what kind of text it is",
		},
	}
}
