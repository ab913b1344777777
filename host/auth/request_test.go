package auth_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// All calls of a request share what one may wait for the database.
func TestWaitOfARequest(t *testing.T) {
	const wait = time.Minute
	tests := []struct {
		name                    string
		spent, hashed, wantLeft time.Duration
	}{
		{"nothing", 0, 0, wait},
		{"the database", 20 * time.Second, 0, 40 * time.Second},
		{"hashing", 0, 20 * time.Second, 40 * time.Second},
		{"both", 20 * time.Second, 20 * time.Second, 20 * time.Second},
		{"hashing leaves a second", 20 * time.Second, 2 * wait, time.Second},
		{"the database leaves nothing", wait, wait, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := auth.RequestOf(auth.WithRequest(t.Context(), new(auth.Request)))
			p.Spend(time.Now().Add(-tt.spent))
			p.SpendHashing(time.Now().Add(-tt.hashed))
			if got := p.Left(wait).Round(time.Second); got != tt.wantLeft {
				t.Errorf("%v is left, want %v", got, tt.wantLeft)
			}
		})
	}
	if got := auth.RequestOf(t.Context()).Left(wait); got != wait {
		t.Errorf("%v is left without a request", got)
	}
}
