package storetest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Bench measures what every guarded request and every sign-in pays. The baseline
// of a read is the same row by sqlx alone.
func Bench(b *testing.B, fixture Fixture) {
	e := newEnv(b, fixture)
	db := e.migrated()
	u := e.user(db, "ada@example.com")
	want := e.session(db, e.record(1, u.ID))
	b.Run("session/baseline=sqlx", func(b *testing.B) {
		query := db.Reader().Rebind(`SELECT hash, version, user_id, device, data, created, seen, expires, user_agent, address
			FROM vestibule_sessions WHERE hash = ?`)
		b.ReportAllocs()
		for b.Loop() {
			var row struct {
				Hash, Device, Data              []byte
				Version, Created, Seen, Expires int64
				UserID                          string `db:"user_id"`
				UserAgent                       string `db:"user_agent"`
				Address                         string
			}
			if err := db.Reader().GetContext(e.ctx, &row, query, want.Hash); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session/store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := db.Sessions().FindSession(e.ctx, want.Hash); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session/owned", func(b *testing.B) {
		owned, ok := db.Sessions().(ownedRows)
		if !ok {
			b.Fatal("sessions are read alone")
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, owner, err := owned.FindOwned(e.ctx, want.Hash, false); err != nil || owner == nil {
				b.Fatal(owner, err)
			}
		}
	})
	b.Run("session/touch", func(b *testing.B) {
		b.ReportAllocs()
		for at := want.Seen; b.Loop(); {
			at = at.Add(time.Millisecond)
			if err := db.Sessions().TouchSession(e.ctx, want.Hash, at); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchVisits(b, e, db, u.ID)
	b.Run("user/store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := db.Users().FindByID(e.ctx, u.ID); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchSockets(b, e, db, u.ID)
	b.Run("hit/one counter", func(b *testing.B) {
		benchHits(b, e, func(int64) string { return "ada@example.com" })
	})
	b.Run("hit/many counters", func(b *testing.B) {
		benchHits(b, e, func(n int64) string { return numbered("user-%d", int(n%1000)) })
	})
}

// benchHits counts from several goroutines and reports writes per second.
func benchHits(b *testing.B, e *env, name func(n int64) string) {
	db := e.pool()
	var n atomic.Int64
	b.SetParallelism(8)
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c := auth.Counter{Kind: "login", Login: name(n.Add(1)), Client: "192.0.2.1"}
			if _, _, err := db.Throttle().Hit(e.ctx, c, e.now, time.Hour); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(n.Load())/time.Since(start).Seconds(), "writes/s")
}

// benchSockets looks up the sessions of a thousand connections: one by one, as each
// connection did for itself, and together. The seconds are those of one look.
func benchSockets(b *testing.B, e *env, db *store.DB, userID string) {
	const connections = 1000
	hashes := make([][]byte, connections)
	for i := range hashes {
		r := e.record(2, userID)
		r.Hash = hash(2, byte(i), byte(i>>8))
		hashes[i] = e.session(db, r).Hash
	}
	b.Run("sockets/one by one", func(b *testing.B) {
		for b.Loop() {
			for _, hash := range hashes {
				if _, err := db.Sessions().FindSession(e.ctx, hash); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("sockets/together", func(b *testing.B) {
		for b.Loop() {
			if found, err := db.Sessions().FindSessions(e.ctx, hashes); err != nil || len(found) != connections {
				b.Fatal(len(found), err)
			}
		}
	})
}

// benchVisits records visits of sixteen people at once: by a statement for each, and by one for all.
func benchVisits(b *testing.B, e *env, db *store.DB, userID string) {
	const people = 1024
	var hashes [][]byte
	for i := range people {
		r := e.record(3, userID)
		r.Hash = hash(3, byte(i), byte(i>>8))
		hashes = append(hashes, e.session(db, r).Hash)
	}
	var next atomic.Int64
	seen := func(n int64) time.Time { return e.now.Add(time.Duration(1+n/people) * time.Minute) }
	b.Run("visits of 16/one by one", func(b *testing.B) {
		b.SetParallelism(16 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				n := next.Add(1)
				if err := db.Sessions().TouchSession(e.ctx, hashes[n%people], seen(n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "visits/s")
	})
	b.Run("visits of 16/together", func(b *testing.B) {
		for b.Loop() {
			n := next.Add(16)
			if err := e.touchAll(db, hashes[n%people/16*16:][:16], seen(n)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(16*float64(b.N)/b.Elapsed().Seconds(), "visits/s")
	})
}
