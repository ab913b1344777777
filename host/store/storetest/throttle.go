package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func throttleRules() []rule {
	return []rule{
		{"attempts are counted in the window of the first", attemptsAreCounted},
		{"a counter whose window is over starts again", windowStartsAgain},
		{"counters are apart by kind, login and client", countersAreApart},
		{"an attempt taken back does not count", undoneAttempt},
		{"a cleared counter starts again", clearedCounter},
		{"of parallel attempts over several hosts exactly five are granted", exactlyFive},
		{"mails are spaced further and further until one was long ago", mailsAreSpaced},
		{"of parallel mails over several hosts one is granted", oneMail},
		{"any login name can be counted", anyLoginName},
		{"the operator sees open counters and clears them", operatorClears},
		{"a counter that no time ends goes on for years", countsForYears},
		{"counters of unknown names are bounded, those with the fewest failures go first", unknownNamesAreBounded},
		{"of several hosts that make a secret one does", oneSecret},
	}
}

const window = time.Minute

var login = auth.Counter{Kind: "login", Login: "ada@example.com", Client: "192.0.2.1"}

// hit counts and compares.
func (e *env) hit(db *store.DB, c auth.Counter, now time.Time, count int, ends time.Time) {
	e.Helper()
	gotCount, gotEnds, err := db.Throttle().Hit(e.ctx, c, now, window)
	if err != nil || gotCount != count || !gotEnds.Equal(ends) {
		e.Errorf("hit: count %d until %v, %v; want %d until %v", gotCount, gotEnds, err, count, ends)
	}
}

func attemptsAreCounted(_ *testing.T, e *env, db *store.DB) {
	ends := e.now.Add(window)
	for i := range 7 {
		e.hit(db, login, e.now.Add(time.Duration(i)*time.Second), i+1, ends)
	}
}

func windowStartsAgain(_ *testing.T, e *env, db *store.DB) {
	for i := range 3 {
		start := e.now.Add(time.Duration(i) * window)
		e.hit(db, login, start, 1, start.Add(window))
		e.hit(db, login, start.Add(window-time.Millisecond), 2, start.Add(window))
	}
}

var spacing = auth.Spacing{First: time.Minute, Longest: 4 * time.Minute, Forget: time.Hour}

func mailsAreSpaced(_ *testing.T, e *env, db *store.DB) {
	c, now := auth.Counter{Kind: "resend", Login: "ada@example.com"}, e.now
	for i, step := range []struct {
		after   time.Duration
		granted bool
	}{
		{0, true},
		{59 * time.Second, false},
		{time.Second, true},
		{time.Minute, false},
		{time.Minute, true},
		{4*time.Minute - 1*time.Millisecond, false},
		{time.Millisecond, true},
		{4 * time.Minute, true},
		{time.Hour, true},
		{time.Minute, true},
		{time.Minute, false},
	} {
		now = now.Add(step.after)
		granted, err := db.Throttle().Space(e.ctx, c, now, spacing)
		if err != nil || granted != step.granted {
			e.Errorf("step %d: granted %v, %v; want %v", i, granted, err, step.granted)
		}
	}
}

func oneMail(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	for round := range rounds() {
		now := e.now.Add(time.Duration(round) * 10 * time.Minute)
		granted := e.wins(pools, func(_ int, db *store.DB) (bool, error) {
			return db.Throttle().Space(e.ctx, auth.Counter{Kind: "resend"}, now, spacing)
		})
		if granted != 1 {
			t.Fatalf("round %d: %d mails were granted, want 1", round, granted)
		}
	}
}

func countersAreApart(_ *testing.T, e *env, db *store.DB) {
	for _, c := range []auth.Counter{
		{Kind: "login", Login: "a", Client: "b"},
		{Kind: "reset", Login: "a", Client: "b"},
		{Kind: "login", Login: "A", Client: "b"},
		{Kind: "login", Login: "a ", Client: "b"},
		{Kind: "login", Login: "a"},
		{Kind: "login", Client: "a"},
		{Kind: "login", Login: "ab"},
		{Kind: "login"},
	} {
		e.hit(db, c, e.now, 1, e.now.Add(window))
	}
}

func undoneAttempt(_ *testing.T, e *env, db *store.DB) {
	ends := e.now.Add(window)
	e.hit(db, login, e.now, 1, ends)
	e.hit(db, login, e.now.Add(time.Second), 2, ends)
	e.must(db.Throttle().Undo(e.ctx, login))
	e.hit(db, login, e.now.Add(2*time.Second), 2, ends)
	for range 3 { // one too many is none
		e.must(db.Throttle().Undo(e.ctx, login))
	}
	later := e.now.Add(10 * time.Second) // without attempts there is no window
	e.hit(db, login, later, 1, later.Add(window))
}

func clearedCounter(_ *testing.T, e *env, db *store.DB) {
	for i := range 2 {
		e.must(db.Throttle().Clear(e.ctx, login)) // that there is none is no error
		later := e.now.Add(time.Duration(i) * time.Second)
		e.hit(db, login, later, 1, later.Add(window))
	}
}

func exactlyFive(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	for round := range rounds() {
		c := auth.Counter{Kind: "login", Login: numbered("user-%d", round), Client: "192.0.2.1"}
		counts := make([]int, callers)
		granted := e.wins(pools, func(i int, db *store.DB) (bool, error) {
			count, _, err := db.Throttle().Hit(e.ctx, c, e.now, window)
			counts[i] = count
			return count <= 5, err
		})
		if granted != 5 {
			t.Fatalf("round %d: %d attempts were granted, want 5", round, granted)
		}
		slices.Sort(counts)
		if counts[0] != 1 || counts[callers-1] != callers || len(slices.Compact(counts)) != callers {
			t.Fatalf("round %d: counts %v", round, counts)
		}
	}
}

func anyLoginName(_ *testing.T, e *env, db *store.DB) {
	for _, name := range []string{"nul\x00", "bad\xff", "日本語", string(make([]byte, 5000)), "x'; --"} {
		c := auth.Counter{Kind: "login", Login: name, Client: "2001:db8::/64"}
		e.hit(db, c, e.now, 1, e.now.Add(window))
		e.hit(db, c, e.now, 2, e.now.Add(window))
	}
}

func operatorClears(t *testing.T, e *env, db *store.DB) {
	other := auth.Counter{Kind: "reset", Client: "192.0.2.9"}
	over := auth.Counter{Kind: "login", Login: "old@example.com"}
	e.hit(db, login, e.now, 1, e.now.Add(window))
	e.hit(db, login, e.now, 2, e.now.Add(window))
	e.hit(db, other, e.now, 1, e.now.Add(window))
	e.hit(db, over, e.now.Add(-window), 1, e.now)
	e.hit(db, auth.Counter{Kind: "held", Login: "K7Q"}, e.now, 1, e.now.Add(window))
	if n, err := db.ClearCounters(e.ctx, "nobody@example.com", "K7Q"); err != nil || n != 1 {
		t.Errorf("clearing by the id of a user cleared %d, %v; want 1", n, err)
	}
	got, err := db.ListCounters(e.ctx, 10)
	e.must(err)
	want := []store.CounterInfo{
		{Counter: login, Count: 2, Ends: e.now.Add(window)},
		{Counter: other, Count: 1, Ends: e.now.Add(window)},
	}
	e.equal(want, got)
	for _, c := range []struct {
		login string
		n     int
	}{{"nobody@example.com", 0}, {"ada@example.com", 1}, {"", 2}} {
		names := []string{c.login}
		if c.login == "" {
			names = nil
		}
		if n, err := db.ClearCounters(e.ctx, names...); err != nil || n != c.n {
			t.Errorf("clearing %q cleared %d, %v; want %d", c.login, n, err, c.n)
		}
	}
	e.hit(db, login, e.now, 1, e.now.Add(window))
}

func countsForYears(_ *testing.T, e *env, db *store.DB) {
	const never = 100 * 365 * 24 * time.Hour
	c := auth.Counter{Kind: "password", Login: "7"}
	for i := range 3 {
		now := e.now.Add(time.Duration(i) * 3 * 365 * 24 * time.Hour)
		count, ends, err := db.Throttle().Hit(e.ctx, c, now, never)
		if err != nil || count != i+1 || !ends.Equal(e.now.Add(never)) {
			e.Errorf("after %d years: count %d until %v, %v", 3*i, count, ends, err)
		}
		if n, err := db.Sweep(e.ctx, now, store.Retention{}); err != nil || n != 0 {
			e.Errorf("swept %d, %v", n, err)
		}
	}
}

func unknownNamesAreBounded(_ *testing.T, e *env, db *store.DB) {
	hit := func(kind, login string, n int, at time.Time) {
		for range n {
			if _, _, err := db.Throttle().Hit(e.ctx, auth.Counter{Kind: kind, Login: login}, at, 1000*time.Hour); err != nil {
				e.Fatal(err)
			}
		}
	}
	for i, n := range []int{2, 100, 1, 1, 3} {
		hit(auth.CountUnknown, numbered("name-%d", i), n, e.now.Add(time.Duration(i)*time.Second))
	}
	hit("password", "7", 1, e.now) // of somebody known
	for _, n := range []int{1, 1, 0} {
		if got, err := db.Sweep(e.ctx, e.now, store.Retention{Unknown: 3, Batch: 1}); err != nil || got != n {
			e.Errorf("swept %d, %v; want %d", got, err, n)
		}
	}
	got, err := db.ListCounters(e.ctx, 10)
	e.must(err)
	var names []string
	for _, c := range got {
		names = append(names, c.Login)
	}
	e.equal([]string{"name-1", "name-4", "name-0", "7"}, names)
}

func oneSecret(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	secrets := make([][]byte, callers)
	won := e.wins(pools, func(i int, db *store.DB) (bool, error) {
		fresh := []byte(numbered("secret-%d", i))
		var err error
		secrets[i], err = db.Secret(e.ctx, "known", fresh)
		return string(secrets[i]) == string(fresh), err
	})
	if won != 1 {
		t.Errorf("%d secrets were made, want 1", won)
	}
	for _, s := range secrets {
		if string(s) != string(secrets[0]) {
			t.Errorf("one host has %s, another %s", s, secrets[0])
		}
	}
	if other, err := db.Secret(e.ctx, "other", []byte("x")); err != nil || string(other) != "x" {
		t.Errorf("another name: %q, %v", other, err)
	}
}
