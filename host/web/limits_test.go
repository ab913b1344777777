package web_test

import (
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// One client takes its share and no more, and leaves the rest to others at once;
// all together take no more than there are.
func TestShare(t *testing.T) {
	room := web.NewLimits(web.LimitOptions{}, hclog.NewNullLogger(), nil).Share(8, 2)
	taken := map[string]int{}
	var first func()
	for _, client := range []string{"a", "b", "c", "d", "e"} {
		for range 3 {
			if leave := room.TryEnter(client); leave != nil {
				taken[client]++
				if first == nil {
					first = leave
				}
			}
		}
	}
	if taken["a"] != 2 || taken["d"] != 2 || taken["e"] != 0 {
		t.Errorf("taken %v", taken)
	}
	first()
	if room.TryEnter("e") == nil {
		t.Error("what was given back is gone")
	}
}

// noLimits are limits that no test reaches.
func noLimits() *web.Limits { return web.NewLimits(web.LimitOptions{}, hclog.NewNullLogger(), nil) }
