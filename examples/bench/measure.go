package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
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
	vestibule, baseline, static *contestant
	client                      *http.Client
	cookie                      string
	file                        string
	rows, rounds                int
	fresh                       int // makes an address that no cache has seen
}

func start(file string, rows, rounds int) (*bench, error) {
	b := &bench{file: file, rows: rows, rounds: rounds, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}}}
	for _, c := range []struct {
		role string
		into **contestant
	}{{"vestibule", &b.vestibule}, {"baseline", &b.baseline}, {"static", &b.static}} {
		started, err := startContestant(c.role, file, rows)
		if err != nil {
			b.stop()
			return nil, fmt.Errorf("start %s: %w", c.role, err)
		}
		*c.into = started
	}
	return b, b.signIn()
}

func startContestant(role, file string, rows int) (*contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-role", role, "-rows", fmt.Sprint(rows), "-dir", file[:strings.LastIndex(file, "/")]) //nolint:gosec // itself
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
	for _, c := range []*contestant{b.vestibule, b.baseline, b.static} {
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
	req, err := http.NewRequest(http.MethodGet, c.base+path, nil)
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
	if resp.StatusCode != http.StatusOK {
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

// usage returns the contestant's processor time in µs, and the most memory
// in KiB that it has had since it was last asked.
func (b *bench) usage(c *contestant) (cpu, rss int, err error) {
	text, err := b.get(c, "/usage", nil)
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(string(text), &cpu, &rss)
	return cpu, rss, err
}

// cost returns the processor time of a request in µs, over n of them.
func (b *bench) cost(c *contestant, n int, path func() string) (float64, error) {
	before, _, err := b.usage(c)
	if err != nil {
		return 0, err
	}
	for range n {
		if _, err := b.get(c, path(), nil); err != nil {
			return 0, err
		}
	}
	after, _, err := b.usage(c)
	return float64(after-before) / float64(n), err
}

// A side is a contestant and what it is asked.
type side struct {
	c    *contestant
	n    int
	path func() string
}

// ratio lets two sides take turns and returns the median of the rounds' ratios.
func (b *bench) ratio(one, other side) (float64, error) { return b.ratioOf(b.rounds, one, other) }

func (b *bench) ratioOf(rounds int, one, other side) (float64, error) {
	var ratios []float64
	for round := range rounds + 1 {
		x, err := b.cost(one.c, one.n, one.path)
		if err != nil {
			return 0, err
		}
		y, err := b.cost(other.c, other.n, other.path)
		if err != nil {
			return 0, err
		}
		if round > 0 { // the first warms up
			ratios = append(ratios, x/y)
		}
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], nil
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

// walk follows next links from the first page to the last and returns the
// processor time of a page over the last n.
func (b *bench) walk(path string, n int) (float64, error) {
	pages, seen, before := 0, 0, 0
	total := (b.rows + 199) / 200
	for path != "" {
		if pages == total-n {
			cpu, _, err := b.usage(b.vestibule)
			if err != nil {
				return 0, err
			}
			before = cpu
		}
		body, err := b.get(b.vestibule, path, nil)
		if err != nil {
			return 0, err
		}
		var page struct {
			Next  string `json:"@odata.nextLink"`
			Value []struct{ ID int }
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return 0, err
		}
		pages++
		seen += len(page.Value)
		path = strings.TrimPrefix(page.Next, b.vestibule.base)
	}
	after, _, err := b.usage(b.vestibule)
	if seen != b.rows {
		err = errors.Join(err, fmt.Errorf("the walk saw %d rows of %d", seen, b.rows))
	}
	return float64(after-before) / float64(n), err
}

// throughput returns requests per second with a number of clients, for a second.
func (b *bench) throughput(clients int) (float64, error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	done, failed := 0, error(nil)
	begin := time.Now()
	for i := range clients {
		all.Go(func() {
			for n := 0; time.Since(begin) < time.Second; n++ {
				_, err := b.get(b.vestibule, fmt.Sprintf("/odata/Products?fresh=%d.%d.%d", begin.UnixNano(), i, n), nil)
				mu.Lock()
				done++
				failed = errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return float64(done) / time.Since(begin).Seconds(), failed
}

// skip is an address at a random depth.
func (b *bench) skip() string {
	return fmt.Sprintf("/odata/Products?$orderby=price&$skip=%d", rand.IntN(b.rows/200)*200) //nolint:gosec // any will do
}
