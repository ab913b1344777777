package session

import (
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/sessions"
)

// Bounds of what is remembered: how many records in each of two generations, and how many bytes of values a record has.
const (
	maxKnown     = 8 << 10
	maxKnownData = 1 << 10
)

// known are the last records that were read. They open nothing: whoever uses one finds out first that its row is still
// like that.
type known struct {
	mu        sync.Mutex
	now, past map[string]Record
}

func (k *known) find(hash string) (Record, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rec, ok := k.now[hash]
	if !ok {
		if rec, ok = k.past[hash]; ok {
			k.put(hash, rec)
		}
	}
	return rec, ok
}

func (k *known) add(rec Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	hash := string(rec.Hash)
	if old, ok := k.now[hash]; !ok || old.Version != rec.Version || !old.Seen.Equal(rec.Seen) || !old.Expires.Equal(rec.Expires) {
		k.put(hash, rec)
	}
}

func (k *known) put(hash string, rec Record) {
	if k.now == nil || len(k.now) >= maxKnown {
		k.past, k.now = k.now, map[string]Record{}
	}
	k.now[hash] = rec
}

func (k *known) drop(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.now, hash)
	delete(k.past, hash)
}

// Presume returns the record that the request's cookie had when it was last remembered. It waits for nothing, and tells
// nothing about now: the row may be gone or changed. ok is false where none is remembered, and where New would touch it.
func (s *Store) Presume(r *http.Request) (rec Record, ok bool) {
	hash, ok := s.cookieHash(r)
	if !ok {
		return Record{}, false
	}
	rec, ok = s.known.find(string(hash))
	now := s.o.Now()
	return rec, ok && !s.over(rec, now) && !s.due(rec, now)
}

// Remember keeps the record of a session for Presume: the last 8,192 at least, and none whose values take more than 1 KiB.
func (s *Store) Remember(sess *sessions.Session) {
	if rec, ok := RecordOf(sess); ok && len(rec.Data) <= maxKnownData {
		s.known.add(rec)
	}
}

// Forget forgets what is remembered of the request's cookie.
func (s *Store) Forget(r *http.Request) {
	if hash, ok := s.cookieHash(r); ok {
		s.known.drop(string(hash))
	}
}

// due reports whether a visit has to be noted.
func (s *Store) due(rec Record, now time.Time) bool {
	return now.Sub(rec.Seen) >= min(time.Minute, s.o.Idle/20)
}
