package write

import "github.com/vestibule-dev/vestibule/v2/odata/plan"

// Transaction is a transaction of one request that writes, or of a group of them. It is for one goroutine. At most one Rows of
// it is open at a time.
//
// A transaction sees its own changes. A row that a change was judged by stays as it is for others until the end.
type Transaction interface {
	// Apply makes the first of some changes, or more of them, and returns how many. More than one are creations with one After,
	// none of which needs the row of another. Each is made in this order:
	//
	//  1. Update and Delete read the row that Before.Plan.At(Key) names, and lock it. Change.Judge decides on it, for Create on
	//     nil; its refusal is the error.
	//  2. The statement writes. It names the row by its key and by Before.Condition, so that a row that does not meet it is
	//     never written. What the database refuses is a *Refusal: InvalidValue for a check constraint or a null, behind
	//     it Duplicate with the properties of the key, behind it DeadLink for a foreign key; Referenced for a Delete. RowNotAllowed
	//     comes before them where the row that the change would leave is known not to meet After.
	//  3. Create and Update read the row that After.Plan.At names, with the key that the row then has. Change.Verify decides on
	//     it.
	//
	// Link and Unlink read and lock both rows, which Change.JudgeLink decides on, and write the table in between. Link writes
	// nothing if the row is there. Unlink removes all rows of the same two keys.
	//
	// A source may make one statement of these steps, and of several changes, where the result is the same. The rows stand on the
	// row that After has read: Row and Expand work at once, and Next goes to that of the next change. They are nil for Delete,
	// Link and Unlink. Close them before the next call. Several changes at once are refused by OneOfSeveral alone. An error other
	// than a *Refusal is an *Error where a client may know it; after any error but a RowNotFound the transaction can only be closed.
	Apply(list []*Change) (plan.Rows, int, error)
	// Open reads rows in the transaction, as a source does.
	Open(p *plan.Plan) (plan.Rows, error)
	// Claim notes that the transaction is the one in which a request has its effect, before its first change. It waits for others
	// that have claimed the same ID. If one of them was committed, Claim returns what that one has kept; else nil. Only a
	// source that is Repeating can be asked.
	Claim(r *Repeat) (*Kept, error)
	// Keep keeps the answer to the request that was claimed, of at most 1 MiB.
	Keep(r *Repeat, answer []byte) error
	// Commit ends the transaction. Its error is a *Refusal: of kind OutcomeUnknown if the connection broke before the
	// database had answered, Conflict if the database has undone everything, another kind for a constraint that is checked at
	// the end. What the source remembers of the tables is forgotten before Commit returns.
	Commit() error
	// Close undoes what was not committed, and gives the connection back. It may be called twice.
	Close() error
}
