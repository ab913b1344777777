// Package memory serves Go slices: it makes an edm.Model of their struct types, and reads and writes rows with the semantics
// that the databases have, filter, order, expand, search, compute, paging, counts, lambdas and row policies included. It is
// the reference that the databases are compared with, so it favours being right over being fast: a request looks at every
// row of its set, unless it names a key or comes by a link, for which there are indexes.
//
// What New returns goes to odata.New, and that is the http.Handler:
//
//	service, err := odata.New(source.Model(), source, odata.Options{})
//
// It answers 401 to everybody unless Config.Guard is edm.GuardNone, or Options.Caller tells who asks.
//
// New copies the values of all rows. What the caller changes in the slices afterwards is not seen; Replace exchanges the
// rows of a set at once. Requests that write (Set.Write) change rows of the source and not the slices. A Source is safe for concurrent use, needs no Close, and names the state of its rows, so that
// the service answers unchanged requests with an ETag and from its cache.
//
// How values compute is the business of package function, which this package calls: decimals exact, doubles as IEEE 754
// has them, text by code point, instants to the nanosecond, durations computed to the microsecond. What leaves the range
// of its type is null within a row, and a fault of the request where it depends on no row.
//
// The parts: struct.go, convert.go and model.go make the model, table.go and link.go hold the rows, expr.go and query.go
// compute, derived.go and aggregate.go do $apply, rows.go is the cursor that package odata reads, write.go the transaction
// that writes. Start reading at New.
package memory
