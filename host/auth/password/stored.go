package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// What a stored hash may ask for at most. Beyond it the hash is unusable, so that
// a row cannot make the host spend a gigabyte or a minute.
const (
	maxArgonMemory  = 256 * 1024 // KiB
	maxArgonTime    = 16
	maxArgonThreads = 16
	maxBcryptCost   = 15
)

const (
	maxBcryptBytes = 72 // how much of a password bcrypt reads
	bcryptSalt     = 16
	bcryptKey      = 23
)

// A params is the algorithm of a hash and what it costs: bcrypt where cost is set,
// else argon2id.
type params struct {
	prefix       string // of bcrypt: "$2a$", "$2b$" or "$2y$", which name one algorithm
	cost         int
	memory, time uint32
	threads      uint8
}

// A stored is a stored hash; the zero value is none that can be used.
type stored struct {
	params
	bcrypt    []byte
	salt, key []byte
}

func (s stored) unusable() bool { return s.bcrypt == nil && s.key == nil }

// parse reads an argon2id hash in PHC form or a bcrypt hash with one of the
// prefixes $2a$, $2b$, $2y$.
func parse(hash string) (stored, error) {
	if strings.HasPrefix(hash, "$argon2id$") {
		return parseArgon(hash)
	}
	for _, prefix := range []string{"$2a$", "$2b$", "$2y$"} {
		if rest, ok := strings.CutPrefix(hash, prefix); ok {
			known := []byte("$2b$" + rest) // the library knows two of the three
			cost, err := bcrypt.Cost(known)
			if err != nil || cost > maxBcryptCost || len(known) != 60 {
				return stored{}, ErrUnusable
			}
			return stored{params: params{prefix: prefix, cost: cost}, bcrypt: known}, nil
		}
	}
	return stored{}, ErrUnusable
}

// Usable reports whether a password can match a stored hash: it is neither empty nor garbage.
func Usable(hash string) bool {
	_, err := parse(hash)
	return err == nil
}

func parseArgon(hash string) (stored, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return stored{}, ErrUnusable
	}
	var s stored
	for _, param := range strings.Split(parts[3], ",") {
		name, text, _ := strings.Cut(param, "=")
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			return stored{}, ErrUnusable
		}
		switch {
		case name == "m" && n <= maxArgonMemory:
			s.memory = uint32(n)
		case name == "t" && n <= maxArgonTime:
			s.time = uint32(n)
		case name == "p" && n <= maxArgonThreads:
			s.threads = uint8(n)
		default:
			return stored{}, ErrUnusable
		}
	}
	var err1, err2 error
	s.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	s.key, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	bad := err1 != nil || err2 != nil || s.memory == 0 || s.time == 0 || s.threads == 0 ||
		len(s.salt) < 8 || len(s.salt) > 64 || len(s.key) < 16 || len(s.key) > 64
	if bad {
		return stored{}, ErrUnusable
	}
	return s, nil
}

// matches reports whether password is the one that the hash was made of. Of a
// bcrypt password the first 72 bytes count, as in the application that made it.
func (s stored) matches(password string) bool {
	if s.cost > 0 {
		cut := []byte(password)[:min(len(password), maxBcryptBytes)]
		return bcrypt.CompareHashAndPassword(s.bcrypt, cut) == nil
	}
	key := argon2.IDKey([]byte(password), s.salt, s.time, s.memory, s.threads, uint32(len(s.key)))
	return subtle.ConstantTimeCompare(key, s.key) == 1
}

// format names the algorithm and its cost, the same for hashes that take the
// same work.
func (p params) format() string {
	if p.cost > 0 {
		return "bcrypt/" + strconv.Itoa(p.cost)
	}
	return fmt.Sprintf("argon2id/%d/%d/%d", p.memory, p.time, p.threads)
}

// tooLong reports whether the algorithm would cut the password short.
func (p params) tooLong(password string) bool { return p.cost > 0 && len(password) > maxBcryptBytes }

// hash makes a new hash. The password is none that is too long.
func (p params) hash(password string) (string, error) {
	if p.cost > 0 {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), p.cost)
		if err != nil {
			return "", fmt.Errorf("hash by bcrypt: %w", err)
		}
		return p.prefix + string(hash[len(p.prefix):]), nil
	}
	salt := random(argonSalt)
	return p.argonText(salt, argon2.IDKey([]byte(password), salt, p.time, p.memory, p.threads, argonKey)), nil
}

func (p params) argonText(salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, p.threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// decoy makes a hash of random bytes instead of a password.
func (p params) decoy() string {
	if p.cost == 0 {
		return p.argonText(random(argonSalt), random(argonKey))
	}
	text := base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").WithPadding(base64.NoPadding).EncodeToString
	return fmt.Sprintf("%s%02d$%s%s", p.prefix, p.cost, text(random(bcryptSalt)), text(random(bcryptKey)))
}

// random returns n random bytes. Since Go 1.24 the generator never fails.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}
