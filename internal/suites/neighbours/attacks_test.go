package neighbours

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// connections is how many an attacker has open at once, for each kind of attack.
const connections = 32

// An attack is what one connection does, over and over until ctx ends.
type attack struct {
	name string
	once func(ctx context.Context, c *http.Client, base string, n int)
}

// attacks are the kinds that were seen to stop the service.
func attacks() []attack {
	return []attack{
		{"doubling text", func(ctx context.Context, c *http.Client, base string, _ int) {
			terms := []string{"concat(name,name) as a0"}
			for i := 1; i < 24; i++ {
				terms = append(terms, fmt.Sprintf("concat(a%d,a%d) as a%d", i-1, i-1, i))
			}
			get(ctx, c, base+"/odata/Products?$top=1&$compute="+url.QueryEscape(strings.Join(terms, ","))+"&$select=a23")
		}},
		{"slow readers", readSlowly},
		{"unindexed sorts", func(ctx context.Context, c *http.Client, base string, n int) {
			get(ctx, c, fmt.Sprintf("%s/odata/Products?$orderby=rating,sku&$top=10&$filter=stock%%20gt%%20%d", base, n%500))
		}},
		{"heavy batches", func(ctx context.Context, c *http.Client, base string, n int) {
			var parts []string
			for i := range 12 {
				parts = append(parts, fmt.Sprintf(`{"id":"%d","method":"get","url":"Products?$orderby=name&$top=1&$filter=contains(description,'x%d')"}`, i, n))
			}
			post(ctx, c, base+"/odata/$batch", "application/json", `{"requests":[`+strings.Join(parts, ",")+`]}`)
		}},
		{"deep expands", func(ctx context.Context, c *http.Client, base string, _ int) {
			get(ctx, c, base+"/odata/People?$expand=knows($expand=knows($expand=knows($expand=knows)))")
		}},
		{"guesses", func(ctx context.Context, c *http.Client, base string, n int) {
			post(ctx, c, base+"/auth/login", "application/json", fmt.Sprintf(`{"login":"person%d@example.com","password":"a wrong password %d"}`, n, n))
		}},
		{"guests", func(ctx context.Context, c *http.Client, base string, n int) {
			get(ctx, c, fmt.Sprintf("%s/login?redirect=/dashboard/%d%s", base, n, strings.Repeat("x", 1500)))
		}},
		{"half-sent bodies", sendHalf},
	}
}

func get(ctx context.Context, c *http.Client, target string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		panic(err) // a mistake in this file
	}
	drain(c, r)
}

func post(ctx context.Context, c *http.Client, target, media, body string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		panic(err) // a mistake in this file
	}
	r.Header.Set("Content-Type", media)
	drain(c, r)
}

// drain reads an answer to its end. Refusals come at once, and an attacker that
// spins on them measures its own processor time; it rests for a moment instead.
func drain(c *http.Client, r *http.Request) {
	resp, err := c.Do(r)
	if err != nil {
		rest(r.Context())
		return
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode >= 400 {
		rest(r.Context())
	}
}

func rest(ctx context.Context) {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
	}
}

// readSlowly asks for all rows and reads a few bytes a second.
func readSlowly(ctx context.Context, _ *http.Client, base string, _ int) {
	conn := raw(ctx, base)
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	_, _ = fmt.Fprintf(conn, "GET /odata/Products?$top=1000000 HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(base, "http://"))
	reader := bufio.NewReaderSize(conn, 16)
	for ctx.Err() == nil {
		if _, err := reader.ReadByte(); err != nil {
			rest(ctx)
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// sendHalf announces a body and sends a byte of it.
func sendHalf(ctx context.Context, _ *http.Client, base string, _ int) {
	conn := raw(ctx, base)
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /auth/login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", strings.TrimPrefix(base, "http://"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, conn)
	}()
	select {
	case <-ended:
		rest(ctx)
	case <-ctx.Done():
	}
}

func raw(ctx context.Context, base string) net.Conn {
	d := dialer(attacker)
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		rest(ctx)
		return nil
	}
	return conn
}

// roleKey makes the test binary an attacker: the names of attacks, and the base URL.
const roleKey = "NEIGHBOURS_ATTACK"

// TestMain runs as an attacker when it is started as one, so that attackers have a
// process, and thereby a scheduler, of their own.
func TestMain(m *testing.M) {
	names, base, ok := strings.Cut(os.Getenv(roleKey), "|")
	if !ok {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with its parent
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var wg sync.WaitGroup
	for _, a := range attacks() {
		if names != "all" && names != a.name {
			continue
		}
		for i := range connections {
			wg.Go(func() {
				c := client(attacker)
				for n := i; ctx.Err() == nil; n += connections {
					a.once(ctx, c, base, n)
				}
			})
		}
	}
	wg.Wait()
}

// attackFrom starts an attacker's process; the function that it returns ends it.
func attackFrom(t *testing.T, name, base string) (stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleKey+"="+name+"|"+base)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the attacker %s: %v\n%s", name, err, out.String())
		}
	}
}
