package auth

import "time"

// A Spacing is the least time between mails to one address. It doubles after each
// mail, so that a stranger who asks for links again and again neither floods a
// mailbox nor replaces the link that its owner is about to use.
type Spacing struct {
	// First is the time after the first mail, Longest what it grows to.
	First, Longest time.Duration
	// Forget is how long after the last mail the next one is the first again.
	Forget time.Duration
}

// After returns the least time between mail n, which counts from 1, and the next.
func (s Spacing) After(n int) time.Duration {
	wait := s.First
	for ; n > 1 && wait < s.Longest; n-- {
		wait *= 2
	}
	return max(s.First, min(wait, s.Longest))
}

// resetSpacing is that of mails with a reset link.
func (r Rules) resetSpacing() Spacing {
	return Spacing{First: r.ResetResend, Longest: time.Hour, Forget: max(24*time.Hour, 2*r.ResetResend)}
}
