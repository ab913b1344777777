package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// And, or, not know true, false and null. Package sqltext writes their SQL. OData-URL 5.1.1.1.7 to 5.1.1.1.9
var (
	_ = add(Function{Name: "and", Group: Logic, Null: Threefold, Eval: evalAnd, Signatures: one(edm.Boolean, Boolean, Boolean)})
	_ = add(Function{Name: "or", Group: Logic, Null: Threefold, Eval: evalOr, Signatures: one(edm.Boolean, Boolean, Boolean)})
	_ = add(Function{Name: "not", Group: Logic, Null: Threefold, Eval: evalNot, Signatures: one(edm.Boolean, Boolean)})
)

// Case has conditions and results in turn, any number of pairs; the result belongs to the first condition that is true.
// Its signatures have one pair. Package bind brings the results to one type. OData-URL 5.1.1.12
var _ = add(Function{Name: "case", Group: Choice, Null: Chosen, Signatures: choices()})

func choices() []Signature {
	var list []Signature
	for k := edm.Boolean; k <= edm.Enum; k++ {
		if k != edm.Stream {
			list = append(list, Signature{Params: []Param{Boolean, {k}}, Result: k})
		}
	}
	return list
}
