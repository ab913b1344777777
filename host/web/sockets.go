package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// How often the sessions and tokens of all connections are looked up, and how often in a row
// the answer may fail to come. Together they keep the promise that a connection
// ends within five seconds of its session.
const (
	sessionCheck    = 1200 * time.Millisecond
	unansweredLimit = 3
	// checkBatch is how many one question is about: one that fails leaves the
	// others their answers.
	checkBatch = 512
)

// Sockets are the connections that end with the sessions and tokens that opened
// them, which are looked up together. They are safe for concurrent use.
type Sockets struct {
	alive func(ctx context.Context, who []auth.Principal) ([]bool, error)

	mu      sync.Mutex
	openers map[string]*opener // by Principal.CameBy
	watched bool
}

// An opener is who opened connections, with what ends them.
type opener struct {
	who        auth.Principal
	unanswered int
	ends       map[*func()]struct{}
}

// NewSockets returns sockets. alive reports for each of those who opened some whether
// what they came in by still lasts.
func NewSockets(alive func(ctx context.Context, who []auth.Principal) ([]bool, error)) *Sockets {
	return &Sockets{alive: alive, openers: map[string]*opener{}}
}

// EndWith calls end once the session or token of who is signed in is over, or once nobody can tell, unless leave
// has been called before.
func (s *Sockets) EndWith(who auth.Principal, end func()) (leave func()) {
	key, mark := who.CameBy(), &end
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.openers[key]
	if one == nil {
		one = &opener{who: who, ends: map[*func()]struct{}{}}
		s.openers[key] = one
	}
	one.ends[mark] = struct{}{}
	if !s.watched {
		s.watched = true
		go s.watch()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(one.ends, mark)
		if len(one.ends) == 0 && s.openers[key] == one {
			delete(s.openers, key)
		}
	}
}

// watch looks up who opened connections until there is nobody.
func (s *Sockets) watch() {
	ticker := time.NewTicker(sessionCheck)
	defer ticker.Stop()
	for range ticker.C {
		s.mu.Lock()
		var who []auth.Principal
		for _, one := range s.openers {
			who = append(who, one.who)
		}
		s.watched = len(who) > 0
		s.mu.Unlock()
		if len(who) == 0 {
			return
		}
		s.check(who)
	}
}

// check looks them up, and ends the connections of those whose session or token is
// over.
func (s *Sockets) check(who []auth.Principal) {
	ctx, cancel := context.WithTimeout(context.Background(), sessionCheck)
	defer cancel()
	for batch := range slices.Chunk(who, checkBatch) {
		alive, err := s.alive(ctx, batch)
		for i, one := range batch {
			for _, end := range s.judge(one.CameBy(), err == nil, err == nil && alive[i]) {
				end()
			}
		}
	}
}

// judge returns what ends the connections of an opener, nothing while they last.
func (s *Sockets) judge(key string, answered, alive bool) (ends []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.openers[key]
	switch {
	case one == nil:
		return nil
	case alive:
		one.unanswered = 0
		return nil
	case !answered:
		one.unanswered++
		if one.unanswered < unansweredLimit {
			return nil
		}
	}
	delete(s.openers, key)
	for end := range one.ends {
		ends = append(ends, *end)
	}
	return ends
}
