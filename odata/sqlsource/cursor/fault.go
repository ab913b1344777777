package cursor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// fault is what a client is told of an error. One that has no other reason may come of tables that were changed.
func (o *Reader) fault(ctx context.Context, err error) error {
	known := clientFault(ctx, err)
	var told *plan.Error
	if known == nil || o.Changed == nil || errors.As(known, &told) || errors.Is(known, errMisplaced) {
		return known
	}
	if why := o.Changed(ctx, false); why != nil {
		return clientFault(ctx, fmt.Errorf("%w: %w", why, err))
	}
	return known
}

// clientFault makes a *plan.Error of the failures that a client may be told about: the end of the context, a database
// that is away, busy or changed, and a computation that left the range of its type. Other errors stay as they are.
func clientFault(ctx context.Context, err error) error {
	fault := &plan.Error{Kind: plan.Unavailable, Pos: -1, Cause: err}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || engine.IsTimeout(err):
		fault.Message = "the database took too long"
	case engine.IsUnreachable(err):
		fault.Message = "the database is not available"
	case engine.IsChanged(err):
		fault.Message = "the database was changed, and no longer has what this service was made for; its operator knows more"
	case engine.IsOutOfRange(err):
		fault.Kind, fault.Message = plan.Malformed, "the result of a computation is out of range"
	default:
		return err
	}
	return fault
}
