package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Functions of the standard that no database here can compute. OData-URL 5.1.1.6, 5.1.1.11
var (
	_ = add(Function{Name: "hassubset", Group: Absent, Signatures: one(edm.Boolean, nil, nil)})
	_ = add(Function{Name: "hassubsequence", Group: Absent, Signatures: one(edm.Boolean, nil, nil)})
	_ = add(Function{Name: "geo.distance", Group: Absent, Signatures: one(edm.Double, nil, nil)})
	_ = add(Function{Name: "geo.intersects", Group: Absent, Signatures: one(edm.Boolean, nil, nil)})
	_ = add(Function{Name: "geo.length", Group: Absent, Signatures: one(edm.Double, nil)})
)
