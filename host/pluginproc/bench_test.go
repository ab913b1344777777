package pluginproc_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An intent through the manager, and the baseline that it is measured against: the
// same call on the same connection with the same deadline, without the manager. They take turns, so that what
// else the machine does falls on both alike.
func BenchmarkDispense(b *testing.B) {
	spec := faulty(b, "ok")
	h := started(b, pluginproc.Options{Logger: hclog.NewNullLogger()}, spec)
	user, req := person("any"), request()
	b.Run("manager and bare gRPC call in turn", func(b *testing.B) {
		bare, d := h.Bare(), h.Dispenser()
		var took [2][]time.Duration
		asked := []pluginsdk.Dispenser{d, bare}
		for turn := 0; b.Loop(); turn++ {
			for k := range asked {
				i := (turn + k) % 2
				begin := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				_, err := asked[i].Dispense(ctx, user, req)
				cancel()
				if err != nil {
					b.Fatal(err)
				}
				took[i] = append(took[i], time.Since(begin))
			}
		}
		p50 := func(list []time.Duration) float64 {
			slices.Sort(list)
			return float64(list[len(list)/2].Nanoseconds())
		}
		b.ReportMetric(p50(took[0]), "manager-p50-ns")
		b.ReportMetric(p50(took[1]), "bare-p50-ns")
		b.ReportMetric(100*(p50(took[0])/p50(took[1])-1), "overhead-%")
	})
	b.Run("manager, 16 at once", func(b *testing.B) {
		d := h.Dispenser()
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := d.Dispense(context.Background(), user, req); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// A start, from the fork to the answer to Configure, and the baseline of a
// process that only starts and ends.
func BenchmarkStart(b *testing.B) {
	spec := faulty(b, "ok")
	b.Run("fork and exec", func(b *testing.B) {
		for b.Loop() {
			_ = exec.Command(spec.Command[0], "unknown").Run() // which ends with 2
		}
	})
	b.Run("ready", func(b *testing.B) {
		for b.Loop() {
			h, err := pluginproc.New([]pluginproc.Spec{spec}, pluginproc.Options{})
			if err == nil {
				err = h.Start(context.Background())
			}
			b.StopTimer()
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			if err := h.Stop(ctx); err != nil {
				b.Fatal(err)
			}
			cancel()
			b.StartTimer()
		}
	})
}

// Sign-ins, four at a time, while a dispenser that works 150 ms is killed every
// second, by the timeout of calls. The baseline is the same without kills. It fails
// when a sign-in does.
func BenchmarkKilledEverySecond(b *testing.B) {
	for _, timeout := range []time.Duration{3 * time.Second, time.Second} {
		for _, kills := range []bool{false, true} {
			b.Run(fmt.Sprintf("timeout=%s,kills=%v", timeout, kills), func(b *testing.B) {
				spec := faulty(b, "ok")
				spec.Timeout = timeout
				h := started(b, pluginproc.Options{Logger: hclog.NewNullLogger()}, spec)
				ctx, stop := context.WithCancel(context.Background())
				var killer sync.WaitGroup
				killer.Go(func() {
					for tick := time.Tick(time.Second); kills && ctx.Err() == nil; <-tick {
						if pid := h.pid(); pid > 0 {
							_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
						}
					}
				})
				took := make(chan time.Duration, b.N)
				b.SetParallelism(2) // of two processors
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						begin := time.Now()
						if _, err := h.Dispenser().Dispense(context.Background(), person("work"), request()); err != nil {
							b.Error(err)
						}
						took <- time.Since(begin)
					}
				})
				stop()
				killer.Wait()
				close(took)
				all := slices.Sorted(func(yield func(time.Duration) bool) {
					for d := range took {
						if !yield(d) {
							return
						}
					}
				})
				b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "p50-ms")
				b.ReportMetric(float64(all[len(all)*95/100].Milliseconds()), "p95-ms")
			})
		}
	}
}
