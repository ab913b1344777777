package odatatest_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// fuzzPeak is how much memory the process may ever have taken: that of the database, which is not Go's, included.
const fuzzPeak = 1 << 30

// FuzzRequest holds for any request to SQLite and to Go slices: no panic, no 500, and a bounded process.
func FuzzRequest(f *testing.F) {
	debug.SetMemoryLimit(fuzzPeak / 2)
	for _, seed := range []string{
		"Things?$compute=concat(name,name) as a0,concat(a0,a0) as a1,concat(a1,a1) as a2&$filter=length(a2) gt 9&$orderby=a2,a1 desc",
		"Things?$compute=id add id as a,a add a as b,b add b as c,c add c as d,d add d as e&$orderby=e,e desc&$select=id,e&$top=3",
		"Things?$expand=children($expand=children($expand=children($expand=children;$levels=max)),tags($compute=length(label) as l))",
		"Things?$expand=*($levels=max)&$top=1000000", "Things?$expand=lines($top=100000;$skip=1;$count=true)&$top=100000",
		"Things?$filter=@a and @a&@a=@b or @b&@b=@c and @c&@c=children/any(x:x/lines/any(y:y/qty gt x/id))",
		"Things?$filter=cast(cast(cast(cast(id,Edm.Int16),Edm.Int32),Edm.Int16),Edm.Int32) in (1,2,3)",
		"Things?$search=a OR b AND NOT \"c d\"&$filter=matchesPattern(name,'(a*)*b')", "Tags('a')/thing_tags?$expand=thing($expand=tags)",
		"Things/$filter(id gt 1)/$count?$filter=price div id lt 1e300 mul 1e10", "Lines(order_no=1,line_no=2)/thing/parent/parent/name/$value",
		"Things?$apply=filter(id gt 1)/groupby((rollup(parent/name,ok),home),aggregate(price with sum as s,$count as n,name with max as m))&$filter=isdefined(ok)&$orderby=s desc",
		"Lines?$apply=concat(topsum(3,qty),groupby((thing/name),filter($these/aggregate(qty with average) lt qty)/aggregate(thing/price with average from order_no with max as d)))&$search=a",
		"Things?$apply=compute(id add 1 as j)/orderby(j desc)/skip(1)/top(3)/concat(identity,aggregate(j with countdistinct as k))&$compute=k add 1 as l&$count=true",
	} {
		f.Add(strings.ReplaceAll(seed, " ", "%20"))
	}
	services := []http.Handler{fuzzSQLite(f), fuzzMemory(f)}
	f.Fuzz(func(t *testing.T, target string) {
		for _, s := range services {
			r := httptest.NewRequest("GET", "/", nil)
			r.RequestURI = "/odata/" + target
			w := &heldWriter{header: http.Header{}}
			if !serves(s, w, r) && w.status != http.StatusOK {
				t.Fatalf("%q breaks off with %d", target, w.status)
			}
			if w.status == http.StatusInternalServerError {
				t.Fatalf("%q gives 500", target)
			}
		}
		if peak := peakMemory(t); peak > fuzzPeak {
			t.Fatalf("%q: the process has taken %d MiB", target, peak>>20)
		}
	})
}

// serves is false when the connection is broken on purpose.
func serves(s http.Handler, w http.ResponseWriter, r *http.Request) (ended bool) {
	defer func() {
		v := recover()
		if err, ok := v.(error); v != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(v)
		}
	}()
	s.ServeHTTP(w, r)
	return true
}

func fuzzOptions() odata.Options {
	return odata.Options{
		Root: "/odata/", Timeout: 2 * time.Second, Limits: odata.Limits{Rows: 20_000, Bytes: 64 << 20},
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": int64(1)}}, nil
		},
	}
}

func fuzzSQLite(f *testing.F) http.Handler {
	dsn := filepath.Join(f.TempDir(), "fuzz.db")
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	if err := odatatest.Fill(db, "sqlite"); err != nil {
		f.Fatal(err)
	}
	source, err := sqlsource.New(f.Context(), sqlsource.Database{Dialect: "sqlite", DB: db, DSN: dsn}, odatatest.Mapping())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = source.Close() })
	s, err := odata.New(source.Model(), source, fuzzOptions())
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func fuzzMemory(f *testing.F) http.Handler {
	source, err := memory.New(odatatest.Memory())
	if err != nil {
		f.Fatal(err)
	}
	s, err := odata.New(source.Model(), source, fuzzOptions())
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// peakMemory is the most memory that the process has had; outside of Linux, what Go has of it now.
func peakMemory(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(string(rest)), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}
