package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-plugin"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// TestMain serves the plugins that benchmarks start from their own program.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-role" {
		serveRules(os.Args[2])
	}
	code := m.Run()
	plugin.CleanupClients()
	os.Exit(code)
}

// sink takes an answer and keeps nothing but its status.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }

// startedHost is the handler of the whole host.
func startedHost(b *testing.B, db, dsn string) http.Handler {
	b.Helper()
	o, err := vestibule(b.Context(), db, dsn)
	if err != nil {
		b.Fatal(err)
	}
	h, err := host.New(o)
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	handler, err := h.Handler()
	if err != nil {
		b.Fatal(err)
	}
	return handler
}

// BenchmarkHandlers compares what `make bench` measures over HTTP without the network in between: the whole host, and
// the handler that was written by hand.
func BenchmarkHandlers(b *testing.B) {
	file := filepath.Join(b.TempDir(), "bench.db")
	if err := makeData(b.Context(), file, 20_000); err != nil {
		b.Fatal(err)
	}
	if err := writable(b.Context(), "sqlite", file); err != nil {
		b.Fatal(err)
	}
	ours := startedHost(b, "sqlite", file)
	byHand, err := baselineOf(b.Context(), "sqlite", file)
	if err != nil {
		b.Fatal(err)
	}
	cookie := signedIn(b, ours)
	same := func(target string) func(int) string { return func(int) string { return target } }
	fresh := func(target string) func(int) string {
		return func(i int) string { return fmt.Sprintf("%sfresh=%d", target, i) }
	}
	cases := []struct {
		name           string
		ours, baseline func(i int) string
	}{
		{"Page", fresh("/odata/Products?"), same("/page")},
		{"Guarded", fresh("/odata/Guarded?"), nil},
		{
			"Filtered", func(i int) string {
				return fmt.Sprintf("/odata/Products?$filter=category_id%%20eq%%20%d%%20and%%20price%%20gt%%2010&$orderby=price", i%500+1)
			},
			func(i int) string { return fmt.Sprintf("/filtered?category=%d", i%500+1) },
		},
		{
			"Unseen", func(i int) string { // neither the plan nor the rows are known
				return fmt.Sprintf("/odata/Products?$filter=category_id%%20eq%%20%d%%20and%%20price%%20gt%%20%d.5&$orderby=price", i%500+1, 10+i/500)
			},
			func(i int) string { return fmt.Sprintf("/filtered?category=%d", i%500+1) },
		},
		{"Counted", fresh("/odata/Products?$count=true&"), same("/counted")},
		{"Expanded", fresh("/odata/Products?$expand=reviews&"), same("/expanded")},
		{"DeepSkip", func(i int) string { return fmt.Sprintf("/odata/Products?$orderby=price&$skip=%d", i*37%95*200) }, nil},
		{"Grouped", fresh("/odata/Products?$apply=groupby((category_id),aggregate(price%20with%20sum%20as%20total,$count%20as%20n))&$top=1000&"), same("/grouped")},
		{"Unchanged", same("/odata/Products"), nil},
	}
	for _, c := range cases {
		run := func(h http.Handler, target func(int) string) func(*testing.B) {
			return func(b *testing.B) {
				b.ReportAllocs()
				before := processor(b)
				for i := 0; b.Loop(); i++ {
					r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+target(i), nil)
					if c.name == "Guarded" {
						r.AddCookie(cookie)
					}
					w := &sink{header: http.Header{}}
					if h.ServeHTTP(w, r); w.status >= 300 {
						b.Fatalf("%s: %d", r.URL, w.status)
					}
				}
				b.ReportMetric(float64(processor(b)-before)/float64(b.N)/1000, "cpu-µs/op")
			}
		}
		b.Run(c.name+"/vestibule", run(ours, c.ours))
		if c.baseline != nil {
			b.Run(c.name+"/baseline", run(byHand, c.baseline))
		}
	}
}

// BenchmarkServers is the same for one page of a server's database, host and handler by hand. The processor time that it
// reports is that of the process, which has nothing of the server in it.
func BenchmarkServers(b *testing.B) {
	for name, data := range map[string]func(context.Context, int) (string, error){"postgres": postgresData, "mariadb": mariadbData} {
		b.Run(name, func(b *testing.B) {
			dsn, err := data(b.Context(), 100_000)
			if err != nil {
				b.Skip(err)
			}
			ours := startedHost(b, name, dsn)
			byHand, err := baselineOf(b.Context(), name, dsn)
			if err != nil {
				b.Fatal(err)
			}
			cookie := signedIn(b, ours)
			cases := []struct {
				name    string
				handler http.Handler
				target  string
				numbers int
			}{
				{"Page/vestibule", ours, "/odata/Products?fresh=%d", 1 << 40},
				{"Page/baseline", byHand, "/page?fresh=%d", 1 << 40},
				{"Filtered/vestibule", ours, "/odata/Products?$filter=category_id%%20eq%%20%d%%20and%%20price%%20gt%%2010&$orderby=price", 500},
				{"Unseen/vestibule", ours, "/odata/Products?$filter=category_id%%20eq%%20%d%%20and%%20price%%20gt%%2010&$orderby=price&$top=3", 100_000_007},
				{"Filtered/baseline", byHand, "/filtered?n=%d", 500},
				{"Guarded/vestibule", ours, "/odata/Guarded?fresh=%d", 1 << 40},
				{"One/vestibule", ours, "/odata/Products?$top=1&$select=id&fresh=%d", 1 << 40},
				{"OneGuarded/vestibule", ours, "/odata/Guarded?$top=1&$select=id&fresh=%d", 1 << 40},
			}
			for _, c := range cases {
				b.Run(c.name, func(b *testing.B) {
					b.ReportAllocs()
					before := processor(b)
					for i := 0; b.Loop(); i++ {
						r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+fmt.Sprintf(c.target, i*37%c.numbers+1), nil)
						if strings.Contains(c.name, "Guarded") {
							r.AddCookie(cookie)
						}
						w := &sink{header: http.Header{}}
						if c.handler.ServeHTTP(w, r); w.status >= 300 {
							b.Fatalf("%s: %d", r.URL, w.status)
						}
					}
					b.ReportMetric(float64(processor(b)-before)/float64(b.N)/1000, "cpu-µs/op")
				})
			}
		})
	}
}

// processor is the processor time of this process so far, in ns.
func processor(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func signedIn(b *testing.B, h http.Handler) *http.Cookie {
	body := strings.NewReader(fmt.Sprintf(`{"login":%q,"password":%q}`, login, secret))
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/auth/login", body)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if len(w.Result().Cookies()) == 0 {
		b.Fatalf("sign in: %s", w.Body)
	}
	return w.Result().Cookies()[0]
}

// BenchmarkWrites measures a row and a changeset of a hundred rows, by the host and by a handler by hand, without the network.
func BenchmarkWrites(b *testing.B) {
	for _, db := range []string{"sqlite", "postgres", "mariadb"} {
		b.Run(db, func(b *testing.B) { benchmarkWrites(b, db) })
	}
}

func benchmarkWrites(b *testing.B, db string) {
	dsn, err := settings{rows: 100, dir: b.TempDir()}.data(b.Context(), db)
	if err != nil {
		b.Skip(err)
	}
	if err := writable(b.Context(), db, dsn); err != nil {
		b.Fatal(err)
	}
	ours := startedHost(b, db, dsn)
	byHand, err := baselineOf(b.Context(), db, dsn)
	if err != nil {
		b.Fatal(err)
	}
	cookie := signedIn(b, ours)
	run := func(h http.Handler, next func() string) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			before := processor(b)
			for b.Loop() {
				r, err := requestOf("http://127.0.0.1", next())
				if err != nil {
					b.Fatal(err)
				}
				r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:9"
				r.AddCookie(cookie)
				w := &sink{header: http.Header{}}
				if h.ServeHTTP(w, r); w.status >= 300 {
					b.Fatalf("%s: %d", r.URL, w.status)
				}
			}
			b.ReportMetric(float64(processor(b)-before)/float64(b.N)/1000, "cpu-µs/op")
		}
	}
	for _, w := range writings() {
		if w.name == "delete one row" { // there are not as many as the benchmark may ask for
			continue
		}
		b.Run(w.name+"/vestibule", run(ours, w.ours))
		b.Run(w.name+"/baseline", run(byHand, w.byHand))
	}
}
