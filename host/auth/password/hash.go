package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sync/semaphore"
)

// The parameters of new hashes: OWASP's first choice for argon2id.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32
)

// What a stored hash may ask for at most. Beyond it the hash is unusable, so that
// a row cannot make the host spend a gigabyte or a minute.
const (
	maxArgonMemory  = 256 * 1024 // KiB
	maxArgonTime    = 16
	maxArgonThreads = 16
	maxBcryptCost   = 15
	maxBcryptBytes  = 72
)

// ErrUnusable is returned for a stored hash that is garbage or absurd.
var ErrUnusable = errors.New("unusable password hash")

// A Hasher hashes and verifies passwords, a bounded number at a time.
type Hasher struct{ slots *semaphore.Weighted }

// New returns a hasher that works on as many passwords at once as there are
// processors, and at least two.
func New() *Hasher {
	return &Hasher{semaphore.NewWeighted(int64(max(2, runtime.GOMAXPROCS(0))))}
}

// Hash makes an argon2id hash in PHC form.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, argonSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("make salt: %w", err)
	}
	if err := h.slots.Acquire(ctx, 1); err != nil {
		return "", fmt.Errorf("wait to hash: %w", err)
	}
	defer h.slots.Release(1)
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// Verify reports whether password is the one that stored was made of. A hash
// that cannot be used is an error beside false.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (bool, error) {
	p, err := parseHash(stored)
	if err != nil {
		return false, err
	}
	if err := h.slots.Acquire(ctx, 1); err != nil {
		return false, fmt.Errorf("wait to verify: %w", err)
	}
	defer h.slots.Release(1)
	return p.matches(password), nil
}

// Stale reports whether a stored hash is weaker than those made today. It fails
// with ErrUnusable for one that cannot be used at all.
func Stale(stored string) (bool, error) {
	p, err := parseHash(stored)
	return err == nil && p.stale(), err
}

// A phc is a parsed stored hash: bcrypt where cost is set, else argon2id.
type phc struct {
	cost         int
	bcrypt       []byte
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

// parseHash reads an argon2id hash in PHC form or a bcrypt hash with one of the
// prefixes $2a$, $2b$, $2y$.
func parseHash(stored string) (phc, error) {
	if strings.HasPrefix(stored, "$argon2id$") {
		return parseArgon(stored)
	}
	for _, prefix := range []string{"$2a$", "$2b$", "$2y$"} {
		if rest, ok := strings.CutPrefix(stored, prefix); ok {
			// The three name the same algorithm; the library knows two of them.
			hash := []byte("$2b$" + rest)
			cost, err := bcrypt.Cost(hash)
			if err != nil || cost > maxBcryptCost || len(hash) != 60 {
				return phc{}, ErrUnusable
			}
			return phc{cost: cost, bcrypt: hash}, nil
		}
	}
	return phc{}, ErrUnusable
}

func parseArgon(stored string) (phc, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return phc{}, ErrUnusable
	}
	var p phc
	for _, param := range strings.Split(parts[3], ",") {
		name, text, _ := strings.Cut(param, "=")
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			return phc{}, ErrUnusable
		}
		switch {
		case name == "m" && n <= maxArgonMemory:
			p.memory = uint32(n)
		case name == "t" && n <= maxArgonTime:
			p.time = uint32(n)
		case name == "p" && n <= maxArgonThreads:
			p.threads = uint8(n)
		default:
			return phc{}, ErrUnusable
		}
	}
	var err1, err2 error
	p.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	p.key, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	bad := err1 != nil || err2 != nil || p.memory == 0 || p.time == 0 || p.threads == 0 ||
		len(p.salt) < 8 || len(p.salt) > 64 || len(p.key) < 16 || len(p.key) > 64
	if bad {
		return phc{}, ErrUnusable
	}
	return p, nil
}

func (p phc) matches(password string) bool {
	if p.cost > 0 {
		// bcrypt looks at 72 bytes only: a longer password would match whatever
		// follows them, and be rehashed with it.
		cut := []byte(password)[:min(len(password), maxBcryptBytes)]
		return bcrypt.CompareHashAndPassword(p.bcrypt, cut) == nil && len(password) <= maxBcryptBytes
	}
	key := argon2.IDKey([]byte(password), p.salt, p.time, p.memory, p.threads, uint32(len(p.key)))
	return subtle.ConstantTimeCompare(key, p.key) == 1
}

// stale reports whether a hash is weaker than those made today.
func (p phc) stale() bool {
	return p.cost > 0 || p.memory < argonMemory || p.time < argonTime
}

// format names the algorithm and its cost, the same for hashes that take the
// same time.
func (p phc) format() string {
	if p.cost > 0 {
		return "bcrypt/" + strconv.Itoa(p.cost)
	}
	return fmt.Sprintf("argon2id/%d/%d/%d", p.memory, p.time, p.threads)
}
