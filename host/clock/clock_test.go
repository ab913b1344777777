package clock_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/clock"
)

func TestStoredTimesCountFromNow(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name         string
		at           time.Duration
		within, past time.Duration
		ahead        bool
	}{
		{"an hour ago", -time.Hour, -time.Hour, -time.Hour, false},
		{"now", 0, 0, 0, false},
		{"within the skew", clock.Skew, clock.Skew, 0, false},
		{"within the window", 9 * time.Minute, 9 * time.Minute, 0, true},
		{"at the end of the window", 10 * time.Minute, 10 * time.Minute, 0, true},
		{"a day ahead", 24 * time.Hour, 10 * time.Minute, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at := now.Add(test.at)
			if got := clock.Within(at, now, 10*time.Minute); !got.Equal(now.Add(test.within)) {
				t.Errorf("within 10 min: %v", got.Sub(now))
			}
			if got := clock.Past(at, now); !got.Equal(now.Add(test.past)) {
				t.Errorf("past: %v", got.Sub(now))
			}
			if got := clock.Ahead(at, now); got != test.ahead {
				t.Errorf("ahead: %v, want %v", got, test.ahead)
			}
		})
	}
}
