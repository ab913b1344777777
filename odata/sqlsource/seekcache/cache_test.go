package seekcache_test

import (
	"fmt"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
)

func TestCache(t *testing.T) {
	c := seekcache.New(1 << 20)
	c.SetCount("all", "v1", 7)
	for _, skip := range []int64{400, 200, 600, 400} {
		c.Add("all", "v1", seekcache.Mark{Skip: skip, Key: []any{skip}})
	}
	cases := []struct {
		name, shape, version string
		skip, want           int64
	}{
		{"before the first", "all", "v1", 199, 0},
		{"at one", "all", "v1", 200, 200},
		{"between two", "all", "v1", 599, 400},
		{"behind all", "all", "v1", 9999, 600},
		{"another query", "some", "v1", 9999, 0},
		{"other data", "all", "v2", 9999, 0},
		{"unknown data", "all", "", 9999, 0},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := c.Before(tt.shape, tt.version, tt.skip)
			if m.Skip != tt.want || ok != (tt.want > 0) || ok && m.Key[0] != tt.want {
				t.Errorf("got %v, %t", m, ok)
			}
		})
	}
	if n, ok := c.Count("all", "v1"); !ok || n != 7 {
		t.Errorf("count: got %d, %t", n, ok)
	}
	c.SetCount("all", "v2", 8)
	if _, ok := c.Count("all", "v1"); ok {
		t.Error("the count of other data is still there")
	}
	if _, ok := c.Before("all", "v2", 9999); ok {
		t.Error("a place outlived the data")
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := seekcache.New(100_000)
	for i := range 10_000 {
		c.SetCount(fmt.Sprint("shape ", i), "v", 1)
	}
	if _, ok := c.Count("shape 0", "v"); ok {
		t.Error("the oldest is still there")
	}
	if _, ok := c.Count("shape 9999", "v"); !ok {
		t.Error("the newest is gone")
	}
	for i := range int64(10_000) {
		c.Add("long", "v", seekcache.Mark{Skip: i + 1, Key: []any{i}})
	}
	if m, _ := c.Before("long", "v", 1<<40); m.Skip == 0 || m.Skip > 1000 {
		t.Errorf("one query has places up to %d", m.Skip)
	}
	var none *seekcache.Cache
	none.SetCount("x", "v", 1)
	if _, ok := none.Count("x", "v"); ok {
		t.Error("nothing remembered something")
	}
}
