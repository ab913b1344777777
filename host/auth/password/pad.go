package password

import (
	"context"
	"time"
)

// PadTo returns at the next multiple of step after start, or when ctx ends: small
// differences in what the database does then do not show.
func PadTo(ctx context.Context, start time.Time, step time.Duration) {
	if step <= 0 {
		return
	}
	select {
	case <-time.After(step - time.Since(start)%step):
	case <-ctx.Done():
	}
}
