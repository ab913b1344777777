package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// A crowd is clients of the demo that ask all at once, each for one kind of answer and from an address of its own, so that none
// gets more than its share.
type crowd struct {
	base, login, password string
	clients               int
	// answered counts answers by kind of request; refused counts the answers 429 and 503.
	answered [len(kinds)]atomic.Int64
	refused  atomic.Int64
}

// kinds are the requests of a crowd.
var kinds = [...]string{"pages", "filters", "deep pages", "expands", "big answers", "sign-ins", "screens"}

// target returns the address of a request of a kind, empty for a sign-in.
func target(kind int) string {
	q := func(set, options string, values ...any) string {
		return "/odata/" + set + "?" + strings.NewReplacer(" ", "%20", "'", "%27").Replace(fmt.Sprintf(options, values...))
	}
	n := rand.IntN
	switch kind {
	case 0:
		return q("Products", "$orderby=%s&$skip=%d&$count=true", []string{"name", "price", "released_on", "id"}[n(4)], n(50)*200)
	case 1:
		return q("Products", "$filter=price gt %d.%02d and contains(name,'%c')&$orderby=price", n(90), n(100), 'a'+rune(n(26)))
	case 2:
		return q("Orders", "$orderby=ordered_at desc&$skip=%d&$count=true", n(490)*200)
	case 3:
		return q("Orders", "$expand=items($expand=product),customer&$skip=%d&$top=100", n(900)*100)
	case 4:
		return q("OrderItems", "$top=%d&$skip=%d", 20_000+n(60_000), n(1000))
	case 6:
		return []string{"/login", "/", "/odata/$metadata", "/odata/$openapi?$format=application/json"}[n(3)]
	}
	return ""
}

// run asks until ctx ends. The error is the first answer that is none.
func (c *crowd) run(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make(chan error, c.clients)
	for i := range c.clients {
		all.Go(func() {
			dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}}
			client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				if err := c.ask(ctx, client, i%len(kinds)); err != nil && ctx.Err() == nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	var first error
	for err := range errs {
		first = errors.Join(first, err)
	}
	return first
}

// ask makes one request and reads its answer to the end.
func (c *crowd) ask(ctx context.Context, client *http.Client, kind int) error {
	method, path, body := http.MethodGet, target(kind), ""
	if path == "" {
		method, path, body = http.MethodPost, "/auth/login", fmt.Sprintf(`{"login":%q,"password":%q}`, c.login, c.password)
	}
	if _, err := url.Parse(c.base + path); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
		c.answered[kind].Add(1)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		c.refused.Add(1)
	default:
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return nil
}
