package password

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
)

// ErrUnusable is returned for a stored hash that is garbage or absurd.
var ErrUnusable = errors.New("unusable password hash")

// Options are what a [Hasher] works by. The zero value works.
type Options struct {
	// Format is that of new hashes; empty means [Argon2id].
	Format Format
	// Observe is told of each hash that is computed, by its format and cost,
	// such as "bcrypt/12"; may be nil.
	Observe func(format string)
	// Learned is told of each format, named so, when its first hash is learned; may be nil.
	Learned func(format string)
	// Queue bounds the hashes under way and those that wait. When zero, Slots is the
	// number of processors, at least 128 attempts of one client may wait, and the
	// longest wait is 10 s. Share is always zero.
	Queue admission.Options
}

// A Hasher hashes and verifies passwords, as many at a time as Options.Queue has
// slots. Clients that wait are served by the least time used so far, so that
// a client that guesses does not delay others; beyond the bound the error is an
// *admission.Busy. It is safe for concurrent use.
type Hasher struct {
	o     Options
	queue *admission.Queue

	mu sync.Mutex
	// decoys are stored hashes, one of each format in use, under the formats' names.
	decoys map[string]stored
}

// A client may have as many passwords waiting as a crowd behind one address types
// at the same moment, and each waits as long as a person would.
const (
	leastWaiting = 128
	usualWait    = 10 * time.Second
)

// New returns a hasher that has learned no format yet.
func New(o Options) *Hasher {
	if o.Observe == nil {
		o.Observe = func(string) {}
	}
	if o.Learned == nil {
		o.Learned = func(string) {}
	}
	q := o.Queue
	q.Slots, q.Share, q.Waiting, q.Wait = cmp.Or(q.Slots, runtime.GOMAXPROCS(0)), 0, max(q.Waiting, leastWaiting), cmp.Or(q.Wait, usualWait)
	return &Hasher{o: o, queue: admission.New(q), decoys: map[string]stored{}}
}

// QueueState is the state of the queue in which clients wait for a password to be
// hashed.
func (h *Hasher) QueueState() admission.State { return h.queue.State("password_hashing") }

// Learn notes the format of a stored hash, so that every failed attempt computes
// one of it as well. Unusable hashes are passed over.
func (h *Hasher) Learn(hash string) {
	s, err := parse(hash)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.decoys[s.format()]; !known {
		h.decoys[s.format()] = s
		h.o.Learned(s.format())
	}
}

// others returns a hash of each format in use but that of s, in a fixed order.
func (h *Hasher) others(s stored) []stored {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []stored
	for _, format := range slices.Sorted(maps.Keys(h.decoys)) {
		if s.unusable() || format != s.format() {
			list = append(list, h.decoys[format])
		}
	}
	return list
}

// Hash makes a hash of a new password for a client, in the format of the options. old is the
// hash that it replaces, empty for none, whose format [Keep] keeps. A password
// that the format cuts short is a *PolicyError.
func (h *Hasher) Hash(ctx context.Context, client, old, password string) (string, error) {
	p := h.o.Format.params(old)
	if p.tooLong(password) {
		return "", &PolicyError{Code: TooLong}
	}
	leave, err := h.queue.Enter(ctx, client)
	if err != nil {
		return "", fmt.Errorf("wait to hash: %w", err)
	}
	defer leave()
	h.o.Observe(p.format())
	return p.hash(password)
}

// TooLong reports whether a new password that is to replace the hash old is longer
// than its format reads: 72 bytes for bcrypt.
func (h *Hasher) TooLong(old, password string) bool {
	return h.o.Format.params(old).tooLong(password)
}

// Stale reports whether a stored hash is to be replaced by one of the same
// password now that it is at hand: because it is weaker than, or of another format
// than, the options ask for. An unusable hash is not stale, nor is one of a
// password that the format asked for would cut short.
func (h *Hasher) Stale(hash, password string) bool {
	s, err := parse(hash)
	return err == nil && h.o.Format.stale(s) && !h.TooLong(hash, password)
}

// An Attempt is a password that somebody has typed to sign in.
type Attempt struct {
	// Client is who waits for a turn: clients with one name count as one.
	Client string
	// Stored is the hash of the user that the login names; empty when there is
	// none.
	Stored string
	// Password is what was typed.
	Password string
	// Refuse makes a right password fail like a wrong one, as for disabled users.
	Refuse bool
}

// Verify reports whether the password is right. Whatever makes an attempt fail, it
// computes one hash of each format in use, in one go: neither time nor processor
// tell whether there is such a person, and in which format the password is stored.
func (h *Hasher) Verify(ctx context.Context, a Attempt) (bool, error) {
	s, err := parse(a.Stored)
	if err == nil {
		h.Learn(a.Stored)
	}
	leave, busy := h.queue.Enter(ctx, a.Client)
	if busy != nil {
		return false, fmt.Errorf("wait to verify: %w", busy)
	}
	defer leave()
	if err == nil && h.compute(s, a.Password) && !a.Refuse {
		return true, nil
	}
	for _, decoy := range h.others(s) {
		h.compute(decoy, a.Password)
	}
	return false, nil
}

func (h *Hasher) compute(s stored, password string) bool {
	h.o.Observe(s.format())
	return s.matches(password)
}
