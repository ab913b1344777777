package memory

const mib = 1 << 20

// Least is the smallest setting with which a host works: it signs in one person at a time.
const Least = 96 * mib

// most is the largest default.
const most = 1 << 30

// Default is the setting where nobody gives one: a quarter of what was found, from Least to 1 GiB.
func Default(found Found) int64 {
	if found.Bytes == 0 {
		return most
	}
	return min(max(found.Bytes/4, Least), most)
}

// What does not depend on the setting, in bytes, as measured with the demo.
const (
	// program is the code and the constants of the program, which the kernel reads from its file.
	program = 40 * mib
	// idle is the heap of a host that nobody asks anything.
	idle = 14 * mib
	// hash is the memory of one password that is being hashed with argon2id. That of the one before is garbage for a while.
	hash = 19 * mib
	// block is a block of the spool.
	block = 72 << 10
	// plan is the memory of the plan of a long filter, with its statements.
	plan = 36 << 10
)

// Parts holds the sizes of everything that gets a part of the setting.
type Parts struct {
	// Go is the limit for the heap of Go and what belongs to it (runtime/debug.SetMemoryLimit).
	Go int64
	// SQLite is the limit for SQLite's own memory, which Go does not count: pages, statements, sorts. Zero without SQLite.
	SQLite int64
	// Hashes are the passwords that are hashed at once.
	Hashes int
	// SpoolBlocks are the blocks of answers that wait for their clients.
	SpoolBlocks int
	// Answers are the bytes of answers that are kept, Seeks those of totals and page keys.
	Answers, Seeks int
	// Plans are the plans that are kept.
	Plans int
	// Rows are the bytes of rows with children that one query holds at a time, for each level of $expand.
	Rows int
}

// A Use holds the facts of a host by which its memory is divided.
type Use struct {
	// Processors bounds the passwords that are hashed at once.
	Processors int
	// Queries is how many queries read at once.
	Queries int
	// SQLite reports whether a database is a SQLite file.
	SQLite bool
}

// Divide divides a setting; one below Least counts as Least. Buffers of connections and compressors of answers under way have
// no part: they take the rest of Go's limit.
func Divide(setting int64, u Use) Parts {
	free := max(setting, Least) - program
	var p Parts
	if u.SQLite {
		p.SQLite = min(free/6, 128*mib)
	}
	free -= p.SQLite + p.SQLite/4 // its allocator keeps some of what was freed
	p.Hashes = int(min(max(free/2/(2*hash), 1), int64(max(u.Processors, 1))))
	hashing := int64(p.Hashes) * hash
	p.Go = free - min(hashing, free/8) // the collector comes late by what is hashed meanwhile
	left := p.Go - idle - hashing
	p.SpoolBlocks = int(min(left/4/block, 2048))
	p.Answers, p.Seeks = int(min(left/12, 16*mib)), int(min(left/12, 16*mib))
	p.Plans = int(min(left/8/plan, 1024))
	p.Rows = int(min(max(left/4/int64(max(u.Queries, 1)), 128<<10), 8*mib))
	return p
}
