package bind_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// TestRollupsMultiply holds that the groupings that rollups stand for are counted before they are made: 18 rollups of two
// paths are 262,144 lists of 18 to 36 paths.
func TestRollupsMultiply(t *testing.T) {
	target := "Books?$apply=groupby((" + chain(",", "rollup(Id,Title)", 18) + "))"
	for _, limits := range []plan.Limits{{}, {ApplySteps: plan.Unlimited}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := ask(t, target, limits)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "read the rows more than 64 times") {
			t.Errorf("%v, want the fixed limit", err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("the refusal took %d bytes of memory", took)
		}
	}
	if err := ask(t, "Books?$apply=groupby((rollup(Id,Title),rollup(Price,Printed)))", plan.Limits{}); err != nil {
		t.Errorf("two rollups are refused: %v", err)
	}
}
