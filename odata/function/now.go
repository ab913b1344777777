package function

import (
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Now is the time of the request, to the microsecond; mindatetime and maxdatetime are the ends of what databases keep. OData-URL 5.1.1.8.5,
// 5.1.1.8.6, 5.1.1.8.9
var (
	_ = add(Function{
		Name: "now", Group: Time, Volatile: true,
		Signatures: one(edm.DateTimeOffset),
		Constant: func(now time.Time) plan.Value {
			return plan.Value{Bytes: []byte(now.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano))}
		},
	})
	_ = add(Function{
		Name: "mindatetime", Group: Time,
		Signatures: one(edm.DateTimeOffset),
		Constant:   func(time.Time) plan.Value { return plan.Value{Bytes: []byte("0001-01-01T00:00:00Z")} },
	})
	_ = add(Function{
		Name: "maxdatetime", Group: Time,
		Signatures: one(edm.DateTimeOffset),
		Constant:   func(time.Time) plan.Value { return plan.Value{Bytes: []byte("9999-12-31T23:59:59.999999Z")} },
	})
)
