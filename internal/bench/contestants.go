package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-plugin"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The account that the guarded page is read with.
const (
	login  = "bench@example.com"
	secret = "a-password-for-benchmarks"
)

// serve is a contestant's process: it prints its address and serves until its standard input ends.
func (s settings) serve(ctx context.Context) error {
	if s.role == validator || s.role == judge {
		serveRules(s.role)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		plugin.CleanupClients()
		os.Exit(0)
	}()
	switch s.role {
	case "vestibule":
		if err := sqlite.LimitMemory(heap); err != nil {
			return err
		}
		return serveHost(ctx, vestibule, s.db, s.dsn)
	case "people":
		return serveHost(ctx, people, s.db, s.dsn)
	case "edge":
		return serveHost(ctx, s.edgeHost, s.db, s.dsn)
	case "application":
		return serveByHand(application())
	case "bare":
		return s.serveBare()
	case "baseline":
		handler, err := baselineOf(ctx, s.db, s.dsn)
		if err != nil {
			return err
		}
		return serveByHand(handler)
	case "static":
		return serveByHand(static(nil))
	}
	return fmt.Errorf("no role %q", s.role)
}

// serveByHand serves what is no host.
func serveByHand(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return http.Serve(listener, handler) // loopback, ends with its parent
}

// serveHost serves as the program does, on a free port.
func serveHost(ctx context.Context, options func(ctx context.Context, db, dsn string) (host.Options, error), db, dsn string) error {
	o, err := options(ctx, db, dsn)
	if err != nil {
		return err
	}
	o.Server.Address = "127.0.0.1:0"
	o.Server.OnReady = func(listening, _ string) { fmt.Println(listening) }
	h, err := host.New(o)
	if err != nil {
		return err
	}
	return h.Run(ctx)
}

func baselineOf(ctx context.Context, db, dsn string) (http.Handler, error) {
	rules, err := startJudge()
	if err != nil {
		return nil, err
	}
	switch db {
	case "postgres":
		return postgresByHand(ctx, dsn, rules)
	case "mariadb":
		return mariadbByHand(ctx, dsn, rules)
	}
	return baseline(dsn, rules)
}

// heap is the memory of SQLite in bytes, which a host has of 1 GiB.
const heap = 128 << 20

// open opens the database for sign-in, and as queries read it.
func open(ctx context.Context, name, dsn string) (*store.DB, sqlsource.Database, error) {
	openStore, openQueries, dialect := postgres.Open, postgres.OpenForQueries, "postgres"
	switch name {
	case "sqlite":
		db, err := sqlite.Open(ctx, dsn)
		if err != nil {
			return nil, sqlsource.Database{}, err
		}
		return db, sqlsource.Database{Dialect: "sqlite", DSN: dsn, Writer: db.Writer(), HeapBytes: heap}, nil
	case "mariadb":
		openStore, openQueries, dialect = mysql.Open, mysql.OpenForQueries, "mysql"
	}
	db, err := openStore(ctx, dsn)
	if err != nil {
		return nil, sqlsource.Database{}, err
	}
	own, err := openQueries(ctx, dsn)
	if err != nil {
		return nil, sqlsource.Database{}, err
	}
	return db, sqlsource.Database{Dialect: dialect, DB: own.Reader(), Closer: own}, nil
}

// vestibule is the whole host, with one set open and one behind the sign-in.
func vestibule(ctx context.Context, name, dsn string) (o host.Options, err error) {
	db, from, err := open(ctx, name, dsn)
	if err != nil {
		return o, err
	}
	if _, err := db.Migrate(ctx); err != nil {
		return o, err
	}
	rules, err := validatorOf()
	if err != nil {
		return o, err
	}
	one := func(name, to, column string) []sqlsource.Navigation {
		return []sqlsource.Navigation{{Name: name, To: to, On: map[string]string{column: "id"}}}
	}
	items := sqlsource.Navigation{Name: "items", To: "GuardedItems", Many: true, On: map[string]string{"id": "order_id"}}
	reviews := sqlsource.Navigation{Name: "reviews", To: "Reviews", Many: true, On: map[string]string{"id": "product_id"}}
	source, err := sqlsource.New(ctx, from, sqlsource.Config{
		Guard: edm.GuardNone, Discover: []string{"parts_*"},
		EntitySets: []sqlsource.EntitySet{
			{Name: "Products", Table: "products", Type: "Product", Navigations: []sqlsource.Navigation{reviews}},
			{Name: "Guarded", Table: "products", Type: "GuardedProduct", Guard: "session"},
			{Name: "Reviews", Table: "reviews", Type: "Review"},
			{Name: "GuardedNoted", Table: "noted", Type: "Noted", Guard: "session", Write: &sqlsource.Write{Create: true, Update: true, Delete: true, Version: "version"}},
			{Name: "GuardedJudged", Table: "noted", Type: "Judged", Guard: "session", Write: &sqlsource.Write{Create: true, Version: "version", Validator: rules.Name}},
			{Name: "GuardedOrders", Table: "orders", Type: "Order", Guard: "session", Write: &sqlsource.Write{Create: true, Version: "version"}, Navigations: []sqlsource.Navigation{items}},
			{
				Name: "GuardedItems", Table: "items", Type: "Item", Guard: "session", Write: &sqlsource.Write{Create: true},
				Navigations: append(one("order", "GuardedOrders", "order_id"), one("product", "Products", "product_id")...),
			},
		},
	})
	if err != nil {
		return o, err
	}
	o = host.Options{
		Store:   db,
		Plugins: []host.Plugin{rules},
		OData:   &host.ODataOptions{Model: source.Model(), Source: source},
		Routes:  []host.Route{{Name: "dashboard", Path: "/dashboard", Redirect: "/"}},
	}
	return o, addUser(ctx, o)
}

// addUser adds the account where there is none yet.
func addUser(ctx context.Context, o host.Options) error {
	admin, err := host.NewAdmin(o)
	if err != nil {
		return err
	}
	if _, err := admin.AddUser(ctx, login, "Bench", secret); err != nil && !errors.Is(err, host.ErrTaken) {
		return err
	}
	return nil
}

// static answers POST /body by keeping the body, and everything else with it.
func static(body []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /body", func(_ http.ResponseWriter, r *http.Request) { body, _ = io.ReadAll(r.Body) })
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	return mux
}
