package odata

import (
	"context"
	"io"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Source reads the rows of a model. It is called by many goroutines at once.
// What a source can do beyond reading, it tells by implementing one of the
// small interfaces below; a Service finds out by itself.
type Source interface {
	// Open reads up to the first row; see plan.Rows for what it must do.
	Open(ctx context.Context, p *plan.Plan) (plan.Rows, error)
}

// Versioned is what a Source can implement to name the state of its data
// without reading any. An answer that was given for a version is given again
// while the source names that version.
type Versioned interface {
	// Version is what Rows.Version would be if the rows were opened now; empty
	// where it cannot be told. It is called before every answer.
	Version(ctx context.Context) string
}

// Aggregator is what a Source can implement to tell that it computes plan.Derived,
// which is what $apply comes to. Without it $apply is 501.
type Aggregator interface {
	// Aggregates is true.
	Aggregates() bool
}

// transformations are those of $apply; nil where a source has none.
func transformations(s Source) []string {
	if a, ok := s.(Aggregator); !ok || !a.Aggregates() {
		return nil
	}
	return syntax.Transformations()
}

// Writable is the interface of a Source that changes rows. Without it nothing can be written, whatever the model says.
type Writable interface {
	// Fits reports why the columns of a set cannot hold values as they are: nil, or a *plan.Refusal of kind Unfit that names
	// one property. It knows of each value that its type allows and its column would alter, such as a decimal of too many
	// digits in a column that SQLite keeps as a double. No database is asked.
	Fits(set *edm.EntitySet, values []plan.Assignment) error
	// Begin starts a transaction that writes, and waits for locks as a read does. ctx ends it early. The error is a *plan.Error
	// where a client may know it.
	Begin(ctx context.Context) (Transaction, error)
}

// Transaction is a transaction of one request that writes, or of a group of them. It is for one goroutine. At most one Rows of
// it is open at a time.
//
// A transaction sees its own changes. A row that a change was judged by stays as it is for others until the end.
type Transaction interface {
	// Apply makes a change, in this order:
	//
	//  1. Update and Delete read the row that Before.Plan.At(Key) names, and lock it. Change.Judge decides on it, for Create on
	//     nil; its refusal is the error.
	//  2. The statement writes. It names the row by its key and by Before.Condition, so that a row that does not meet it is
	//     never written. What the database refuses is a *plan.Refusal: InvalidValue for a check constraint or a null, behind
	//     it Duplicate with the properties of the key, behind it DeadLink for a foreign key; Referenced for a Delete.
	//  3. Create and Update read the row that After.Plan.At names, with the key that the row then has. Change.Verify decides on
	//     it.
	//
	// A source may make one statement of these steps where the result is the same. The rows stand on the row that After has
	// read: Row and Expand work at once, and Next must not be called. They are nil for Delete. Close them before the next call.
	// An error other than a *plan.Refusal is a *plan.Error where a client may know it; after any error the transaction can
	// only be closed.
	Apply(c *plan.Change) (plan.Rows, error)
	// Open reads rows in the transaction, as Source.Open does.
	Open(p *plan.Plan) (plan.Rows, error)
	// Commit ends the transaction. Its error is a *plan.Refusal: of kind OutcomeUnknown if the connection broke before the
	// database had answered, Conflict if the database has undone everything, another kind for a constraint that is checked at
	// the end. What the source remembers of the tables is forgotten before Commit returns.
	Commit() error
	// Close undoes what was not committed, and gives the connection back. It may be called twice.
	Close() error
}

// Written names a row that was changed, for an audit line.
type Written struct {
	// Set is the name of the set, Kind that of the plan.ChangeKind.
	Set, Kind string
	// Key is the key of the row in the form of its address, such as "(5)" or "(order=1,line=2)".
	Key string
}

// Explainer is what a Source can implement to tell how it reads a plan.
type Explainer interface {
	// Explain reads the rows of a plan to their end and returns how that was done. It writes each statement to out before
	// the statement runs: first its text, then its query plan. The explanation is as complete as it can be, also with
	// an error; when ctx ends early, the error is that of ctx.
	Explain(ctx context.Context, p *plan.Plan, out io.Writer) (plan.Explanation, error)
}
