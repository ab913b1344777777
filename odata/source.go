package odata

import (
	"context"
	"io"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
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
	// Fits reports why the columns of its set cannot hold values of a change as they are: nil, or a *write.Refusal of kind Unfit that names
	// one property. Values that have Of are passed over. It knows of each value that its type allows and its column would alter, such as a decimal of too many
	// digits in a column that SQLite keeps as a double. No database is asked. It may set Change.Stored.
	Fits(c *write.Change, values []write.Assignment) error
	// Begin starts a transaction that writes, and waits for locks as a read does. ctx ends it early. The error is a *plan.Error
	// where a client may know it.
	Begin(ctx context.Context) (write.Transaction, error)
}

// Repeating is the interface of a Writable that remembers requests, so that a client that sends one again until it is answered has
// it done once.
type Repeating interface {
	// Repeats reports whether the source has a place to remember requests in. It does not change.
	Repeats() bool
	// Forget forgets requests that have ended, a limited number at a time, and returns how many. Any number of hosts may do so.
	Forget(ctx context.Context, now time.Time) (int, error)
}

// repeats reports whether requests to a source can be repeated.
func repeats(s Source) bool {
	r, ok := s.(Repeating)
	return ok && r.Repeats()
}

// Written names a row that was changed, for an audit line.
type Written struct {
	// Set is the name of the set, Kind that of the write.ChangeKind.
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
