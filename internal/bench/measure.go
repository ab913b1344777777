package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A contestant is a process that serves.
type contestant struct {
	base  string
	stdin io.Closer
	cmd   *exec.Cmd
}

// A bench has all contestants running.
type bench struct {
	settings
	vestibule, baseline, static *contestant
	other                       *contestant // the rival; nil where none is given
	server                      *server     // nil for SQLite
	client                      *http.Client
	cookie                      string
	fresh                       int // makes an address that no cache has seen
}

func start(db, dsn string, s settings) (*bench, error) {
	s.db, s.dsn = db, dsn
	b := &bench{settings: s, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}}}
	for _, c := range []struct {
		role string
		into **contestant
	}{{"vestibule", &b.vestibule}, {"baseline", &b.baseline}, {"static", &b.static}, {"rival", &b.other}} {
		if c.role == "rival" && s.rival == "" {
			continue
		}
		started, err := b.startContestant(c.role)
		if err != nil {
			b.stop()
			return nil, fmt.Errorf("start %s: %w", c.role, err)
		}
		*c.into = started
	}
	var err error
	if b.server, err = findServer(db, dsn); err != nil {
		b.stop()
		return nil, err
	}
	return b, b.signIn()
}

func (b *bench) startContestant(role string, more ...string) (*contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"-db", b.db, "-dsn", b.dsn}, more...)
	if role == "rival" {
		self = b.rival
	} else {
		args = append(args, "-role", role)
	}
	cmd := exec.Command(self, args...) // itself, or what the caller names
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return &contestant{strings.TrimSpace(line), in, cmd}, err
}

func (b *bench) stop() {
	for _, c := range []*contestant{b.vestibule, b.baseline, b.static, b.other} {
		if c != nil {
			c.stop()
		}
	}
}

// stop ends the process, which ends by itself when its input does.
func (c *contestant) stop() {
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
}

// signIn begins a session, and gives the static contestant the bytes of a page.
func (b *bench) signIn() error {
	body := fmt.Sprintf(`{"login":%q,"password":%q}`, login, secret)
	resp, err := b.client.Post(b.vestibule.base+"/auth/login", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		return fmt.Errorf("sign in: %s", resp.Status)
	}
	b.cookie = resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	page, err := b.get(b.vestibule, "/odata/Products", nil)
	if err != nil {
		return err
	}
	resp, err = b.client.Post(b.static.base+"/body", "application/json", bytes.NewReader(page))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// get reads an answer; with first it tells when the first byte came, and keeps
// nothing.
func (b *bench) get(c *contestant, path string, first *time.Duration) ([]byte, error) {
	req, err := requestOf(c.base, path)
	if err != nil {
		return nil, err
	}
	if strings.Contains(path, "Guarded") {
		req.Header.Set("Cookie", b.cookie)
	}
	begin := time.Now()
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return nil, fmt.Errorf("%s: %s: %s", path, resp.Status, text)
	}
	if first == nil {
		return io.ReadAll(resp.Body)
	}
	var one [1]byte
	_, err = io.ReadFull(resp.Body, one[:])
	*first = time.Since(begin)
	_, copied := io.Copy(io.Discard, resp.Body)
	return nil, errors.Join(err, copied)
}

// usage returns the contestant's processor time in µs, and the most memory in KiB that it has had since it was last asked.
func (b *bench) usage(c *contestant) (cpu, rss int, err error) {
	pid := c.cmd.Process.Pid
	_, _ = fmt.Sscan(status(pid, "VmHWM:"), &rss)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200) // forgets the peak
	cpu, err = processorTime(pid)
	return cpu, rss, err
}

// spent is what a request costs: processor time of the contestant and of the
// database's processes, and time until it was answered, in µs.
type spent struct{ host, server, wall float64 }

// cost returns what a request costs, over n of them.
func (b *bench) cost(c *contestant, n int, path func() string) (spent, error) {
	return b.costOf(c, n, path, func([]byte) error { return nil })
}

// costOf hands the answers on; what is done with them is not part of the cost, but for the time.
func (b *bench) costOf(c *contestant, n int, path func() string, see func([]byte) error) (spent, error) {
	before, _, err := b.usage(c)
	if err != nil {
		return spent{}, err
	}
	server, begin := b.server.used(), time.Now()
	for range n {
		body, err := b.get(c, path(), nil)
		if err == nil {
			err = see(body)
		}
		if err != nil {
			return spent{}, err
		}
	}
	wall, after := time.Since(begin), b.server.used()
	now, _, err := b.usage(c)
	return spent{float64(now-before) / float64(n), after.since(server) / float64(n), float64(wall.Microseconds()) / float64(n)}, err
}

// anew adds a custom option, so that no cache knows the address.
func (b *bench) anew(path string) func() string {
	return func() string {
		b.fresh++
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		return fmt.Sprintf("%s%sfresh=%d", path, mark, b.fresh)
	}
}

func always(path string) func() string { return func() string { return path } }

// crowd returns what a page costs when a number of clients ask for n pages each at once.
func (b *bench) crowd(clients, n int, set string) (spent, error) {
	var all sync.WaitGroup
	failed := make([]error, clients)
	before, _, err := b.usage(b.vestibule)
	if err != nil {
		return spent{}, err
	}
	server, begin := b.server.used(), time.Now()
	for i := range clients {
		all.Go(func() {
			for k := 0; k < n && failed[i] == nil; k++ {
				_, failed[i] = b.get(b.vestibule, fmt.Sprintf("/odata/%s?fresh=%d.%d.%d", set, begin.UnixNano(), i, k), nil)
			}
		})
	}
	all.Wait()
	wall, after := time.Since(begin), b.server.used()
	now, _, err := b.usage(b.vestibule)
	total := float64(clients * n)
	return spent{float64(now-before) / total, after.since(server) / total, float64(wall.Microseconds()) / total}, errors.Join(errors.Join(failed...), err)
}

// skip is an address at a random depth.
func (b *bench) skip() string {
	return fmt.Sprintf("/odata/Products?$orderby=price&$skip=%d", rand.IntN(b.rows/200)*200) // any will do
}
