package neighbours

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sys/unix"
)

// mostRight is how often a classifier may be right about who is known: half of the guesses are.
const mostRight = 0.55

// guess is one failed sign-in as its sender saw it.
type guess struct {
	kind  string // how the password of the person is stored; "unknown" for nobody
	wall  time.Duration
	cpu   time.Duration // of the host's process meanwhile; told only where nothing else ran
	known bool
}

// TestFailedSignInsTellNobodyApart is no part of `make test`: it takes a quarter of an hour and measures time. It sends
// TIMING_GUESSES failed sign-ins to the real command, one, four and sixteen at once, half of them with names that
// nobody has, and lets classifiers learn from the time of each, and from the processor time of the host's process, who
// is known.
func TestFailedSignInsTellNobodyApart(t *testing.T) {
	total, err := strconv.Atoi(os.Getenv("TIMING_GUESSES"))
	if err != nil {
		t.Skip("`make -C internal timing` sets TIMING_GUESSES")
	}
	h := startGuessed(t)
	var all [][]guess
	for _, parallel := range []int{1, 4, 16} {
		all = append(all, h.guess(t, total/3, parallel))
	}
	wall := func(g guess) float64 { return g.wall.Seconds() }
	var pooled []sample
	t.Log("| In parallel | What is seen | Guesses | threshold | regression | neighbours |")
	for i, parallel := range []int{1, 4, 16} {
		list := samples(all[i], wall)
		pooled = append(pooled, list...)
		judgeGuesses(t, fmt.Sprintf("%d | time", parallel), list, false)
		if parallel == 1 {
			judgeGuesses(t, "1 | processor", samples(all[i], func(g guess) float64 { return g.cpu.Seconds() }), false)
		}
	}
	judgeGuesses(t, "all | time", pooled, true)
	for _, kind := range append(kinds(), "unknown") {
		var n int
		var times, cpus time.Duration
		for _, g := range all[0] {
			if g.kind == kind {
				n, times, cpus = n+1, times+g.wall, cpus+g.cpu
			}
		}
		if n > 0 {
			t.Logf("one at a time, %s: %d guesses, %v on average, %v of the processor", kind, n, (times / time.Duration(n)).Round(10*time.Microsecond), (cpus / time.Duration(n)).Round(10*time.Microsecond))
		}
	}
}

// samples are what a classifier sees of guesses: a number each, as a rank from 0 to 1 among those sent the same way, so
// that all ways can be put together.
func samples(list []guess, of func(guess) float64) []sample {
	out := make([]sample, len(list))
	for i, g := range list {
		out[i] = sample{of(g), g.known}
	}
	rank(out)
	return out
}

// judgeGuesses prints how often each classifier is right, and holds it to mostRight where there are enough guesses to
// tell that from luck.
func judgeGuesses(t *testing.T, name string, list []sample, hold bool) {
	t.Helper()
	var cells []string
	for _, c := range []struct {
		name  string
		train func([]sample) func(float64) bool
	}{{"threshold", threshold}, {"regression", regression}, {"neighbours", nearest}} {
		right := crossValidate(list, c.train)
		cells = append(cells, fmt.Sprintf("%.1f %%", 100*right))
		if hold && right > mostRight {
			t.Errorf("SHORT %s: %s is right in %.1f %% of the cases", name, c.name, 100*right)
		}
	}
	t.Logf("| %s | %d | %s |", name, len(list), strings.Join(cells, " | "))
}

// kinds are the ways in which passwords are stored here.
func kinds() []string { return []string{"bcrypt 10", "bcrypt 12", "argon2id", "none", "disabled"} }

// people of each kind, so that names come seldom enough for no throttle.
const ofEachKind = 40

// startGuessed starts the real command with people of all kinds, and its defaults but for what would refuse so many
// guesses: the throttle, and how long one may wait.
func startGuessed(t *testing.T) *running {
	t.Helper()
	dir := t.TempDir()
	h := &running{driver: "sqlite"}
	h.start(t, dir, fmt.Sprintf(`
server { address = "127.0.0.1:0" }
database {
  dsn  = %q
  wait = "10m"
}
auth {
  throttle {
    attempts        = 1000000
    client_attempts = 1000000
  }
  password { hash = "keep" }
}
mail { transport = "log" }
route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/"
}
`, filepath.Join(dir, "app.db")), func() { addPeople(t, filepath.Join(dir, "app.db")) })
	return h
}

func addPeople(t *testing.T, dsn string) {
	t.Helper()
	db, err := sqlx.Open("sqlite", dsn+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var argon string
	if err := db.Get(&argon, `SELECT password FROM users WHERE email = ?`, login); err != nil {
		t.Fatal(err)
	}
	stored := map[string]string{"argon2id": argon, "none": "", "disabled": argon}
	for _, cost := range []int{10, 12} {
		b, err := bcrypt.GenerateFromPassword([]byte(password), cost)
		if err != nil {
			t.Fatal(err)
		}
		stored[fmt.Sprint("bcrypt ", cost)] = string(b)
	}
	for _, kind := range kinds() {
		for i := range ofEachKind {
			name := nameOf(kind, i)
			if _, err := db.Exec(`INSERT INTO users (name, email, password) VALUES (?, ?, ?)`, name, name, stored[kind]); err != nil {
				t.Fatal(err)
			}
			if kind != "disabled" {
				continue
			}
			if _, err := db.Exec(`INSERT INTO vestibule_disabled_users (user_id, since) SELECT id, 1 FROM users WHERE email = ?`, name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func nameOf(kind string, i int) string {
	return fmt.Sprintf("%s-%02d@example.com", strings.ReplaceAll(kind, " ", ""), i)
}

// guess sends n failed sign-ins, so many at once, in a random order of kinds.
func (h *running) guess(t *testing.T, n, parallel int) []guess {
	t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(parallel)))
	list := make([]guess, n)
	for i := range list {
		list[i] = guess{kind: "unknown"}
		if i%2 == 0 {
			list[i] = guess{kind: kinds()[i/2%len(kinds())], known: true}
		}
	}
	random.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	next := make(chan int)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			c := client(attacker)
			for i := range next {
				h.guessOne(t, c, &list[i], i)
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	return list[parallel:] // the first ones met an empty host
}

func (h *running) guessOne(t *testing.T, c *http.Client, g *guess, i int) {
	body := fmt.Sprintf(`{"login":%q,"password":"a wrong password %d"}`, nameOf(g.kind, i%ofEachKind), i)
	before, start := processorTime(t, h.pid), time.Now()
	resp, err := c.Post(h.base+"/auth/login", "application/json", strings.NewReader(body))
	g.wall = time.Since(start)
	if err != nil {
		t.Error(err)
		return
	}
	_ = resp.Body.Close()
	g.cpu = processorTime(t, h.pid) - before
	if resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("%s: %s", g.kind, resp.Status)
	}
}

// processorTime is what a process has used, to the nanosecond: its clock, as clock_getcpuclockid(3) names it.
func processorTime(t *testing.T, pid int) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|2, &ts); err != nil {
		t.Error(err)
	}
	return time.Duration(ts.Nano())
}
