package pluginproc_test

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
)

// An intent through the manager, and the baseline that it is measured against:
// the same call on the same connection, without the manager.
func BenchmarkDispense(b *testing.B) {
	spec := faulty(b, "ok")
	h := started(b, pluginproc.Options{Logger: hclog.NewNullLogger()}, spec)
	user, req := person("any"), request()
	b.Run("bare gRPC call", func(b *testing.B) {
		median(b, func() error {
			_, err := h.Bare().Dispense(context.Background(), user, req)
			return err
		})
	})
	b.Run("manager", func(b *testing.B) {
		median(b, func() error {
			_, err := h.Dispenser().Dispense(context.Background(), user, req)
			return err
		})
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

// median reports the median beside the mean, which other programs disturb.
func median(b *testing.B, call func() error) {
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
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
