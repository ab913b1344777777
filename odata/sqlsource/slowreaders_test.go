package sqlsource_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// connections is the size of the pool that clients contend for, readers how many clients do not read.
const (
	connections = 4
	readers     = 8
)

// TestSlowReadersKeepNoConnection has more clients that do not read than there are connections.
func TestSlowReadersKeepNoConnection(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, bigRows(dialect))
			t.Run("of answers that fit into the spool", func(t *testing.T) {
				server, _ := serveRows(t, db, 1)
				var idle []net.Conn
				for range readers {
					idle = append(idle, ask(t, server, "/Big?$top=400")) // 800 kB
				}
				page(t, server)
				for _, c := range idle {
					if body, err := answerOf(c); err != nil || !json.Valid(body) {
						t.Errorf("%d bytes, %v", len(body), err)
					}
				}
			})
			t.Run("of longer ones", func(t *testing.T) {
				server, log := serveRows(t, db, 1<<20)
				var idle []net.Conn
				for range readers {
					idle = append(idle, ask(t, server, "/Big?$top=4000")) // 8 MB
				}
				page(t, server)
				broken := 0
				for _, c := range idle {
					if body, err := answerOf(c); err != nil && !json.Valid(body) {
						broken++
					}
				}
				if broken < connections { // the others may have got a connection when everybody read again
					t.Errorf("%d answers were broken off, and page came through %d connections", broken, connections)
				}
				if !strings.Contains(log.String(), "odata.limits.slow_reader") || !strings.Contains(log.String(), "1048576 bytes a second") {
					t.Errorf("the log names no limit: %s", log)
				}
			})
			t.Run("of whole tables", func(t *testing.T) {
				server, log := serveRows(t, db, 1<<20)
				var idle []net.Conn
				for range readers {
					idle = append(idle, ask(t, server, "/Big?$format=csv")) // 8 MB
				}
				page(t, server)
				broken := 0
				for _, c := range idle {
					if _, err := answerOf(c); err != nil {
						broken++
					}
				}
				if broken < connections || !strings.Contains(log.String(), "odata.limits.slow_reader") {
					t.Errorf("%d answers were broken off: %s", broken, log)
				}
			})
			t.Run("of a batch", func(t *testing.T) {
				server, _ := serveRows(t, db, 1<<20)
				var idle []net.Conn
				part := `{"id":"%d","method":"GET","url":"Big?$top=1000"}`
				body := fmt.Sprintf(`{"requests":[`+part+","+part+","+part+`]}`, 1, 2, 3)
				for range readers {
					idle = append(idle, dial(t, server, fmt.Sprintf(
						"POST /$batch HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)))
				}
				page(t, server)
				for _, c := range idle {
					_ = c.Close()
				}
			})
		})
	}
}

// TestPatientReader reads in lumps with pauses, at more than the least rate on average.
func TestPatientReader(t *testing.T) {
	t.Parallel()
	db := database(t, "sqlite", bigRows("sqlite"))
	server, log := serveRows(t, db, 256<<10)
	c := ask(t, server, "/Big?$top=4000")
	r := bufio.NewReaderSize(&lumps{r: c}, 512)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || !json.Valid(body) || len(body) < 8e6 {
		t.Errorf("%d bytes, %v\n%s", len(body), err, log)
	}
}

// lumps pauses before every 512 KiB.
type lumps struct {
	r  io.Reader
	at int
}

func (l *lumps) Read(p []byte) (int, error) {
	if l.at >= 512<<10 {
		l.at = 0
		time.Sleep(200 * time.Millisecond)
	}
	n, err := l.r.Read(p)
	l.at += n
	return n, err
}

// bigRows makes 4000 rows of 2 kB.
func bigRows(dialect string) string {
	var b strings.Builder
	b.WriteString(strings.Replace(ddlOf(dialect, "CREATE TABLE big (id {BIG} PRIMARY KEY, text {STR} NOT NULL);\n"), "80", "2000", 1))
	for from := 0; from < 4000; from += 200 {
		b.WriteString("INSERT INTO big VALUES ")
		for i := range 200 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "(%d,'%s')", from+i, strings.Repeat("x", 2000))
		}
		b.WriteString(";\n")
	}
	return b.String()
}

// serveRows serves the rows through few connections, to clients of which the kernel buffers little.
func serveRows(t *testing.T, db sqlsource.Database, least int64) (*httptest.Server, *lockedBuffer) {
	t.Helper()
	db.MaxConns = connections
	db.DB.SetMaxOpenConns(connections)
	source, err := sqlsource.New(t.Context(), db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Big", Table: "big"}}})
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	s, err := odata.New(source.Model(), source, odata.Options{SlowReader: least, Logger: hclog.New(&hclog.LoggerOptions{Output: log})})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(64 << 10)
		return ctx
	}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, log
}

// ask sends a request and leaves the answer unread.
func ask(t *testing.T, server *httptest.Server, target string) net.Conn {
	t.Helper()
	return dial(t, server, "GET "+target+" HTTP/1.1\r\nHost: h\r\n\r\n")
}

func dial(t *testing.T, server *httptest.Server, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(128 << 10)
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

// page asks for rows as another client, which reads them at once.
func page(t *testing.T, server *httptest.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for skip := range 20 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/Big?$top=2&$skip=%d", server.URL, skip), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("a client that reads got no page: %v", err)
		}
		if body, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || err != nil {
			t.Fatalf("%d %s %v", resp.StatusCode, body, err)
		}
		_ = resp.Body.Close()
	}
}

func answerOf(c net.Conn) ([]byte, error) {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
