package pluginproc_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/host/pluginproc"
)

// An intent through the manager, and the baseline that it is measured against:
// the same call on the same connection, without anything of ours around it.
func BenchmarkDispense(b *testing.B) {
	spec := faulty(b, "ok")
	h := started(b, pluginproc.Options{Logger: hclog.NewNullLogger()}, spec)
	user, req := person("any"), request()
	b.Run("bare gRPC call", func(b *testing.B) {
		client := h.Bare()
		for b.Loop() {
			if _, err := client.Dispense(context.Background(), user, req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("manager", func(b *testing.B) {
		d := h.Dispenser()
		for b.Loop() {
			if _, err := d.Dispense(context.Background(), user, req); err != nil {
				b.Fatal(err)
			}
		}
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
