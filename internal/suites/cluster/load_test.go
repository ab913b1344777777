package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// load asks over both balancers until ctx ends: sessions, queries by cookie and by
// token, sign-ins, resets by mail, new tokens.
func (w *site) load(ctx context.Context, book *ledger) *sync.WaitGroup {
	var all sync.WaitGroup
	for i, balancer := range w.balancers {
		begin := func(n int, pause time.Duration, once func(*client)) {
			c := newClient(fmt.Sprintf("127.0.%d.%d", i+1, n), "http://"+balancer, book)
			all.Go(func() {
				defer c.http.CloseIdleConnections()
				for ctx.Err() == nil {
					once(c)
					select {
					case <-time.After(pause):
					case <-ctx.Done():
					}
				}
			})
		}
		for n := range 3 {
			var cookie string
			begin(10+n, 30*time.Millisecond, func(c *client) {
				if cookie == "" {
					cookie = c.signIn(ctx, email(0))
					return
				}
				in := current(cookie)
				if n == 2 {
					in.path = "/odata/shelves?$orderby=id&$count=true"
				}
				if _, body, ok := c.ask(ctx, in); ok && n == 2 && strings.Count(body, "shelf ") != 20 {
					book.note(time.Now(), in, fmt.Errorf("rows are missing: %.200s", body))
				}
			})
		}
		who := w.person()
		begin(20, 150*time.Millisecond, func(c *client) { c.signIn(ctx, who) })
		begin(21, 300*time.Millisecond, func(c *client) { w.reset(ctx, c) })
		begin(22, 150*time.Millisecond, w.newTokens(ctx))
	}
	return &all
}

// signIn returns the cookie of a new session, which is then in the ledger.
func (c *client) signIn(ctx context.Context, who string) string {
	header, _, ok := c.ask(ctx, signIn(who, password))
	if !ok {
		return ""
	}
	var pairs []string
	for _, cookie := range (&http.Response{Header: header}).Cookies() {
		if cookie.MaxAge >= 0 {
			pairs = append(pairs, cookie.Name+"="+cookie.Value)
		}
	}
	cookie := strings.Join(pairs, "; ")
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	c.book.sessions = append(c.book.sessions, cookie)
	return cookie
}

// reset asks for a mail, waits for it and sets a new password.
func (w *site) reset(ctx context.Context, c *client) {
	who := w.person()
	if _, _, ok := c.ask(ctx, request{method: "POST", path: "/auth/forgot-password", body: fmt.Sprintf(`{"email":%q}`, who), want: 200, repeatable: true}); !ok {
		return
	}
	c.book.mu.Lock()
	c.book.wanted[who] = true
	c.book.mu.Unlock()
	token := ""
	for end := time.Now().Add(3 * time.Second); token == "" && time.Now().Before(end) && ctx.Err() == nil; token = w.mails.token(who) {
		time.Sleep(100 * time.Millisecond)
	}
	if token == "" {
		return // late, and looked for at the end
	}
	next := "another-" + password
	body, _ := json.Marshal(map[string]string{"token": token, "email": who, "password": next, "password_confirmation": next})
	if _, _, ok := c.ask(ctx, request{method: "POST", path: "/auth/reset-password", body: string(body), want: 200}); ok {
		c.book.mu.Lock()
		defer c.book.mu.Unlock()
		c.book.changed[who] = next
	}
}

// newTokens makes tokens, forty for each person, and asks with each one.
func (w *site) newTokens(ctx context.Context) func(*client) {
	cookie, made := "", 40
	return func(c *client) {
		if made == 40 {
			cookie, made = c.signIn(ctx, w.person()), 0
		}
		if cookie == "" {
			made = 40
			return
		}
		made++
		_, body, ok := c.ask(ctx, request{method: "POST", path: "/auth/tokens", body: `{"name":"a token"}`, cookie: cookie, want: 201})
		var answer struct{ Token string }
		if !ok || json.Unmarshal([]byte(body), &answer) != nil {
			return
		}
		c.book.mu.Lock()
		c.book.tokens = append(c.book.tokens, answer.Token)
		c.book.mu.Unlock()
		c.ask(ctx, request{method: "GET", path: "/odata/shelves", bearer: answer.Token, want: 200, repeatable: true})
	}
}

// person returns somebody who was not used yet.
func (w *site) person() string { return email(int(w.used.Add(1))) }
