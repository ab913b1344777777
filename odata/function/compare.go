package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Comparisons are between two values of one kind, or two numbers. Package sqltext writes their SQL. Two nulls are equal,
// null is not equal to anything else, and neither less nor greater. OData-URL 5.1.1.1.1 to 5.1.1.1.6
var (
	_ = add(Function{Name: "eq", Group: Comparison, Null: Never, Signatures: pairs(true), Eval: evalCompare})
	_ = add(Function{Name: "ne", Group: Comparison, Null: Never, Signatures: pairs(true), Eval: evalCompare})
	_ = add(Function{Name: "gt", Group: Comparison, Null: Never, Signatures: pairs(false), Eval: evalCompare})
	_ = add(Function{Name: "ge", Group: Comparison, Null: Never, Signatures: pairs(false), Eval: evalCompare})
	_ = add(Function{Name: "lt", Group: Comparison, Null: Never, Signatures: pairs(false), Eval: evalCompare})
	_ = add(Function{Name: "le", Group: Comparison, Null: Never, Signatures: pairs(false), Eval: evalCompare})
)

// In has the tested value first and the list, of any length, behind it: true when one of them is equal. Its signature
// has the first item of the list. OData-URL 5.1.1.1.11
var _ = add(Function{Name: "in", Group: Comparison, Null: Never, Signatures: pairs(true), Eval: evalIn})

// Has tells whether all flags of the second value, a constant, are set in the first. OData-URL 5.1.1.1.10
var _ = add(Function{
	Name: "has", Group: Comparison, Eval: evalHas,
	Signatures: one(edm.Boolean, Param{edm.Enum}, Param{edm.Enum}),
	SQL:        SQL{SQLite: always("(($1 & $2) = $2)"), Postgres: always("(($1::bigint & $2) = $2)"), MySQL: always("(($1 & $2) = $2)")},
})

// pairs are the signatures of comparisons; binary values have no order.
func pairs(equality bool) []Signature {
	params := []Param{Number, String, Boolean, Date, Instant, Clock, Duration, {edm.Guid}, {edm.Enum}}
	if equality {
		params = append(params, Param{edm.Binary})
	}
	list := make([]Signature, len(params))
	for i, p := range params {
		list[i] = Signature{Params: []Param{p, p}, Result: edm.Boolean}
	}
	return list
}
