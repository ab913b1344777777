package auth_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

func TestSpacing(t *testing.T) {
	minute, hours := auth.Spacing{First: time.Minute, Longest: time.Hour}, auth.Spacing{First: 2 * time.Hour, Longest: time.Hour}
	for _, test := range []struct {
		s    auth.Spacing
		n    int
		want time.Duration
	}{
		{minute, 1, time.Minute},
		{minute, 2, 2 * time.Minute},
		{minute, 6, 32 * time.Minute},
		{minute, 7, time.Hour},
		{minute, 1 << 20, time.Hour},
		{hours, 1, 2 * time.Hour}, // a longer time of the operator's own stays
		{hours, 9, 2 * time.Hour},
	} {
		if got := test.s.After(test.n); got != test.want {
			t.Errorf("%v after mail %d: %v, want %v", test.s.First, test.n, got, test.want)
		}
	}
}
