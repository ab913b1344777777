package host_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// A limit that refuses has counted each refusal and written one line with its key
// and what was asked for; all limits are counted from the start.
func TestRefusalsAreCounted(t *testing.T) {
	id := &edm.Property{Name: "ID", Type: edm.Of(edm.Int64)}
	typ := &edm.EntityType{Name: "Number", Key: []*edm.Property{id}, Properties: []*edm.Property{id}}
	model := &odata.Model{Namespace: "D", Container: "C", Guard: edm.GuardNone, Types: []*edm.EntityType{typ}, Sets: []*edm.EntitySet{
		{Name: "Numbers", Type: typ, Guard: edm.GuardNone},
	}}
	log := &logs{}
	base, admin := runWithAdmin(t, host.Options{
		Store: sqliteStore(t), Logger: hclog.New(&hclog.LoggerOptions{Output: log}),
		Limits: host.LimitOptions{RequestsPerClient: 2},
		OData: &host.ODataOptions{Model: model, Source: sorting{make(chan string)}, Options: odata.Options{
			Limits: odata.Limits{MaxTop: 5, FilterNodes: 3},
		}},
	})
	read := func(url string) string {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	metrics := func(limit, want string) {
		t.Helper()
		if line := `vestibule_refused_total{limit="` + limit + `"} ` + want + "\n"; !strings.Contains(read("http://"+admin+"/metrics"), line) {
			t.Errorf("no %s", line)
		}
	}
	for _, limit := range []string{
		"limits.requests_per_client", "limits.upgrades_per_client", "odata.limits.concurrent", "odata.database.max_connections",
		"odata.limits.max_top", "odata.limits.expand_depth", "odata.limits.filter_nodes", "odata.limits.rows", "odata.limits.bytes",
		"odata.limits.timeout", "odata.limits.slow_reader", "odata_fixed", "password_hashing", "body_deadline", "validator_calls",
	} {
		metrics(limit, "0")
	}
	for range 20 {
		if body := read(base + "/odata/Numbers?$top=6"); !strings.Contains(body, "odata.limits.max_top is 5") {
			t.Fatal(body)
		}
	}
	read(base + "/odata/Numbers?$filter=ID+eq+1+and+ID+eq+2")
	metrics("odata.limits.max_top", "20")
	metrics("odata.limits.filter_nodes", "1")
	for _, limit := range []string{"max_top", "filter_nodes"} {
		if n := strings.Count(log.String(), "limit=odata.limits."+limit); n != 1 {
			t.Errorf("%d lines of %s", n, limit)
		}
	}
	if !strings.Contains(log.String(), "client=127.0.0.1") || !strings.Contains(log.String(), "/odata/Numbers") || !strings.Contains(log.String(), "$top is 6") {
		t.Errorf("the log says too little:\n%s", log)
	}
}

// runWithAdmin runs a host until the test ends, and returns its address and that of
// its admin listener. Another program may take the port that was free a moment ago.
func runWithAdmin(t *testing.T, o host.Options) (base, admin string) {
	t.Helper()
	for range 10 {
		port, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		admin = port.Addr().String()
		_ = port.Close()
		ready, ended := make(chan string, 1), make(chan error, 1)
		o.Server = host.ServerOptions{Address: "127.0.0.1:0", AdminAddress: admin, OnReady: func(_, base string) { ready <- base }}
		h, err := host.New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- h.Run(ctx) }()
		select {
		case base = <-ready:
			t.Cleanup(func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
			return base, admin
		case err = <-ended:
			cancel()
			if !errors.Is(err, syscall.EADDRINUSE) {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("no port was free ten times in a row")
	return "", ""
}
