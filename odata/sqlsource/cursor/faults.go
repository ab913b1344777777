package cursor

import (
	"context"
	"errors"
	"strings"

	"github.com/vestibule-dev/vestibule/odata/plan"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/engine"
)

// known makes a fault that a client may know of an end of the context, and of numbers and dates that grew out of
// their range while the database computed with them.
func known(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || strings.Contains(err.Error(), "Error 1969") || strings.Contains(err.Error(), "Error 3024"):
		return &plan.Error{Kind: plan.Unavailable, Pos: -1, Message: "the database took too long", Cause: err}
	case outOfRange(err):
		return &plan.Error{Kind: plan.Malformed, Pos: -1, Message: "the result of a computation is out of range", Cause: err}
	}
	return err
}

func outOfRange(err error) bool {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState() == "22003" || state.SQLState() == "22008"
	}
	text := err.Error()
	return strings.Contains(text, engine.OutOfRange) || strings.Contains(text, "Error 1690") || strings.Contains(text, "Error 1441")
}
