package config_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Under the defaults of production, 32 connections of one client that do not read
// their long answers leave another client its pages and its sign-in, and /readyz.
func TestSlowReadersLeaveRoomUnderDefaults(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			s := serveOn(t, driver, "", `discover = ["big", "shelves"]`, nil, bigTable()...)
			for range 32 {
				c, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				_ = c.(*net.TCPConn).SetReadBuffer(4096)
				if _, err := fmt.Fprintf(c, "GET /odata/big?$top=1000000 HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(s.base, "http://")); err != nil {
					t.Fatal(err)
				}
			}
			innocent := &http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{ // much less than a slow reader has
				DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext,
			}}
			ask := func(path, body string) {
				t.Helper()
				method := "GET"
				if body != "" {
					method = "POST"
				}
				r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				res, err := innocent.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = res.Body.Close() }()
				if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
					t.Errorf("%s: %s %.200s %v", path, res.Status, text, err)
				}
			}
			for range 10 {
				ask("/odata/big?$top=5", "")
				ask("/odata/shelves", "")
				ask("/readyz", "")
			}
			ask("/auth/login", asAda)
		})
	}
}

// bigTable makes a table of 8 MiB.
func bigTable() []string {
	statements := []string{
		`CREATE TABLE big (id INTEGER PRIMARY KEY, text VARCHAR(2048) NOT NULL)`,
		`INSERT INTO big VALUES (0, '` + strings.Repeat("x", 2048) + `')`,
	}
	for n := 1; n < 4096; n *= 2 {
		statements = append(statements, fmt.Sprintf(`INSERT INTO big SELECT id + %d, text FROM big`, n))
	}
	return statements
}
