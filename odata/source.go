package odata

import (
	"context"
	"io"

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

// Explainer is what a Source can implement to tell how it reads a plan.
type Explainer interface {
	// Explain reads the rows of a plan to their end and returns how that was done. It writes each statement to out before
	// the statement runs: first its text, then its query plan. The explanation is as complete as it can be, also with
	// an error; when ctx ends early, the error is that of ctx.
	Explain(ctx context.Context, p *plan.Plan, out io.Writer) (plan.Explanation, error)
}
