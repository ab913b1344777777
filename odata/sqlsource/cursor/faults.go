package cursor

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// known makes a fault that a client may know of an end of the context, of a database that is away or busy, and of
// numbers and dates that grew out of their range while the database computed with them.
func known(ctx context.Context, err error) error {
	fault := &plan.Error{Kind: plan.Unavailable, Pos: -1, Cause: err}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || timedOut(err):
		fault.Message = "the database took too long"
	case away(err):
		fault.Message = "the database is not available"
	case outOfRange(err):
		fault.Kind, fault.Message = plan.Malformed, "the result of a computation is out of range"
	default:
		return err
	}
	return fault
}

// says tells whether an error is one of the SQLSTATEs or has one of the texts: drivers that are not linked here have
// nothing else to go by.
func says(err error, states []string, texts ...string) bool {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		for _, s := range states {
			if strings.HasPrefix(state.SQLState(), s) {
				return true
			}
		}
		return false
	}
	for _, t := range texts {
		if strings.Contains(err.Error(), t) {
			return true
		}
	}
	return false
}

func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || says(err, []string{"57014"}, "Error 1969", "Error 3024")
}

func away(err error) bool {
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.As(err, &network) ||
		says(err, []string{"08", "53", "57P"}, "invalid connection", "Error 1040", "Error 1053", "database is locked", "SQLITE_BUSY")
}

func outOfRange(err error) bool {
	return says(err, []string{"22003", "22008"}, engine.OutOfRange, "Error 1690", "Error 1441")
}
