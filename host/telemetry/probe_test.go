package telemetry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// A database that answers, fails, hangs and answers again. Whoever asks gets an
// answer at once, but for the first second of all.
func TestProbe(t *testing.T) {
	broken := errors.New("broken")
	hang := func(context.Context) error { time.Sleep(time.Hour); return nil }
	tests := []struct {
		name  string
		looks []func(context.Context) error // one after the other; the last one again and again
		after time.Duration
		want  error
	}{
		{"it works", []func(context.Context) error{works}, time.Minute, nil},
		{"it fails", []func(context.Context) error{works, fails(broken)}, 1500 * time.Millisecond, broken},
		{"it works again", []func(context.Context) error{fails(broken), works}, 1500 * time.Millisecond, nil},
		{"it does not answer in time", []func(context.Context) error{works, untilCancelled}, 6 * time.Second, context.DeadlineExceeded},
		{"it hangs, just now", []func(context.Context) error{works, hang}, 2 * time.Second, nil},
		{"it hangs", []func(context.Context) error{works, hang}, 6 * time.Second, telemetry.ErrNoAnswer},
		{"it never answered", []func(context.Context) error{hang}, 0, telemetry.ErrNoAnswer},
		{"it has only begun", []func(context.Context) error{works}, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				look := func(ctx context.Context) error {
					n++
					return tt.looks[min(n, len(tt.looks))-1](ctx)
				}
				p := telemetry.NewProbe("database", look, hclog.NewNullLogger())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go p.Run(ctx)
				time.Sleep(tt.after)
				asked := time.Now()
				if err := p.Err(t.Context()); !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				if took := time.Since(asked); took >= time.Second || tt.after > 0 && took > 0 {
					t.Errorf("the answer took %v", took)
				}
				cancel()
				time.Sleep(2 * time.Hour) // what hangs comes to its end
			})
		})
	}
}

func works(context.Context) error { return nil }

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
