package write

import "time"

// Repeat is a request that its client may send again until it is answered, and that has its effect once (OASIS Repeatable Requests
// 1.0).
type Repeat struct {
	// ID names the request, 32 bytes: a hash of what the client calls it and of who asks.
	ID []byte
	// Print is a hash of what is asked, 32 bytes: a request with the same ID and another Print is another one.
	Print []byte
	// Ends is when the request may be forgotten.
	Ends time.Time
}

// Kept holds what is remembered of a request that had its effect.
type Kept struct{ Print, Answer []byte }
