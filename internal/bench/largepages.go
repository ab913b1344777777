package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// largeConfig is the configuration of the program that is measured.
const largeConfig = `
server {
  address    = %q
  public_url = null
}
database {
  driver = "postgres"
  dsn    = %q
}
mail {
  transport = "file"
  dir       = %q
  from      = "Bench <no-reply@localhost>"
}
route "home" {
  path     = "/"
  redirect = "/x"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/x"
  guard    = "session"
}
odata {
  guard = "none"
  limits {
    timeout = "5m"
  }
  pagination {
    links = %q
  }
  entity_set "entries" {
    table = "entries"
    key   = ["id"]
  }
}
`

// A program is the real one, serving.
type program struct {
	*large
	base, config string
	cmd          *exec.Cmd
}

// serve starts the program on a database.
func (l *large) serve(ctx context.Context, dsn, links string) (*program, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	p := &program{large: l, base: "http://" + address, config: filepath.Join(l.dir, "config.hcl")}
	text := fmt.Sprintf(largeConfig, address, dsn, filepath.Join(l.dir, "mail"), links)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if out, err := p.run(ctx, "", "migrate"); err != nil {
		return nil, fmt.Errorf("migrate: %w: %s", err, out)
	}
	log, err := os.OpenFile(filepath.Join(l.dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.CommandContext(ctx, l.program, "serve", "--config", p.config)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if got, err := p.get(ctx, "/readyz"); err == nil && got.status == http.StatusOK {
			return p, nil
		}
		if time.Since(begin) > 2*time.Minute {
			p.stop()
			return nil, errors.New("the program is not ready; see " + log.Name())
		}
	}
}

// run runs a command of the program to its end.
func (p *program) run(ctx context.Context, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.large.program, append(args, "--config", p.config)...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// A reply is the answer of the program, with the wait for it and the processor time of the program and of the database.
type reply struct {
	status         int
	body           []byte
	wait           time.Duration
	host, database float64 // ms
	cookies        []*http.Cookie
}

func (p *program) get(ctx context.Context, path string) (reply, error) {
	return p.ask(ctx, http.MethodGet, path, "", "")
}

func (p *program) ask(ctx context.Context, method, path, body, cookie string) (r reply, err error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", cookie)
	before, _ := processorTime(p.cmd.Process.Pid)
	used, begin := p.server.used(), time.Now()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return r, err
	}
	r.status, r.cookies = resp.StatusCode, resp.Cookies()
	r.body, err = io.ReadAll(resp.Body)
	r.wait = time.Since(begin)
	after, _ := processorTime(p.cmd.Process.Pid)
	r.host, r.database = float64(after-before)/1000, p.server.used().since(used)/1000
	return r, errors.Join(err, resp.Body.Close())
}

// asked is a row of the report.
type asked struct {
	name string
	most int // how often
	path func(n int) string
}

// pages measures requests for a table.
func (l *large) pages(ctx context.Context, name string) error {
	p, err := l.serve(ctx, l.at(serverPort, ""), "skip")
	if err != nil {
		return err
	}
	defer p.stop()
	l.say("%s, %d rows: first answer | median of the next: ms waited (processor time of host + database)", name, l.rows)
	for _, row := range l.asked() {
		if err := p.row(ctx, row); err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
	}
	for _, links := range []string{"skip", "key"} {
		if err := l.walks(ctx, links); err != nil {
			return err
		}
	}
	return nil
}

// asked are the requests. Those with a place ask for another one each time, unless they say that it is the same.
func (l *large) asked() []asked {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // must be the same everywhere
	set := func(options ...string) string {
		for i, o := range options {
			name, value, _ := strings.Cut(o, "=")
			options[i] = name + "=" + url.QueryEscape(value)
		}
		return "/odata/entries?" + strings.Join(options, "&")
	}
	some := func(n int) string { return strconv.Itoa(random.IntN(n)) }
	half := l.rows / 2
	return []asked{
		{"row by key", 50, func(int) string { return "/odata/entries(" + strconv.Itoa(1+random.IntN(l.rows)) + ")" }},
		{"first page", 20, func(int) string { return set("$top=200") }},
		{"first page with $count", 5, func(int) string { return set("$top=200", "$count=true") }},
		{"filtered by an index, ordered", 50, func(int) string { return set("$filter=category eq "+some(1000), "$orderby=price", "$top=200") }},
		{"the same with $count", 20, func(int) string {
			return set("$filter=category eq "+some(1000), "$orderby=price", "$top=200", "$count=true")
		}},
		{"filter without an index, many rows fit", 20, func(int) string { return set("$filter=stock eq "+some(1000), "$top=20") }},
		{"filter without an index, one row fits", 2, func(int) string { return set("$filter=contains(name,'y "+some(l.rows)+"x')", "$top=20") }},
		{"count of all", 3, func(int) string { return "/odata/entries/$count" }},
		{"deep link to the middle", 3, func(n int) string { return set("$skip="+strconv.Itoa(half+n*1000), "$top=200") }},
		{"deep link to the end", 3, func(n int) string { return set("$skip="+strconv.Itoa(l.rows-1000-n*1000), "$top=200") }},
		{"deep link to the middle, by date", 3, func(n int) string { return set("$orderby=created", "$skip="+strconv.Itoa(half+n*1000), "$top=200") }},
		{"$apply: one category summed", 10, func(int) string {
			return set("$apply=filter(category eq " + some(1000) + ")/aggregate(price with sum as Total,$count as N)")
		}},
		{"$apply: all grouped by category", 2, func(int) string {
			return set("$apply=groupby((category),aggregate(price with sum as Total,$count as N))")
		}},
	}
}

// row asks and prints a row. It asks for half a minute at most, but for the first answer.
func (p *program) row(ctx context.Context, row asked) error {
	var got []reply
	begin := time.Now()
	for n := range row.most + 1 {
		if n > 1 && time.Since(begin) > 30*time.Second {
			break
		}
		r, err := p.get(ctx, row.path(n))
		if err != nil {
			return err
		}
		if r.status != http.StatusOK {
			p.say("%-42s %d %s", row.name, r.status, bytes.TrimSpace(r.body[:min(len(r.body), 200)]))
			return nil
		}
		got = append(got, r)
	}
	p.say("%-42s %s | %s", row.name, got[0], typical(got[1:]))
	return nil
}

func (r reply) String() string {
	return fmt.Sprintf("%10.1f (%8.1f + %10.1f)", float64(r.wait.Microseconds())/1000, r.host, r.database)
}

// typical is the reply with the median wait.
func typical(all []reply) reply {
	if len(all) == 0 {
		return reply{}
	}
	slices.SortFunc(all, func(a, b reply) int { return int(a.wait - b.wait) })
	return all[len(all)/2]
}

// walks goes on from page to page, by $skip and by next links, from the beginning and from the middle, for a minute at most.
func (l *large) walks(ctx context.Context, links string) error {
	p, err := l.serve(ctx, l.at(serverPort, ""), links)
	if err != nil {
		return err
	}
	defer p.stop()
	const steps = 50
	for _, from := range []int{0, l.rows / 2} {
		if links == "skip" {
			row := asked{fmt.Sprintf("walk of the client from row %d, a page", from), steps, func(n int) string { return fmt.Sprintf("/odata/entries?$skip=%d&$top=200", from+n*200) }}
			if err := p.row(ctx, row); err != nil {
				return err
			}
		}
		next := fmt.Sprintf("/odata/entries?$skip=%d", from)
		var got []reply
		for begin := time.Now(); len(got) < 2 || len(got) < steps && time.Since(begin) < time.Minute; {
			r, err := p.get(ctx, next)
			if err != nil {
				return err
			}
			var page struct {
				Next string `json:"@odata.nextLink"`
			}
			if err := json.Unmarshal(r.body, &page); err != nil || page.Next == "" {
				return fmt.Errorf("%s: %d, %w, no next link", next, r.status, err)
			}
			u, err := url.Parse(page.Next)
			if err != nil {
				return err
			}
			next, got = "/odata/"+strings.TrimPrefix(strings.TrimPrefix(u.Path, "/"), "odata/")+"?"+u.RawQuery, append(got, r)
		}
		l.say("%-42s %s | %s", fmt.Sprintf("walk by next links (%s) from row %d, a page", links, from), got[0], typical(got[1:]))
	}
	return nil
}
