package clock

import "time"

// Skew is how far apart the clocks of hosts that work at the same time may be. A stored
// time that lies further ahead is written anew.
const Skew = 5 * time.Minute

// Within returns when something ends that lasts window at most: at, or now plus the window
// where at lies further ahead.
func Within(at, now time.Time, window time.Duration) time.Time {
	if latest := now.Add(window); at.After(latest) {
		return latest
	}
	return at
}

// Past returns when something has happened: at, or now where at lies ahead.
func Past(at, now time.Time) time.Time { return Within(at, now, 0) }

// Ahead reports whether a time at which something has happened lies so far ahead that the
// clock which it was read from was wrong.
func Ahead(at, now time.Time) bool { return at.After(now.Add(Skew)) }
