package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Hosts, or their database, are killed at random moments while eight clients create orders, alone and in change sets, and change them.
// A client repeats each request, at any host or at both at once, until it is answered, and reads nothing. Afterwards each order is
// there once, and each host repeats the first answer to each request. LONG=1, which make nightly sets, takes 2,000 requests that
// create for each database and each of the two; KILLED_SEED repeats a choice of requests and moments.
func TestCreatesExactlyOnce(t *testing.T) {
	underKills(t, (*killSite).createUnderKills)
}

// A onceClient sends requests that can be repeated.
type onceClient struct {
	*killSite
	name   string
	random *rand.Rand
	http   *http.Client
	sent   []*onceRequest
	orders []*onceOrder
	// tries counts requests, pairs the tries that went to both hosts at once, unclear the requests without a final answer, and broken
	// those whose connection broke, so that they may have been done.
	tries, pairs, unclear, broken int
}

// A onceOrder is a row as its client expects it. Its tag is empty where no answer had it.
type onceOrder struct {
	code, history, path, tag string
	version                  int
}

// A onceRequest is a request, and the answer that its client got first.
type onceRequest struct {
	method, path, body string
	header             http.Header
	answer             killAnswer
}

// createUnderKills lets clients create, kills, compares and repeats.
func (s *killSite) createUnderKills(seed uint64, creates, kills int, kill func(*rand.Rand)) {
	s.Helper()
	const people = 8
	began := time.Now()
	var done atomic.Int64
	var all sync.WaitGroup
	var clients []*onceClient
	for n := range people {
		c := &onceClient{
			killSite: s, name: fmt.Sprintf("o%d", n), random: rand.New(rand.NewPCG(seed, uint64(n)+1)),
			http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}},
		}
		s.Cleanup(c.http.CloseIdleConnections)
		clients = append(clients, c)
		share := creates*(n+1)/people - creates*n/people
		all.Go(func() {
			for n := range share {
				if !c.create(n) || c.random.IntN(4) == 0 && !c.change(n) {
					return
				}
				done.Add(1)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	defer func() {
		s.over.Store(true) // where a kill has failed
		<-ended
		s.end()
	}()
	s.killAtRandom(rand.New(rand.NewPCG(seed, 0)), kills, creates, &done, ended, kill)
	<-ended
	if killed := s.hostKills + s.serverKills + s.sessionKills; killed != kills || done.Load() != int64(creates) {
		s.Errorf("%d kills and %d creates, want %d and %d", killed, done.Load(), kills, creates)
	}
	var sum onceClient
	requests := 0
	for _, c := range clients {
		requests += len(c.sent)
		sum.orders = append(sum.orders, c.orders...)
		sum.tries, sum.pairs, sum.unclear, sum.broken = sum.tries+c.tries, sum.pairs+c.pairs, sum.unclear+c.unclear, sum.broken+c.broken
	}
	s.Logf("%d creates of %d orders, and %d changes, in %v; kills: %d of a host, %d of one that starts, %d of the server (%d with lost answers), %d of a session; "+
		"%d requests, %d times at both hosts at once, %d without a final answer, %d of them on a connection that broke",
		done.Load(), len(sum.orders), requests-int(done.Load()), time.Since(began).Round(time.Second), s.hostKills, s.startKills, s.serverKills, s.mutedKills, s.sessionKills,
		sum.tries, sum.pairs, sum.unclear, sum.broken)
	s.compareOrders(sum.orders, requests)
	for _, c := range clients {
		all.Go(c.repeat)
	}
	all.Wait()
	s.compareOrders(sum.orders, requests)
}

// create creates an order, or several in a change set, one of which is perhaps changed there at once.
func (c *onceClient) create(n int) bool {
	id := fmt.Sprintf("%s-%d", c.name, n)
	header := c.headers(id)
	if c.random.IntN(3) > 0 {
		order := &onceOrder{code: id, history: id, version: 1}
		a, ok := c.perform(&onceRequest{method: http.MethodPost, path: "/odata/Orders", header: header, body: order.text()}, http.StatusCreated, http.StatusNoContent)
		if location := a.header.Get("Location"); ok {
			order.path, order.tag = location[strings.LastIndex(location, "/odata/"):], a.header.Get("ETag")
			c.orders = append(c.orders, order)
		}
		return ok
	}
	q := &onceRequest{method: http.MethodPost, path: "/odata/$batch", header: http.Header{"Content-Type": {"application/json"}}}
	var parts []onceMember
	multipart := c.random.IntN(2) == 0
	part := func(method, url, body string) {
		m := onceMember{ID: fmt.Sprint(len(parts) + 1), Group: "g", Method: method, URL: url, Headers: map[string]string{}, Body: json.RawMessage(body)}
		for name := range header {
			m.Headers[name] = header.Get(name)
		}
		if method == http.MethodPatch {
			m.Headers["If-Match"] = "*"
		}
		parts = append(parts, m)
	}
	var orders []*onceOrder
	for k := range 1 + c.random.IntN(4) {
		order := &onceOrder{code: fmt.Sprintf("%s-%d", id, k), history: id, version: 1}
		orders = append(orders, order)
		part(http.MethodPost, "Orders", order.text())
		if c.random.IntN(3) == 0 {
			order.history, order.version = id+"+", 2
			part(http.MethodPatch, fmt.Sprintf("$%d", len(parts)), order.text())
		}
	}
	q.body = onceGroup(parts)
	if multipart {
		q.header.Set("Content-Type", "multipart/mixed; boundary=batch")
		q.body = onceChangeSet(parts)
	}
	_, ok := c.perform(q, http.StatusOK)
	if ok {
		c.orders = append(c.orders, orders...)
	}
	return ok
}

// change changes an order whose entity tag the client knows from its last answer.
func (c *onceClient) change(n int) bool {
	var known []*onceOrder
	for _, order := range c.orders {
		if order.tag != "" {
			known = append(known, order)
		}
	}
	if len(known) == 0 {
		return true
	}
	order := known[c.random.IntN(len(known))]
	after := *order
	after.history, after.version = fmt.Sprintf("%s.%d", order.history, n), order.version+1
	header := c.headers(fmt.Sprintf("change-%s-%d", c.name, n))
	header.Set("If-Match", order.tag)
	a, ok := c.perform(&onceRequest{method: http.MethodPatch, path: order.path, header: header, body: after.text()}, http.StatusOK, http.StatusNoContent)
	if ok {
		after.tag = a.header.Get("ETag")
		*order = after
	}
	return ok
}

func (c *onceClient) headers(id string) http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "Prefer": {[]string{"return=minimal", "return=representation"}[c.random.IntN(2)]},
		"Repeatability-Request-Id": {id}, "Repeatability-First-Sent": {time.Now().UTC().Format(http.TimeFormat)},
	}
}

func (o *onceOrder) text() string {
	return fmt.Sprintf(`{"code":%q,"history":%q,"latest":%q}`, o.code, o.history, o.history[strings.LastIndexByte(o.history, '.')+1:])
}

// perform repeats a request until it has a final answer, which must have one of the statuses.
func (c *onceClient) perform(q *onceRequest, want ...int) (killAnswer, bool) {
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end) && !c.over.Load(); {
		hosts := []*rollingHost{c.hosts[c.random.IntN(2)]}
		if c.random.IntN(5) == 0 {
			hosts = c.hosts
			c.pairs++
		}
		answers := make([]killAnswer, len(hosts))
		var all sync.WaitGroup
		for i, h := range hosts {
			all.Go(func() { answers[i] = c.sendTo(h, c.http, q.method, q.path, q.body, q.header) })
		}
		all.Wait()
		var final []killAnswer
		for _, a := range answers {
			if c.tries++; a.final() {
				final = append(final, a)
			} else {
				c.unclear++
			}
			if a.verdict == unanswered {
				c.broken++
			}
		}
		if len(final) == 0 {
			time.Sleep(time.Duration(c.random.IntN(50)) * time.Millisecond)
			continue
		}
		a := final[0]
		fine := false
		for _, status := range want {
			fine = fine || a.status == status
		}
		if !fine || q.path == "/odata/$batch" && !onceAllDone(a) {
			c.Errorf("%s %s with %s was answered with %d: %s", q.method, q.path, q.header.Get("Repeatability-Request-Id"), a.status, a.body)
			return a, false
		}
		for _, other := range final[1:] {
			if got, want := other.text(), a.text(); got != want {
				c.Errorf("two answers to one request: %s\nand %s", got, want)
			}
		}
		q.answer = a
		c.sent = append(c.sent, q)
		return a, true
	}
	c.Errorf("%s %s was not answered until the end of the test, or within three minutes", q.method, q.path)
	return killAnswer{}, false
}

// repeat sends each request to each host once more, and wants the first answer.
func (c *onceClient) repeat() {
	for _, q := range c.sent {
		for _, h := range c.hosts {
			c.retried(func() error {
				a := c.sendTo(h, c.http, q.method, q.path, q.body, q.header)
				if !a.final() {
					return fmt.Errorf("repeated: %d %s", a.status, a.body)
				}
				if got, want := a.text(), q.answer.text(); got != want {
					c.Errorf("%s %s was answered with\n%s\nand at first with\n%s", q.method, q.path, got, want)
				}
				return nil
			})
		}
	}
}

// final reports whether the client needs to send the request no more.
func (a *killAnswer) final() bool {
	if a.verdict != answered || a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests {
		return false
	}
	return !strings.Contains(a.body, "HTTP/1.1 503 ") && !strings.Contains(a.body, `"status":503`)
}

// text is the answer without the headers that each answer has of its own, and the random boundaries of a batch and its change sets.
func (a *killAnswer) text() string {
	h := a.header.Clone()
	for _, name := range []string{"Date", "Server-Timing", "X-Request-Id"} {
		h.Del(name)
	}
	var text strings.Builder
	fmt.Fprintln(&text, a.status)
	_ = h.Write(&text) // to memory
	text.WriteString(a.body)
	return regexp.MustCompile(`(batch|changeset)response_\w+`).ReplaceAllString(text.String(), "boundary")
}

// compareOrders wants each order once, as its client has left it, no other, and as many remembered requests as were sent.
func (s *killSite) compareOrders(orders []*onceOrder, requests int) {
	s.Helper()
	there := map[string][]onceOrder{}
	kept := 0
	s.retried(func() error {
		clear(there)
		rows, err := s.db.Query("SELECT code, history, version FROM orders")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var o onceOrder
			if err := rows.Scan(&o.code, &o.history, &o.version); err != nil {
				return err
			}
			there[o.code] = append(there[o.code], o)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return s.db.QueryRow("SELECT COUNT(*) FROM vestibule_requests WHERE answer IS NOT NULL").Scan(&kept)
	})
	for _, o := range orders {
		if got := there[o.code]; len(got) != 1 || got[0].history != o.history || got[0].version != o.version {
			s.Errorf("%s is there %d times: %+v, want %+v", o.code, len(got), got, o)
		}
		delete(there, o.code)
	}
	for code, got := range there {
		s.Errorf("nobody created %s, and it is there %d times", code, len(got))
	}
	if kept != requests {
		s.Errorf("%d requests are remembered, want %d", kept, requests)
	}
}
