package auth

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxWaiting is how many questions of one user wait on one host.
const maxWaiting = 32

// errNoTurn is returned when a question had to wait for too long, or too many wait.
var errNoTurn = errors.New("the dispenser is still busy with other questions of this person")

// turns lets the questions of one user about held steps take turns on this host: up to
// room of them are under way, and the others wait in the order in which they came. What
// the turns decide is only who waits; guesses are counted in the shared store.
type turns struct {
	mu    sync.Mutex
	room  int
	users map[string]*line
}

// A line holds the questions of one user.
type line struct {
	asking  int // how much of the room is taken
	waiting []*turn
}

// A turn is one question's place in the line. It belongs to one goroutine.
type turn struct {
	turns *turns
	user  string
	// size is how much of the room the question takes: 1, or all of it.
	size  int
	ready chan struct{}
	// waited reports whether the question had to wait.
	waited bool
}

// take waits for the turn of a question of the user until ctx ends.
func (t *turns) take(ctx context.Context, user string) (*turn, error) {
	mine := &turn{turns: t, user: user, size: 1}
	return mine, mine.wait(ctx)
}

// alone gives the turn back and waits until no other question of the user is under way.
func (m *turn) alone(ctx context.Context) error {
	m.release()
	m.size = m.turns.room
	return m.wait(ctx)
}

// crowded reports whether another question of the user is under way or waits.
func (m *turn) crowded() bool {
	m.turns.mu.Lock()
	defer m.turns.mu.Unlock()
	l := m.turns.users[m.user]
	return l.asking > m.size || len(l.waiting) > 0
}

func (m *turn) wait(ctx context.Context) error {
	if m.enter() {
		return nil
	}
	if m.ready == nil {
		m.size = 0
		return errNoTurn
	}
	m.waited = true
	select {
	case <-m.ready:
		return nil
	case <-ctx.Done():
	}
	m.turns.mu.Lock()
	l := m.turns.users[m.user]
	if i := slices.Index(l.waiting, m); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		m.turns.admit(m.user)
		m.size = 0
		m.turns.mu.Unlock()
		return errors.Join(errNoTurn, ctx.Err())
	}
	m.turns.mu.Unlock()
	return nil // the turn came at the same moment
}

// enter takes the turn if it is there. Otherwise it queues, unless too many wait.
func (m *turn) enter() bool {
	t := m.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.users[m.user]
	if l == nil {
		l = &line{}
		t.users[m.user] = l
	}
	m.ready = nil
	switch {
	case len(l.waiting) == 0 && l.asking+m.size <= t.room:
		l.asking += m.size
		return true
	case len(l.waiting) < maxWaiting:
		m.ready = make(chan struct{})
		l.waiting = append(l.waiting, m)
	}
	return false
}

// release ends the turn. It does nothing for a question that has none.
func (m *turn) release() {
	m.turns.mu.Lock()
	defer m.turns.mu.Unlock()
	if m.size == 0 {
		return
	}
	m.turns.users[m.user].asking -= m.size
	m.size = 0
	m.turns.admit(m.user)
}

// admit lets those at the head of the line in, and forgets a line that is empty. The
// caller holds the lock.
func (t *turns) admit(user string) {
	l := t.users[user]
	for len(l.waiting) > 0 && l.asking+l.waiting[0].size <= t.room {
		l.asking += l.waiting[0].size
		close(l.waiting[0].ready)
		l.waiting = l.waiting[1:]
	}
	if l.asking == 0 && len(l.waiting) == 0 {
		delete(t.users, user)
	}
}
