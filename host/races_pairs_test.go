package host_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every pair of operations is run with the one stopped before each of its statements in
// turn while the other runs as far as locks let it, and then with both waiting for a
// row that a third connection holds. Whatever the order of statements, contract 4 must
// hold afterwards, and the end must be one that the operations could have had one
// after the other.
//
// SQLite runs every pair. PostgreSQL and MariaDB run a third each, without a pair in
// common: RACING_SEED chooses them, and RACING=all runs every pair on each database.
func TestRacingPairs(t *testing.T) {
	third := racingThirds(t)
	for name, engine := range raceEngines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRaceRig(t, engine(t))
			for i, p := range racingPairs() {
				if !third(name, i) {
					continue
				}
				x, y := p[0], p[1]
				t.Run(x.name+" and "+y.name, func(t *testing.T) {
					pair := racingPair{raceRig: r, t: t, x: x, y: y, serial: map[string]bool{}}
					pair.stepByStep()
					pair.behindLocks()
				})
			}
		})
	}
}

// racingPairs returns the pairs of operations that may get in each other's way.
func racingPairs() (pairs [][2]operation) {
	for _, x := range operations() {
		for _, y := range operations() {
			if x.races(y) {
				pairs = append(pairs, [2]operation{x, y})
			}
		}
	}
	return pairs
}

// racingThirds returns a function that reports whether an engine runs the pair with the
// index i. It logs the seed, which RACING_SEED repeats.
func racingThirds(t *testing.T) func(engine string, i int) bool {
	t.Helper()
	thirds := map[string]int{"postgres": 0, "mysql": 1}
	if os.Getenv("RACING") == "all" {
		return func(string, int) bool { return true }
	}
	seed := rand.Uint64()
	if text := os.Getenv("RACING_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("RACING_SEED: %v", err)
		}
	}
	t.Logf("the pairs on servers are those of RACING_SEED=%d; RACING=all runs every pair", seed)
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(racingPairs()))
	return func(engine string, i int) bool {
		third, server := thirds[engine]
		return !server || order[i]%3 == third
	}
}

type racingPair struct {
	*raceRig
	t    *testing.T
	x, y operation
	// serial are the ends that the two have one after the other, in either order.
	serial map[string]bool
}

// stepByStep stops x before its first step, so that y comes first, and so on until x
// ends before it stops, so that it comes first.
func (p racingPair) stepByStep() {
	type racedCase struct {
		where string
		scene *scene
		end   end
	}
	var cases []racedCase
	for stopped, step := true, 1; stopped; step++ {
		s := p.scene(p.x.disabled || p.y.disabled)
		x, y := newActor(step), newActor(0)
		first := p.start(s, p.x, x, 0)
		var results [2]result
		select {
		case <-x.reached:
			second := p.start(s, p.y, y, 1)
			waiting := 0
			if step == 1 { // x holds nothing yet
				waiting = math.MaxInt
			}
			p.settle(second, waiting, x, y)
			close(x.resume)
			results = [2]result{<-first, <-second}
		case results[0] = <-first:
			stopped = false
			results[1] = <-p.start(s, p.y, y, 1)
		}
		where := fmt.Sprintf("%s stopped before step %d (%s)", p.x.name, step, x.step(step))
		cases = append(cases, racedCase{where, s, s.observe(results)})
	}
	p.serial[cases[0].end.String()] = true
	p.serial[cases[len(cases)-1].end.String()] = true
	for _, c := range cases {
		p.judge(c.where, c.scene, c.end)
	}
}

// behindLocks lets both come as far as a row that is held, and gives it back then.
func (p racingPair) behindLocks() {
	rows := []struct{ name, query string }{
		{"user", `SELECT id FROM users WHERE email = ? FOR UPDATE`},
		{"device", `SELECT selector FROM vestibule_remember_tokens WHERE selector = ? FOR UPDATE`},
		{"session", `SELECT hash FROM vestibule_sessions WHERE hash = ? FOR UPDATE`},
	}
	if p.engine.waits == "" { // one lock for all
		rows = rows[:1]
	}
	for i, row := range rows {
		s := p.scene(p.x.disabled || p.y.disabled)
		x, y, holder := newActor(0), newActor(0), newActor(0)
		holder.transaction(true)
		release := p.hold(row.query, []any{s.email, s.laptop.selector, s.laptop.hash}[i])
		first := p.start(s, p.x, x, 0)
		waiting := 0
		if !p.settle(first, 0, holder, x) {
			waiting = 1
		}
		second := p.start(s, p.y, y, 1)
		p.settle(second, waiting, holder, y)
		release()
		end := s.observe([2]result{<-first, <-second})
		p.judge(fmt.Sprintf("%s first, the row of the %s held", p.x.name, row.name), s, end)
	}
}

// hold takes the lock of a row over a connection of its own.
func (p racingPair) hold(query string, key any) (release func()) {
	p.t.Helper()
	tx, err := p.ground.Writer().Beginx()
	if err == nil && p.engine.waits != "" {
		_, err = tx.Exec(p.bind(query), key)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}

// start carries an operation out beside the test.
func (p racingPair) start(s *scene, op operation, a *actor, on int) <-chan result {
	ch := make(chan result, 1)
	ctx, cancel := context.WithTimeout(a.context(p.t.Context()), time.Minute)
	go func() {
		defer cancel()
		ch <- op.run(s, ctx, on)
	}()
	return ch
}

// settle waits until a's operation has ended, which it reports, or waits for a lock
// that the holder has; waiting is how many others may do so at the same time.
func (p racingPair) settle(ch <-chan result, waiting int, holder, a *actor) bool {
	p.t.Helper()
	for len(ch) == 0 {
		if p.waits(holder, a) > waiting {
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
	return true
}

func (p racingPair) waits(holder, a *actor) int {
	p.t.Helper()
	n := 0
	if p.engine.waits != "" {
		if err := p.ground.Reader().Get(&n, p.engine.waits); err != nil {
			p.t.Fatal(err)
		}
		return n
	}
	held, _ := holder.state()
	_, running := a.state()
	if held && running != "" && !strings.HasPrefix(running, "SELECT") {
		return 2
	}
	return 0
}
