package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// soakParts is into how many parts the time of a soak is divided. The first is the way up: caches and pools fill.
const soakParts = 6

// A host on each database is used for SOAK, an hour, in every way at once, by people who also break off. In the last part of that time it
// takes no more memory, descriptors and goroutines than in the second.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Skip("SOAK is not set: make -C internal soak")
	}
	for _, dialect := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			soak(t, dialect, length)
		})
	}
}

func soak(t *testing.T, dialect string, length time.Duration) {
	app := httptest.NewServer(soakedApplication())
	t.Cleanup(app.Close)
	admin := unusedAddress(t)
	s := &soaked{swapSite: newSwapSite(t, dialect, fmt.Sprintf(soakConfig, admin, app.URL))}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var all sync.WaitGroup
	// every does one thing after the other, with a pause before each.
	every := func(pause time.Duration, do func(*rand.Rand) error) {
		n := s.kinds.Add(1)
		all.Go(func() {
			for r := rand.New(rand.NewPCG(1, uint64(n))); ctx.Err() == nil; {
				time.Sleep(pause/2 + rand.N(pause))
				if err := do(r); err != nil && ctx.Err() == nil {
					s.Errorf("%v", err)
					return
				}
				s.done.Add(1)
			}
		})
	}
	for n := range 2 {
		c := &swapClient{swapSite: s.swapSite, name: fmt.Sprintf("c%d", n), random: rand.New(rand.NewPCG(7, uint64(n)))}
		every(400*time.Millisecond, func(*rand.Rand) error {
			if !c.write() {
				return fmt.Errorf("%s stops", c.name)
			}
			return nil
		})
	}
	every(100*time.Millisecond, s.page)
	every(200*time.Millisecond, s.proxied)
	every(500*time.Millisecond, s.socket)
	every(500*time.Millisecond, s.breaksOff)
	every(10*time.Second, s.visit)
	used := s.watch(ctx, admin, length)
	cancel()
	all.Wait()
	s.flat(used)
}

const soakConfig = `
server {
  admin_address = %q
}
route "open" {
  path  = "/open"
  proxy = %[2]q
  guard = "none"
}
route "kept" {
  path  = "/kept"
  proxy = %[2]q
  guard = "session"
}
`

// soakedApplication has pages of a length and streams, and echoes what comes over a WebSocket.
func soakedApplication() http.Handler {
	mux := http.NewServeMux()
	page := func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	}
	stream := func(w http.ResponseWriter, r *http.Request) {
		for range 20 {
			if _, err := io.WriteString(w, "a line\n"); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	for _, under := range []string{"/open", "/kept"} {
		mux.HandleFunc(under+"/page", page)
		mux.HandleFunc(under+"/stream", stream)
		mux.Handle(under+"/socket", websocket.Server{Handler: func(c *websocket.Conn) { _, _ = io.Copy(c, c) }})
	}
	return mux
}

// soaked is a host in a soak.
type soaked struct {
	*swapSite
	kinds, done atomic.Int64
}

// ask sends a request of a client and reads the answer, or a part of it where some is not negative.
func (s *soaked) ask(c *http.Client, method, path, body string, some int64) error {
	r, err := http.NewRequest(method, "http://"+s.host.address+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(path, "/odata/") {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode >= 400:
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
	case some >= 0:
		_, err = io.CopyN(io.Discard, resp.Body, some)
	default:
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return err
}

func (s *soaked) page(r *rand.Rand) error {
	paths := []string{
		"Orders?$count=true", "Orders?$filter=amount%20eq%20" + strconv.Itoa(r.IntN(1000)), "Orders?$orderby=code&$skip=" + strconv.Itoa(r.IntN(500)),
		"Notes?$top=5", "Orders?$apply=groupby((status),aggregate($count%20as%20n))", "$metadata", "Notes?$format=csv",
	}
	return s.ask(http.DefaultClient, http.MethodGet, "/odata/"+paths[r.IntN(len(paths))], "", -1)
}

func (s *soaked) proxied(r *rand.Rand) error {
	paths := []string{"/open/page?n=400", "/open/page?n=6600", "/open/page?n=1000000", "/open/stream", "/login", "/"}
	return s.ask(http.DefaultClient, http.MethodGet, paths[r.IntN(len(paths))], "", -1)
}

// breaksOff leaves in the middle of an answer.
func (s *soaked) breaksOff(r *rand.Rand) error {
	paths := []string{"/open/page?n=1000000", "/open/stream", "/odata/Orders"}
	return s.ask(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, http.MethodGet, paths[r.IntN(len(paths))], "", 1)
}

func (s *soaked) socket(r *rand.Rand) error {
	c, err := websocket.Dial("ws://"+s.host.address+"/open/socket", "", "http://"+s.host.address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if r.IntN(2) == 0 {
		return nil
	}
	text := ""
	if err := websocket.Message.Send(c, "said"); err != nil {
		return err
	}
	err = websocket.Message.Receive(c, &text)
	if err == nil && text != "said" {
		err = fmt.Errorf("the socket said %q", text)
	}
	return err
}

// visit signs in, reads guarded pages, and signs out or does not.
func (s *soaked) visit(r *rand.Rand) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := &http.Client{Jar: jar, Transport: transport}
	if err := s.ask(c, http.MethodPost, "/auth/login", `{"login":"ada@example.com","password":"engine-of-analysis-1843"}`, -1); err != nil {
		return err
	}
	for range 20 {
		if err := s.ask(c, http.MethodGet, "/kept/page?n=6600", "", -1); err != nil {
			return err
		}
	}
	if r.IntN(4) == 0 {
		return nil
	}
	return s.ask(c, http.MethodPost, "/logout", "", -1)
}

// usage holds the anonymous memory of a host in KiB, its descriptors, and its goroutines.
type usage [3]int

// watch notes what the host takes in the middle of each part, in many samples.
func (s *soaked) watch(ctx context.Context, admin string, length time.Duration) (parts [soakParts][]usage) {
	start := time.Now()
	for tick := time.NewTicker(min(5*time.Second, length/(soakParts*10))); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return parts
		case <-tick.C:
		}
		if part := int(time.Since(start) * soakParts / length); part < soakParts {
			parts[part] = append(parts[part], s.takes(admin))
		}
	}
}

func (s *soaked) takes(admin string) usage {
	proc := fmt.Sprintf("/proc/%d", s.host.cmd.Process.Pid)
	status, _ := os.ReadFile(filepath.Join(proc, "status"))
	files, _ := os.ReadDir(filepath.Join(proc, "fd"))
	return usage{number(string(status), `RssAnon:\s+(\d+)`), len(files), number(s.profile(admin), `total (\d+)`)}
}

func (s *soaked) profile(admin string) string {
	resp, err := http.Get("http://" + admin + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// number is the one that a pattern finds; 0 where it finds none.
func number(text, pattern string) int {
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// flat compares the median of the second part with that of the last. A descriptor or a goroutine is that of a client who is there
// at that moment: as many as there are kinds of them may come on top.
func (s *soaked) flat(parts [soakParts][]usage) {
	s.Helper()
	var medians [soakParts]usage
	for i, part := range parts {
		for of := range len(usage{}) {
			var values []int
			for _, u := range part {
				values = append(values, u[of])
			}
			slices.Sort(values)
			if len(values) == 0 || values[len(values)/2] == 0 {
				s.Fatalf("part %d has no samples", i+1)
			}
			medians[i][of] = values[len(values)/2]
		}
	}
	s.Logf("%s, after %d requests and connections: KiB, descriptors, goroutines by part: %v", s.dialect, s.done.Load(), medians)
	before, after, clients := medians[1], medians[soakParts-1], int(s.kinds.Load())
	if after[0] > before[0]*115/100 || after[1] > before[1]+2*clients || after[2] > before[2]+4*clients {
		s.Errorf("the host takes more and more: %v", medians)
	}
}
