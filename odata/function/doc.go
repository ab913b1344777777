// Package function is the one catalogue of the canonical functions and the operators of OData expressions (OData-URL
// 5.1.1): their names, their signatures, what null and a result out of range mean, a reference implementation in Go,
// and their SQL for every database. The parser takes names and numbers of arguments from here, package bind the types,
// $metadata the names, package sqltext the SQL, and package memory the implementations.
//
// Add a function in one file of its own: a variable that calls add. Nothing else in the house lists functions.
//
//	var _ = add(Function{
//		Name: "length", Group: Text,
//		Signatures: []Signature{{Params: []Param{String}, Result: edm.Int64}},
//		Eval: func(_ *plan.Call, args []plan.Value) (plan.Value, error) {
//			return plan.Value{Int: int64(utf8.RuneCount(args[0].Bytes))}, nil
//		},
//		SQL: SQL{
//			SQLite:   always("length($1)"),
//			Postgres: always("length($1)::bigint"),
//			MySQL:    always("CHAR_LENGTH($1)"),
//		},
//	})
//
// # Values in Go
//
// A body stands in the entry itself or, where several share code, in a file eval_FAMILY.go. It works on plan.Value, whose comment says which field holds a value of which type; c.Args[i].Type()
// and c.T tell the types. In particular: a Boolean is Int 0 or 1, a String is UTF-8 in Bytes, a Decimal is plain
// notation without trailing zeros behind the point ("-12.5"), a DateTimeOffset is UTC ("2024-02-29T10:11:12.5Z"), and
// a Duration has as few parts as it needs ("P1DT12H"), both without trailing zeros of the fraction. A body
//
//   - never sees a null, INF or NaN, and need not return one, where Null is IfAny or OrUndefined; where it is Never, Threefold
//     or Chosen it is given the nulls;
//   - returns Undefined when there is no result although no argument is null (a division by zero);
//   - returns ErrRange when the result does not fit c.T, and leaves to Range what follows from it;
//   - does not change its arguments and does not keep them: their bytes are valid during the call only;
//   - has no state and may run in several goroutines.
//
// Other errors than ErrRange are faults of the program. Callers run a function by Function.Compile, which applies the
// null rule and the range rule. Case has no Eval: only the chosen result may be computed, so the evaluator does it.
//
// # Values in SQL
//
// A template has $1, $2, $3 in place of the arguments, which may stand there several times. The forms that values have
// in the SQL of a database are described at the dialects of package sqltext. Operators without SQL are written by
// package sqltext itself, because conditions know three values and the answers two (comparisons, in, and, or, not,
// case).
//
// Start reading at Function, then substring.go.
package function
