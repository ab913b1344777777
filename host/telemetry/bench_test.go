package telemetry_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// BenchmarkQuery is what counting costs one query: its stages and its answer.
func BenchmarkQuery(b *testing.B) {
	m := telemetry.New()
	m.ExpectRoute("odata")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			for _, stage := range []string{"parse", "plan", "wait", "database", "write"} {
				m.Stage(stage, 100*time.Microsecond)
			}
			m.Request("odata", 200, 500*time.Microsecond)
		}
	})
}
