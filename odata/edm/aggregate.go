package edm

// unit as Property.Aggregate is for units and currencies: the one value that all rows have, else null.
const unit = "unit"

// Aggregates are the words for Property.Aggregate: the methods of the standard, and "unit" for units and currencies: the one value that all rows have, else null.
func Aggregates() []string { return []string{"sum", "min", "max", "average", "countdistinct", unit} }

// CustomAggregate is how a property of the type is aggregated by its bare name, as one of Aggregates: as its Aggregate says, or
// by "unit" where the look of another one names it as its currency or its unit. Empty where a name alone does not do.
func (t *EntityType) CustomAggregate(name string) string {
	p := t.Property(name)
	switch {
	case p == nil:
		return ""
	case p.Aggregate != "":
		return p.Aggregate
	}
	for _, of := range t.Properties {
		if (of.Look.Currency.Path == name || of.Look.Unit.Path == name) && CanAggregate(unit, p.Type.Kind) {
			return unit
		}
	}
	return ""
}

// CanAggregate tells whether one of Aggregates works on values of a kind. OData Data Aggregation 3.2.1.3
func CanAggregate(method string, k Kind) bool {
	ordered := k.Numeric() || k == String || k >= Date && k <= Duration
	switch method {
	case "sum", "average":
		return k.Numeric()
	case unit:
		return ordered && k != Single && k != Double
	case "min", "max":
		return ordered
	case "countdistinct":
		return k >= Boolean && k < Stream || k == Enum
	}
	return false
}

// Aggregated is the type of an aggregated value: one that no sum of numbers leaves, Edm.Decimal for exact averages, and for
// counts Edm.Decimal without digits behind the point. OData Data Aggregation 3.2.1.3
func Aggregated(method string, t Type) Type {
	floating := t.Kind == Single || t.Kind == Double
	switch {
	case method == "countdistinct":
		return Type{Kind: Decimal}
	case method != "sum" && method != "average":
		return t
	case floating:
		return Of(Double)
	case method == "average":
		return Of(Decimal)
	case t.Kind == Int64:
		return Type{Kind: Decimal}
	case t.Kind.Integer():
		return Of(Int64)
	}
	return Type{Kind: Decimal, Scale: t.Scale}
}
