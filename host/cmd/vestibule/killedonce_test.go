package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hosts, or their database, are killed at random moments while eight clients create orders, alone and in change sets, and change them.
// Most orders have parts, a kind, and tags behind a table in between, which are created or bound in the same request. A client repeats
// each request, at any host or at both at once, until it is answered, and reads nothing. Afterwards each order is there once and whole,
// and each host repeats the first answer to each request. LONG=1, which make nightly sets, takes 2,000 requests that
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
	// sets counts change sets, and deep the orders with parts or links.
	sets, deep int
	// tries counts requests, pairs the tries that went to both hosts at once, unclear the requests without a final answer, and broken
	// those whose connection broke, so that they may have been done.
	tries, pairs, unclear, broken int
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
	var clients []*onceClient
	begin := func(n int, r *rand.Rand, over *http.Client) func(int) bool {
		c := &onceClient{killSite: s, name: fmt.Sprintf("o%d", n), random: r, http: over}
		clients = append(clients, c)
		return func(k int) bool { return c.create(k) && (c.random.IntN(4) > 0 || c.change(k)) }
	}
	s.workUnderKills(seed, creates, kills, kill, begin, func(summary string) {
		var sum onceClient
		requests := 0
		for _, c := range clients {
			requests += len(c.sent)
			sum.orders = append(sum.orders, c.orders...)
			sum.tries, sum.pairs, sum.unclear, sum.broken = sum.tries+c.tries, sum.pairs+c.pairs, sum.unclear+c.unclear, sum.broken+c.broken
			sum.sets, sum.deep = sum.sets+c.sets, sum.deep+c.deep
		}
		s.Logf("%s; %d change sets, %d orders, %d of them with parts and links, and %d changes; %d requests, %d times at both hosts at once, %d without a final answer, %d of them on a connection that broke",
			summary, sum.sets, len(sum.orders), sum.deep, requests-creates, sum.tries, sum.pairs, sum.unclear, sum.broken)
		s.compareOrders(sum.orders, requests)
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(c.repeat)
		}
		all.Wait()
		s.compareOrders(sum.orders, requests)
	})
}

// create creates an order, or several in a change set.
func (c *onceClient) create(n int) bool {
	id := fmt.Sprintf("%s-%d", c.name, n)
	header := c.headers(id)
	if c.random.IntN(3) > 0 {
		order, body := c.newOrder(id, id)
		a, ok := c.perform(&onceRequest{method: http.MethodPost, path: "/odata/Orders", header: header, body: body}, http.StatusCreated, http.StatusNoContent)
		if location := a.header.Get("Location"); ok {
			order.path, order.tag = location[strings.LastIndex(location, "/odata/"):], a.header.Get("ETag")
			c.orders = append(c.orders, order)
		}
		return ok
	}
	c.sets++
	orders, parts := c.group(id, header)
	q := &onceRequest{method: http.MethodPost, path: "/odata/$batch", header: http.Header{"Content-Type": {"application/json"}}, body: onceGroup(parts)}
	if c.random.IntN(2) == 0 {
		q.header.Set("Content-Type", "multipart/mixed; boundary=batch")
		q.body = onceChangeSet(parts)
	}
	_, ok := c.perform(q, http.StatusOK)
	if ok {
		c.orders = append(c.orders, orders...)
	}
	return ok
}

// change changes an order whose entity tag the client knows from its last answer, perhaps with its links, or adds a part.
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
	if c.random.IntN(3) == 0 {
		added := fmt.Sprintf("%s/later%d", order.code, n)
		order.parts = append(order.parts, added)
		_, ok := c.perform(&onceRequest{
			method: http.MethodPost, path: order.path + "/Parts", header: c.headers(fmt.Sprintf("part-%s-%d", c.name, n)), body: c.json(map[string]string{"code": added}),
		}, http.StatusCreated, http.StatusNoContent)
		return ok
	}
	after := *order
	after.history, after.version = fmt.Sprintf("%s.%d", order.history, n), order.version+1
	header, body := c.headers(fmt.Sprintf("change-%s-%d", c.name, n)), after.text()
	header.Set("If-Match", order.tag)
	if tag := c.tag(); c.random.IntN(2) == 0 {
		after.kind = tag
		if !slices.Contains(order.tags, tag) {
			after.tags = append(slices.Clone(order.tags), tag)
		}
		body = fmt.Sprintf(`%s,"kind@odata.bind":%q,"tags@odata.bind":[%[2]q]}`, strings.TrimSuffix(body, "}"), tagAddress(tag))
	}
	a, ok := c.perform(&onceRequest{method: http.MethodPatch, path: order.path, header: header, body: body}, http.StatusOK, http.StatusNoContent)
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
	return !regexp.MustCompile(`HTTP/1\.1 (503|429) |"status":(503|429)`).MatchString(a.body) // of a part of a batch
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

// compareOrders wants each order once, as its client has left it with parts and links, no other, and as many remembered requests as
// were sent.
func (s *killSite) compareOrders(orders []*onceOrder, requests int) {
	s.Helper()
	there := map[string][]string{}
	kept := 0
	s.retried(func() error {
		clear(there)
		found := map[int64]*onceOrder{}
		err := s.each("SELECT id, code, history, version, COALESCE(kind_id, 0) FROM orders", func(scan func(...any) error) error {
			id, o := int64(0), &onceOrder{}
			err := scan(&id, &o.code, &o.history, &o.version, &o.kind)
			found[id] = o
			return err
		})
		if err == nil {
			err = s.each("SELECT order_id, code, 0 FROM parts UNION ALL SELECT order_id, '', tag_id FROM order_tags", func(scan func(...any) error) error {
				var id int64
				var part string
				var tag int
				if err := scan(&id, &part, &tag); err != nil {
					return err
				}
				if o := found[id]; o == nil {
					return fmt.Errorf("the order %d is not there, and %q or its link with %d is", id, part, tag)
				} else if tag == 0 {
					o.parts = append(o.parts, part)
				} else {
					o.tags = append(o.tags, tag)
				}
				return nil
			})
		}
		for _, o := range found {
			there[o.code] = append(there[o.code], o.row())
		}
		if err == nil {
			err = s.db.QueryRow("SELECT COUNT(*) FROM vestibule_requests WHERE answer IS NOT NULL").Scan(&kept)
		}
		return err
	})
	for _, o := range orders {
		if got := there[o.code]; len(got) != 1 || got[0] != o.row() {
			s.Errorf("%s is there %d times: %q, want %s", o.code, len(got), got, o.row())
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

// each reads the rows of a query past the hosts.
func (s *killSite) each(query string, row func(scan func(...any) error) error) error {
	rows, err := s.db.Query(query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
