package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// swapConfig has a set whose changes order-rules judges, and one without rules. The program, its checksum and the database are
// filled in.
const swapConfig = `
database {
  driver = %q
  dsn    = %q
}
route "home" {
  path = "/"
  file = "home.html"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/"
}
plugin "order-rules" {
  command = [%q]
  sha256  = %q
  roles   = ["validator"]
  timeout = "30s"
}
odata {
  entity_set "Orders" {
    table = "orders"
    write {
      create    = true
      update    = true
      delete    = true
      filter    = "true"
      version   = "version"
      set       = { created_by = "@user_id" }
      validator = "order-rules"
    }
  }
  entity_set "Notes" {
    table = "notes"
    write {
      create = true
      filter = "true"
    }
  }
}
`

// Eight clients create, change and delete orders while the program that judges them is replaced ten times. Each write has the
// answer that the rules give, the first time that it is sent, and the tables hold exactly what was answered as done.
func TestSwapOfAValidatorLosesNoWrite(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			const people, swaps, between = 8, 10, 60
			s := newSwapSite(t, dialect, "")
			var done atomic.Int64
			var all sync.WaitGroup
			var over atomic.Bool
			clients := make([]*swapClient, people)
			for n := range clients {
				clients[n] = &swapClient{swapSite: s, name: fmt.Sprintf("c%d", n), random: rand.New(rand.NewPCG(7, uint64(n)))}
				all.Go(func() {
					for !over.Load() && clients[n].write() {
						done.Add(1)
					}
				})
			}
			defer all.Wait()
			defer over.Store(true)
			for n := range swaps {
				s.waitUntil("clients do not write", func() bool { return done.Load() >= int64(n*between) })
				s.swap(n + 1)
			}
			s.waitUntil("clients do not write", func() bool { return done.Load() >= swaps*between })
			over.Store(true)
			all.Wait()
			s.compare(clients)
		})
	}
}

// A swapSite is a host on a database, with the program that judges orders.
type swapSite struct {
	*testing.T
	host     *rollingHost
	dir      string // of config.hcl and the program
	dialect  string
	dsn      string
	more     string // behind swapConfig
	program  []byte
	token    string
	db       *sql.DB
	programs []string // the checksums of those that have judged
}

// newSwapSite starts a host with swapConfig and more of a configuration.
func newSwapSite(t *testing.T, dialect, more string) *swapSite {
	t.Helper()
	s := &swapSite{T: t, dialect: dialect, more: more}
	driver, key := "sqlite", "INTEGER PRIMARY KEY"
	switch dialect {
	case "sqlite":
		s.dsn = filepath.Join(t.TempDir(), "shop.db")
	case "postgres":
		s.dsn, driver, key = dbtest.Postgres(t), "pgx", "BIGSERIAL PRIMARY KEY"
	case "mysql":
		s.dsn, driver, key = dbtest.MySQL(t), "mysql", "BIGINT PRIMARY KEY AUTO_INCREMENT"
	}
	var err error
	if s.program, err = os.ReadFile(filepath.Join(buildPlugins(t), "order-rules")); err != nil {
		t.Fatal(err)
	}
	s.host = hostWith(t, "")
	s.dir = filepath.Dir(s.host.log.Name())
	s.replace(0)
	s.host.addAda(t)
	if s.db, err = sql.Open(driver, s.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	for _, statement := range []string{
		"CREATE TABLE orders (id " + key + ", code VARCHAR(60) NOT NULL, status VARCHAR(20) NOT NULL, amount INTEGER NOT NULL, created_by BIGINT NOT NULL, version INTEGER NOT NULL)",
		"CREATE TABLE notes (id " + key + ", code VARCHAR(60) NOT NULL)",
	} {
		if _, err := s.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	out, err := vestibuleCommand(t, append(s.host.flags, "token", "add", "--email", "ada@example.com", "--name", "writer", "--write")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(out))
	s.host.start(t)
	return s
}

// replace puts another build of the program where the last one was, and its checksum into config.hcl. Builds differ in what
// follows the program.
func (s *swapSite) replace(build int) (sum string) {
	s.Helper()
	path := filepath.Join(s.dir, "order-rules")
	if err := os.WriteFile(path+".new", append(slices.Clip(s.program), fmt.Sprintf("build %d", build)...), 0o700); err != nil {
		s.Fatal(err)
	}
	sum, err := pluginproc.Sum(path + ".new")
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "config.hcl"), fmt.Appendf(nil, swapConfig+s.more, s.dialect, s.dsn, path, sum), 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
	return sum
}

// swap replaces the program, and returns when another process judges.
func (s *swapSite) swap(build int) {
	s.Helper()
	sum := s.replace(build)
	if err := s.host.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.Fatal(err)
	}
	s.waitUntil("the host does not take the program", func() bool { return strings.Contains(s.host.text(s.T), "sha256="+sum[:12]) })
	s.programs = append(s.programs, sum)
}

// waitUntil waits for what must come true, and is not a matter of speed.
func (s *swapSite) waitUntil(not string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if s.Failed() || time.Now().After(end) {
			var told []string // the log of writes is long
			for line := range strings.Lines(s.host.text(s.T)) {
				if strings.Contains(line, "[WARN]") || strings.Contains(line, "[ERROR]") || strings.Contains(line, "vestibule.plugin") {
					told = append(told, line)
				}
			}
			s.Fatalf("%s; the log ends: %s", not, strings.Join(told[max(0, len(told)-30):], ""))
		}
	}
}

// A swapClient writes orders that nobody else writes.
type swapClient struct {
	*swapSite
	name             string
	random           *rand.Rand
	orders           []*swapOrder // that are there
	notes            []string
	written, refused int
}

// A swapOrder is an order as its client expects it.
type swapOrder struct {
	ID      int64
	Tag     string `json:"@odata.etag"`
	Code    string
	Status  string
	Version int
}

// write does one write, and reports whether its answer was right.
func (c *swapClient) write() bool {
	c.written++
	code := fmt.Sprintf("%s-%d", c.name, c.written)
	if len(c.orders) == 0 || c.random.IntN(3) == 0 {
		return c.create(code)
	}
	n := c.random.IntN(len(c.orders))
	order := c.orders[n]
	path := fmt.Sprintf("Orders(%d)", order.ID)
	if c.random.IntN(4) == 0 {
		if order.Status != "open" {
			return c.refusal(c.send(http.MethodDelete, path, order.Tag, ""))
		}
		c.orders = slices.Delete(c.orders, n, n+1)
		status, text := c.send(http.MethodDelete, path, order.Tag, "")
		return c.expect(http.StatusNoContent, status, text)
	}
	// The default of the plugin's config.
	next := map[string][]string{"open": {"open", "confirmed", "cancelled"}, "confirmed": {"confirmed", "shipped", "cancelled"}, "shipped": {"shipped"}, "cancelled": {"cancelled"}}
	after := []string{"open", "confirmed", "shipped", "cancelled"}[c.random.IntN(4)]
	status, text := c.send(http.MethodPatch, path, order.Tag, fmt.Sprintf(`{"status":%q}`, after))
	if !slices.Contains(next[order.Status], after) {
		return c.refusal(status, text)
	}
	order.Status, order.Version = after, order.Version+1
	return c.expect(http.StatusOK, status, text) && c.learn(order, []byte(text))
}

// create creates an order, perhaps with a note in one group. Whatever status it has in the request, the rules open it.
func (c *swapClient) create(code string) bool {
	order := &swapOrder{Code: code, Status: "open", Version: 1}
	c.orders = append(c.orders, order)
	body := fmt.Sprintf(`{"code":%q,"amount":50,"status":"shipped"}`, code)
	if c.random.IntN(2) == 0 {
		status, text := c.send(http.MethodPost, "Orders", "", body)
		return c.expect(http.StatusCreated, status, text) && c.learn(order, []byte(text))
	}
	c.notes = append(c.notes, code)
	header := map[string]string{"Content-Type": "application/json"}
	status, text := c.send(http.MethodPost, "$batch", "", onceGroup([]onceMember{
		{ID: "1", Group: "g", Method: http.MethodPost, URL: "Orders", Headers: header, Body: json.RawMessage(body)},
		{ID: "2", Group: "g", Method: http.MethodPost, URL: "Notes", Headers: header, Body: fmt.Appendf(nil, `{"code":%q}`, code)},
	}))
	var batch struct {
		Responses []struct {
			Status int
			Body   json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(text), &batch); err != nil || len(batch.Responses) != 2 || batch.Responses[1].Status != http.StatusCreated {
		c.Errorf("a group was answered with %d %s", status, text)
		return false
	}
	return c.expect(http.StatusCreated, batch.Responses[0].Status, text) && c.learn(order, batch.Responses[0].Body)
}

// learn compares the answer to a write with the order, whose key and entity tag it takes.
func (c *swapClient) learn(order *swapOrder, text []byte) bool {
	var got swapOrder
	if err := json.Unmarshal(text, &got); err != nil || got.Code != order.Code || got.Status != order.Status || got.Version != order.Version {
		c.Errorf("the answer is %s, want %+v", text, order)
		return false
	}
	*order = got
	return true
}

// refusal wants that the rules have refused a write.
func (c *swapClient) refusal(status int, text string) bool {
	c.refused++
	if !strings.Contains(text, `"message":"An order that is `) && !strings.Contains(text, `"message":"Only an open order can be deleted."`) {
		c.Errorf("%s: the refusal is not of the rules: %s", c.name, text)
		return false
	}
	return c.expect(http.StatusUnprocessableEntity, status, text)
}

func (c *swapClient) expect(want, got int, text string) bool {
	if got != want {
		c.Errorf("%s: got %d, want %d: %s", c.name, got, want, text)
	}
	return got == want
}

// send sends a request once.
func (c *swapClient) send(method, path, tag, body string) (status int, text string) {
	r, err := http.NewRequest(method, "http://"+c.host.address+"/odata/"+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(got)
}

// compare wants the rows as the clients have left them, each once, and no other, and that each program has judged.
func (s *swapSite) compare(clients []*swapClient) {
	s.Helper()
	var want, got, notes, noted []string
	written, refused := 0, 0
	for _, c := range clients {
		written, refused = written+c.written, refused+c.refused
		notes = append(notes, c.notes...)
		for _, o := range c.orders {
			want = append(want, fmt.Sprintf("%s is %s, version %d", o.Code, o.Status, o.Version))
		}
	}
	rows, err := s.db.Query("SELECT code, status, version FROM orders UNION ALL SELECT code, '', 0 FROM notes")
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var o swapOrder
		if err := rows.Scan(&o.Code, &o.Status, &o.Version); err != nil {
			s.Fatal(err)
		}
		if o.Version == 0 {
			noted = append(noted, o.Code)
			continue
		}
		got = append(got, fmt.Sprintf("%s is %s, version %d", o.Code, o.Status, o.Version))
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	for _, list := range [][]string{want, got, notes, noted} {
		slices.Sort(list)
	}
	if !slices.Equal(got, want) || !slices.Equal(notes, noted) {
		s.Errorf("the tables have %q and the notes %q, want %q and %q", got, noted, want, notes)
	}
	if refused == 0 || refused == written {
		s.Errorf("%d of %d writes were refused", refused, written)
	}
	s.Logf("%d writes, %d of them refused, through %d swaps", written, refused, len(s.programs))
}
