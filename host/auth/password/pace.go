package password

import (
	"context"
	"sync"
	"time"
)

// A Pace makes failed logins take equally long, whoever was named and however
// the password is stored. Every failure ends at the next multiple of a step that
// is a little longer than a verification of the slowest format in use, so that
// also under load all of them end at the same few moments.
type Pace struct {
	hasher *Hasher

	mu      sync.Mutex
	formats map[string]time.Duration
	step    time.Duration
	decoy   string // a hash of the slowest format, for those who do not exist
}

// NewPace returns a pace that has learned nothing yet and waits for nothing.
func NewPace(h *Hasher) *Pace {
	return &Pace{hasher: h, formats: map[string]time.Duration{}}
}

// Learn measures the format of a stored hash once. Unusable hashes are skipped.
func (p *Pace) Learn(ctx context.Context, stored string) error {
	parsed, err := parseHash(stored)
	if err != nil {
		return nil // an unusable hash is a wrong password and sets no pace
	}
	p.mu.Lock()
	_, known := p.formats[parsed.format()]
	p.mu.Unlock()
	if known {
		return nil
	}
	took, err := p.measure(ctx, stored)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.formats[parsed.format()] = took
	if step := took + took/5; step > p.step {
		p.step, p.decoy = step, stored
	}
	return nil
}

// measure returns the shortest time of up to three verifications: what a busy
// machine adds must not become the pace for as long as the host runs.
func (p *Pace) measure(ctx context.Context, stored string) (time.Duration, error) {
	var shortest, total time.Duration
	for range 3 {
		start := time.Now()
		if _, err := p.hasher.Verify(ctx, stored, "measure"); err != nil {
			return 0, err
		}
		took := time.Since(start)
		if total += took; shortest == 0 || took < shortest {
			shortest = took
		}
		if total > time.Second {
			break
		}
	}
	return shortest, nil
}

// Slowest returns a hash to verify in place of one that does not exist.
func (p *Pace) Slowest() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.decoy
}

// Wait returns at the next multiple of the step after start, or when ctx ends.
func (p *Pace) Wait(ctx context.Context, start time.Time) {
	p.mu.Lock()
	step := p.step
	p.mu.Unlock()
	PadTo(ctx, start, step)
}

// PadTo returns at the next multiple of step after start, or when ctx ends.
func PadTo(ctx context.Context, start time.Time, step time.Duration) {
	if step <= 0 {
		return
	}
	select {
	case <-time.After(step - time.Since(start)%step):
	case <-ctx.Done():
	}
}
