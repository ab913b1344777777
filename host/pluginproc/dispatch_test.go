package pluginproc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A cut is the error of a call whose connection broke; unsent is set when no
// plugin saw the call.
type cut struct{ unsent bool }

func (c cut) Error() string { return "connection broke" }

func (c cut) NotSent() bool { return c.unsent }

func (c cut) GRPCStatus() *status.Status { return status.New(codes.Unavailable, c.Error()) }

// How often a call is made, by what becomes of it. Each time that the connection
// breaks, another process is there a second later.
func TestCallsAreRepeatedOnlyWhenTheyMayBe(t *testing.T) {
	own := fmt.Errorf("%w: no database", pluginsdk.ErrUnavailable)
	tests := []struct {
		name  string
		limit int
		errs  []error // of the attempts; the last one of all further ones
		want  error
		made  int
	}{
		{"answered", 2, []error{nil}, nil, 1},
		{"refused by the plugin's own code", 2, []error{own}, own, 1},
		{"broke once", 2, []error{cut{}, nil}, nil, 2},
		{"breaks always", 2, []error{cut{}}, cut{}, 2},
		{"broke once, and may not be seen twice", 1, []error{cut{}, nil}, cut{}, 1},
		{"not sent, and may not be seen twice", 1, []error{cut{true}, cut{true}, nil}, nil, 3},
		{"never sent", 1, []error{cut{true}}, cut{true}, 8},
		{"not sent, then broke", 2, []error{cut{true}, cut{}, cut{true}, cut{}}, cut{}, 4},
		{"closed under the call", 2, []error{context.Canceled, nil}, nil, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pluginproc.NewTestSlot(time.Minute, 0)
				made := 0
				err := s.Call(t.Context(), tt.limit, func(context.Context) error {
					err := tt.errs[min(made, len(tt.errs)-1)]
					made++
					time.AfterFunc(time.Second, s.Replace)
					return err
				})
				if made != tt.made || !errors.Is(err, tt.want) {
					t.Errorf("made %d times: %v, want %d times: %v", made, err, tt.made, tt.want)
				}
				time.Sleep(2 * time.Second) // for the last Replace
			})
		})
	}
}

// A call waits for a process as long as its time allows, and not when it cannot.
func TestCallsWaitForAProcess(t *testing.T) {
	tests := []struct {
		name  string
		while time.Duration // until the next start
		ready time.Duration // until there is a process; 0 means never
		took  time.Duration
		text  string // of the error
	}{
		{"it starts in time", time.Second, time.Second, time.Second, ""},
		{"it starts late", time.Second, 0, 3 * time.Second, "it is being started again"},
		{"it will not start in time", time.Minute, 0, 0, "will be started again in 1m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pluginproc.NewTestSlot(3*time.Second, 0)
				s.Lose(tt.while)
				if tt.ready > 0 {
					time.AfterFunc(tt.ready, s.Replace)
				}
				begin := time.Now() // of the bubble's clock
				err := s.Call(t.Context(), 2, func(context.Context) error { return nil })
				if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %v, want %q", err, tt.text)
				}
				if err != nil && !errors.Is(err, pluginsdk.ErrUnavailable) {
					t.Errorf("%v is not ErrUnavailable", err)
				}
				if took := time.Since(begin); took != tt.took {
					t.Errorf("it waited %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// A caller who goes away is no sign of a broken process, and a deadline asks for a
// health check.
func TestCallsThatEndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pluginproc.NewTestSlot(3*time.Second, 0)
		ctx, cancel := context.WithCancel(t.Context())
		made := 0
		err := s.Call(ctx, 2, func(ctx context.Context) error {
			made++
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || made != 1 || s.WantsCheck() {
			t.Errorf("made %d times: %v; health check asked for: %v", made, err, s.WantsCheck())
		}
		err = s.Call(t.Context(), 2, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, context.DeadlineExceeded) || !s.WantsCheck() {
			t.Errorf("%v; health check asked for: %v", err, s.WantsCheck())
		}
	})
}

func TestTooManyCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pluginproc.NewTestSlot(time.Minute, 2)
		for range 2 {
			go func() {
				_ = s.Call(t.Context(), 1, func(context.Context) error { time.Sleep(time.Second); return nil })
			}()
		}
		synctest.Wait()
		answer := func(context.Context) error { return nil }
		if err := s.Call(t.Context(), 1, answer); !errors.Is(err, pluginsdk.ErrUnavailable) {
			t.Errorf("a third call: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := s.Call(t.Context(), 1, answer); err != nil {
			t.Error("afterwards:", err)
		}
	})
}
