package odata

import (
	"errors"
	"os"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// The names of limits beside those of plan.Limits: configuration keys, and a word
// without a dot for what has none.
const (
	timeoutLimit = "odata.limits.timeout"
	slowLimit    = "odata.limits.slow_reader"
	// fixedLimit are the limits that cannot be changed, such as how long a request
	// may be and how deep expressions may nest.
	fixedLimit = "odata_fixed"
)

// LimitNames are the names that Options.Refused may be told.
func LimitNames() []string {
	names := []string{timeoutLimit, slowLimit, fixedLimit}
	for _, key := range []string{"max_top", "expand_depth", "filter_nodes", "apply_steps", "apply_groups", "rows", "bytes"} {
		names = append(names, "odata.limits."+key)
	}
	return names
}

// limitOf names the limit that ended a request, empty for none.
func limitOf(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.limit
	}
	if _, ok := errors.AsType[*slowError](err); ok {
		return timeoutLimit
	}
	if p, ok := errors.AsType[*plan.Error](err); ok && p.Kind == plan.TooLarge {
		if p.Limit != "" {
			return p.Limit
		}
		return fixedLimit
	}
	if s, ok := errors.AsType[*syntax.Error](err); ok && s.Code == "limit" {
		return fixedLimit
	}
	switch {
	case errors.Is(err, errSlowReader):
		return slowLimit
	case errors.Is(err, errStalled), errors.Is(err, batch.ErrTooLarge):
		return fixedLimit
	}
	return ""
}

// stalled names the reason of a write that ended at a deadline of this package.
func stalled(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.Join(errStalled, err)
	}
	return err
}
