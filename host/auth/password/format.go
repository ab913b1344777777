package password

// A Format selects the hash for new passwords, and whether stored hashes of
// another format are replaced at the next sign-in.
type Format string

// The formats.
const (
	// Argon2id is for new passwords, and for all others from the next sign-in on.
	Argon2id Format = "argon2id"
	// Bcrypt is the same with bcrypt, for applications that check passwords
	// themselves and know nothing else: prefix $2y$, cost 12.
	Bcrypt Format = "bcrypt"
	// Keep changes no stored hash, and stores a new password in the format of the
	// old one. Where there is none it is argon2id.
	Keep Format = "keep"
)

// The cost of new hashes: OWASP's first choice for argon2id, and for bcrypt about
// a quarter of a second.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32

	bcryptCost = 12
)

// Decoy returns a hash in the format of new ones that no password leads to, since its key is
// random: to compare a password with it takes the work of a real one, to make it takes none.
func (f Format) Decoy() string { return f.params("").decoy() }

// params returns how a password is hashed that replaces the hash old.
func (f Format) params(old string) params {
	ours := params{memory: argonMemory, time: argonTime, threads: argonThreads}
	switch f {
	case Bcrypt:
		return params{prefix: "$2y$", cost: bcryptCost}
	case Keep:
		s, err := parse(old)
		if err != nil {
			return ours
		}
		if s.cost > 0 {
			return params{prefix: s.prefix, cost: max(s.cost, bcryptCost)}
		}
		return params{memory: max(s.memory, argonMemory), time: max(s.time, argonTime), threads: s.threads}
	}
	return ours
}

// stale reports whether a stored hash is to be replaced at the next sign-in.
func (f Format) stale(s stored) bool {
	switch f {
	case Keep:
		return false
	case Bcrypt:
		return s.prefix != "$2y$" || s.cost < bcryptCost
	}
	return s.cost > 0 || s.memory < argonMemory || s.time < argonTime
}
