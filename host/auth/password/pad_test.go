package password_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
)

func TestPadTo(t *testing.T) {
	for _, test := range []struct{ worked, step, want time.Duration }{
		{0, 20 * time.Millisecond, 20 * time.Millisecond},
		{7 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond},
		{20 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond},
		{65 * time.Millisecond, 20 * time.Millisecond, 80 * time.Millisecond},
		{7 * time.Millisecond, 0, 7 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			time.Sleep(test.worked)
			password.PadTo(t.Context(), start, test.step)
			if took := time.Since(start); took != test.want {
				t.Errorf("%v of work in steps of %v end after %v, want %v", test.worked, test.step, took, test.want)
			}
		})
	}
}

// Who went away is not waited for.
func TestPadToEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		password.PadTo(ctx, start, time.Hour)
		if took := time.Since(start); took != time.Second {
			t.Errorf("waited %v, want the second that ctx gave", took)
		}
	})
}
