package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A town is a database with many people, and two hosts on it. It asks what the number of people changes.
type town struct {
	*bench
	store *store.DB
	hosts [2]*contestant
	// cookies are the sessions of those who have signed in.
	cookies []string
	logins  int
	// own tells that this process does the work, and not a host.
	own bool
}

// people serves sign-in and one guarded page.
func people(ctx context.Context, name, dsn string) (o host.Options, err error) {
	db, _, err := open(ctx, name, dsn)
	if err != nil {
		return o, err
	}
	o = host.Options{Store: db, Routes: []host.Route{
		{Name: "home", Path: "/", Redirect: "/x", Guard: host.GuardNone}, {Name: "dashboard", Path: "/dashboard", Redirect: "/x"},
	}}
	o.Auth.Attempts = 1 << 30
	return o, nil
}

// peopleData starts an empty database that writes to disk as one in production does.
func (s settings) peopleData(db string) (string, error) {
	switch db {
	case "sqlite":
		file, err := filepath.Abs(filepath.Join(s.dir, "people.db"))
		if err != nil {
			return "", err
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return "", err
			}
		}
		return file, os.MkdirAll(s.dir, 0o755)
	case "postgres":
		return dbtest.Start("postgres", "-c", "shared_buffers=512MB", "-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "full_page_writes=on", "-c", "max_wal_size=4GB")
	case "mariadb":
		return dbtest.Start("mysql", "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=512M", "--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1")
	}
	return "", errors.New("there are sqlite, postgres and mariadb")
}

// peopled measures a database with few people and with many.
func (s settings) peopled(ctx context.Context, db string) (err error) {
	if s.dsn, err = s.peopleData(db); err != nil {
		return err
	}
	s.db = db
	t := &town{bench: &bench{settings: s, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}}
	if t.store, _, err = open(ctx, db, s.dsn); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.store.Close()) }()
	if _, err := t.store.Migrate(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx, 0, fewPeople); err != nil {
		return err
	}
	for i := range t.hosts {
		if t.hosts[i], err = t.startContestant("people"); err != nil {
			return err
		}
		defer t.hosts[i].stop()
	}
	if t.server, err = findServer(db, s.dsn); err != nil {
		return err
	}
	fmt.Printf("%s; µs of processor time per request: host + database (answered in), bytes of log\n", db)
	if err := t.day(ctx, fewPeople); err != nil {
		return err
	}
	start := time.Now()
	if err := t.settle(ctx, fewPeople, s.people); err != nil {
		return err
	}
	sizes, err := t.sizes(ctx)
	fmt.Printf("filled in %.0f s; %s\n", time.Since(start).Seconds(), sizes)
	if err != nil {
		return err
	}
	if err := t.day(ctx, s.people); err != nil {
		return err
	}
	return t.together(ctx)
}

// fewPeople is how many there are at first.
const fewPeople = 100

// day lets some people sign in, come back, and leave.
func (t *town) day(ctx context.Context, people int) error {
	t.cookies, t.logins = nil, 0
	const visitors = 30 // so that the log of SQLite is not begun anew
	for _, step := range []struct {
		name string
		n    int
		do   func() error
	}{
		{"sign-in", visitors, func() error { return t.signsIn(people) }},
		{"guarded page", 10 * visitors, func() error { return t.visits(0, http.MethodGet, "/dashboard") }},
		{"the same on the other host", 10 * visitors, func() error { return t.visits(1, http.MethodGet, "/dashboard") }},
		{"guarded page, first of five minutes", visitors, func() error { return t.visits(0, http.MethodGet, "/dashboard") }},
		{"sign-out", visitors, func() error { return t.visits(0, http.MethodPost, "/logout") }},
	} {
		if strings.Contains(step.name, "minutes") {
			if err := t.minutesLater(ctx); err != nil {
				return err
			}
		}
		if err := t.step(ctx, fmt.Sprintf("%9d people: %s", people, step.name), step.n, step.do); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return t.swept(ctx, people)
}

// step prints what something costs that is done a number of times.
func (t *town) step(ctx context.Context, name string, n int, do func() error) error {
	log, err := t.logged(ctx, true)
	if err != nil {
		return err
	}
	before, err := t.worked()
	if err != nil {
		return err
	}
	server, begin := t.server.used(), time.Now()
	for range n {
		if err := do(); err != nil {
			return err
		}
	}
	wall, used := time.Since(begin), t.server.used().since(server)
	after, err := t.worked()
	if err != nil {
		return err
	}
	now, err := t.logged(ctx, false)
	each := func(v float64) float64 { return v / float64(n) }
	written := fmt.Sprintf("%.0f", each(float64(now-log)))
	if t.db == "sqlite" && now > 4_000_000 {
		written = "-" // it was begun anew
	}
	fmt.Printf("%-52s %7.0f + %6.0f (%7.0f) %8s\n", name, each(float64(after-before)), each(used), each(float64(wall.Microseconds())), written)
	return err
}

// worked is the processor time in µs of both hosts, or of this process.
func (t *town) worked() (cpu int, err error) {
	if t.own {
		var u syscall.Rusage
		err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return int((u.Utime.Nano() + u.Stime.Nano()) / 1000), err
	}
	for _, h := range t.hosts {
		n, _, err := t.usage(h)
		if err != nil {
			return 0, err
		}
		cpu += n
	}
	return cpu, nil
}

// signsIn signs in the next person.
func (t *town) signsIn(people int) error {
	t.logins++
	n := 1 + (t.logins*7919)%people
	resp, err := t.client.Post(t.hosts[0].base+"/auth/login", "application/json", strings.NewReader(fmt.Sprintf(`{"login":"u%d@example.com","password":%q}`, n, secret)))
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		return fmt.Errorf("sign in: %s", resp.Status)
	}
	t.cookies = append(t.cookies, resp.Cookies()[0].Name+"="+resp.Cookies()[0].Value)
	return nil
}

// visits sends a request of the next of those who have signed in.
func (t *town) visits(at int, method, path string) error {
	cookie := t.cookies[0]
	t.cookies = append(t.cookies[1:], cookie)
	return t.visit(t.hosts[at], method, path, cookie)
}

func (t *town) visit(h *contestant, method, path, cookie string) error {
	req, err := http.NewRequest(method, h.base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Origin", h.base)
	resp, err := t.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing in it is needed
	if to := resp.Header.Get("Location"); method == http.MethodGet && to != "/x" || resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s, to %q", method, path, resp.Status, to)
	}
	return nil
}
