package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// The databases that every.hcl names.
const (
	everyUser = `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, password TEXT, remember_token TEXT, partner_id INTEGER, tenant_id INTEGER)`
	everyShop = `CREATE TABLE products (id INTEGER PRIMARY KEY, number INTEGER UNIQUE NOT NULL, title TEXT, price NUMERIC, status INTEGER, cost INTEGER,
	tenant INTEGER, company INTEGER, from_city TEXT);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product INTEGER);
CREATE TABLE plain (id INTEGER PRIMARY KEY, owner INTEGER, changed INTEGER, kind INTEGER, rev INTEGER);
CREATE TABLE pairs (one INTEGER, other INTEGER);
CREATE TABLE companies (id INTEGER PRIMARY KEY, code INTEGER UNIQUE NOT NULL, secret TEXT, active INTEGER, name NUMERIC, seat_city TEXT);
CREATE TABLE others (id INTEGER PRIMARY KEY)`
)

// Every setting of the file reaches host.Options, or what is built from it.
func TestEveryKey(t *testing.T) {
	text, err := os.ReadFile("testdata/every.hcl")
	if err != nil {
		t.Fatal(err)
	}
	cert, key := certificate(t)
	dir := write(t, map[string]string{
		"config.hcl": string(text), "tls/a.crt": cert, "tls/a.key": key, "home.html": "home", "files/x": "x", "mails/x": "x", "mails/greeting.txt": "Subject: Hello\n\n{{.Text \"link\"}}\n", "mails/greeting.html": "<p>{{.Text \"link\"}}", "bin/a!": "#!/bin/sh\n", "a.js": "",
		"texts/i18n.properties": "ware = Ware\nware.price=Price\n", "texts/i18n_de_CH.properties": "ware = Artikel\nware.price=\\u00dcber 1\n",
		"app.hcl": `source "auth" { dir = "app" }`, "app/index.html": "own", "app/manifest.json": `{"name": "own", "version": "1", "core": "` + host.CoreVersion() + `"}`,
	})
	execute(t, "people.db", everyUser)
	execute(t, "shop.db", everyShop)
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatalf("findings:\n%s", strings.Join(found, "\n"))
	}
	coverKeys(t, cfg)

	opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(opts.OData.Source.(io.Closer).Close(), opts.Store.Close()) })
	same(t, "log", config.Log{Level: "warn", Format: "json"}, cfg.Server.Log) // the command makes the logger
	same(t, "wait at the start", 2*time.Second, cfg.Database.StartWait)       // Options has waited already
	compareOptions(t, dir, cert, opts)
	compareEndpoint(t, opts.OData)

	admin, err := cfg.AdminOptions(t.Context(), hclog.NewNullLogger(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Store.Close() }()
	same(t, "sessions of an operator", opts.Session, admin.Session)
	same(t, "rules of an operator", withoutActive(t, opts.Auth), withoutActive(t, admin.Auth))
	same(t, "plugins of an operator", opts.Plugins, admin.Plugins)
	same(t, "identities of an operator", opts.Identities, admin.Identities)
	same(t, "database of an operator", opts.Store.Path(), admin.Store.Path())

	reload, err := cfg.Reload(t.Context(), cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	again := reload.Options
	same(t, "what waits for a restart", []config.Waiting(nil), reload.Waiting)
	same(t, "plugins after a reload", opts.Plugins, again.Plugins)
	if again.Server.LoadTLS == nil || again.UI.App == nil {
		t.Error("a reload loses the certificate or the app")
	}
}

// compareOptions holds all of host.Options but the query endpoint against every.hcl.
func compareOptions(t *testing.T, dir, cert string, opts host.Options) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	same(t, "server", host.ServerOptions{
		Address: "127.0.0.1:1", PublicURL: &url.URL{Scheme: "https", Host: "app.example.com"}, AdminAddress: "127.0.0.1:2", RunDir: "/var/tmp", Drain: 3 * time.Second,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, PublicDir: in("files"),
	}, withoutTLS(opts.Server))
	pair, err := opts.Server.LoadTLS()
	if err != nil {
		t.Fatal(err)
	}
	if block, _ := pem.Decode([]byte(cert)); !reflect.DeepEqual(pair.Certificate[0], block.Bytes) {
		t.Error("server.tls leads to another certificate")
	}
	same(t, "database", in("people.db"), opts.Store.Path())
	same(t, "app", "Acme Orders", opts.UI.AppName)
	same(t, "limits", host.LimitOptions{RequestsPerClient: 23, UpgradesPerClient: 24, Wait: 22 * time.Second}, withoutMemory(t, opts.Limits))
	same(t, "connections of sign-in", 21, opts.Store.Reader().Stats().MaxOpenConnections)
	same(t, "session", host.SessionOptions{Idle: 3 * time.Hour, Absolute: 4 * time.Hour, Remember: 5 * time.Hour}, opts.Session)
	same(t, "auth", host.AuthOptions{
		Rules: host.Rules{
			LoginField: "name", Attempts: 6, Window: 7 * time.Second, Remember: 5 * time.Hour, MinLength: 11, PasswordHash: "keep", ClientAttempts: 77,
			ResetLifetime: 8 * time.Minute, ResetResend: 9 * time.Second, ResetAttempts: 10,
			OwnTokens: true, TokenLifetime: 12 * time.Hour, Recent: 4 * time.Minute,
			PasskeysOff: true, PasskeyRPID: "example.com",
		},
		RedirectOrigins: []string{"https://crm.example.com"},
	}, withoutActive(t, opts.Auth))
	same(t, "mail", host.MailOptions{
		Transport: "smtp", Dir: in("letters"), From: "Shop <shop@example.com>", Templates: in("mails"),
		SMTP: host.SMTPOptions{Host: "mail.example.com", Port: 2525, Username: "shop", Password: "hush", TLS: "implicit"},
	}, opts.Mail)
	same(t, "routes", []host.Route{
		{Name: "home", Path: "/", File: in("home.html"), Guard: host.GuardNone},
		{Name: "files", Path: "/files", Dir: in("files"), Guard: host.GuardSettled},
		{Name: "app", Path: "/app", Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:3"}, Guard: host.GuardNone, StripPrefix: true, Assertion: true, Headers: map[string]string{"Remote-User": "partner_id"}, Tokens: true},
		{Name: "old", Path: "/old", Redirect: "/app", Guard: host.GuardSession},
	}, opts.Routes)
	app, err := opts.UI.App.Open("index.html")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = app.Close() }()
	page, err := io.ReadAll(app)
	same(t, "ui.sources", "own", string(page))
	if err != nil || opts.UI.Live {
		t.Errorf("error %v, live %v: an app behind a public URL is served as it was built", err, opts.UI.Live)
	}
	same(t, "identities", []host.Identity{
		{Name: "company", Label: "Company account", Plugin: "b", Link: "verified_email", Create: true}, {Name: "another", Plugin: "b", Link: "never"},
	}, opts.Identities)
	same(t, "plugins", []host.Plugin{
		{
			Name: "c", Command: []string{in("bin/a")}, Dir: dir, Roles: []string{"dispenser"}, Timeout: 3 * time.Second, Mails: []string{}, PublicURL: "https://app.example.com",
			Checksums: map[string]string{}, Headers: []string{}, Env: map[string]string{}, Config: []byte("{}"),
		},
		{
			Name: "a", Command: []string{in("bin/a"), "a.js"}, Dir: dir, Roles: []string{"dispenser"}, SHA256: strings.Repeat("1", 64),
			Checksums: map[string]string{in("a.js"): strings.Repeat("2", 64)}, UserRead: []string{"partner_id"}, UserWrite: []string{"tenant_id"}, Mails: []string{"greeting"}, PublicURL: "https://app.example.com",
			Headers: []string{"accept-language"}, Env: map[string]string{"COLOUR": "red"}, Timeout: 12 * time.Second,
			Config: []byte(`{"fallback":"/x"}`),
		},
		{
			Name: "b", Command: []string{in("bin/a")}, Dir: dir, Roles: []string{"org_setup", "identity_provider", "validator"}, Timeout: 3 * time.Second, Mails: []string{}, PublicURL: "https://app.example.com",
			Checksums: map[string]string{}, Headers: []string{}, Env: map[string]string{}, Config: []byte("{}"),
		},
	}, opts.Plugins)
}

// withoutMemory returns the limits without those that are parts of server.memory, which must be parts of 300 MiB.
func withoutMemory(t *testing.T, o host.LimitOptions) host.LimitOptions {
	t.Helper()
	if o.Hashes < 1 || o.Hashes > 2 || o.SpoolBlocks < 400 || o.SpoolBlocks > 600 {
		t.Errorf("of 300 MiB there are %d hashes and %d blocks", o.Hashes, o.SpoolBlocks)
	}
	o.Hashes, o.SpoolBlocks = 0, 0
	return o
}

// compareEndpoint holds the query endpoint against the block odata of every.hcl.
func compareEndpoint(t *testing.T, o *host.ODataOptions) {
	t.Helper()
	same(t, "connections of queries", [2]int{25, 28}, [2]int{o.Connections, o.Concurrent})
	same(t, "odata.limits", odata.Limits{PageSize: 13, MaxPageSize: 14, MaxTop: 15, ExpandDepth: 16, FilterNodes: 17, ApplySteps: 33, ApplyGroups: 34, Rows: 26, Bytes: 27 << 10}, o.Options.Limits)
	if p, a := o.Options.Plans, o.Options.AnswerBytes; p < 400 || p > 600 || a < 10<<20 || a > 14<<20 {
		t.Errorf("of 300 MiB there are %d plans and %d bytes of answers", p, a)
	}
	same(t, "odata.pagination.links", true, o.Options.KeyLinks)
	same(t, "odata.limits.timeout", 18*time.Second, o.Options.Timeout)
	same(t, "odata.limits.slow_reader", int64(3<<10), o.Options.SlowReader)
	m := o.Model
	same(t, "odata.guard", edm.GuardSession, m.Guard)
	same(t, "sets", []string{
		"Products Ware session key number, searchable, no $apply, only tenant eq @user_tenant_id",
		"Plain Plain session key id",
		"reviews reviews session key id",
	}, described(m.Sets))
	same(t, "singletons", []string{
		"Company Firm settled key code, only active eq 1",
		"Other Other session key id",
	}, described(m.Singletons))
	same(t, "shape of Products", []string{
		"id Edm.Int64", "number Edm.Int64", "title Edm.String", "Price Edm.Decimal(12,3)", "status Status", "tenant Edm.Int64", "company Edm.Int64", "From Address",
		"-> comments reviews, many", "-> related Plain, many",
	}, shape(m.EntityType("Ware")))
	same(t, "shape of Company", []string{
		"id Edm.Int64", "code Edm.Int64", "active Edm.Int64", "Name Edm.Decimal(19,4)", "Seat Place", "-> wares Products, many", "-> bound Plain, many",
	}, shape(m.EntityType("Firm")))
	ware, firm := m.EntityType("Ware"), m.EntityType("Firm")
	same(t, "descriptions", []string{"What is for sale", "Before tax", "Who sells", "As registered"},
		[]string{ware.Description, ware.Property("Price").Description, firm.Description, firm.Property("Name").Description})
	same(t, "custom aggregates", []string{"sum", "max"}, []string{ware.Property("Price").Aggregate, firm.Property("Name").Aggregate})
	compareLooks(t, m)
	plain := m.EntityType("Plain")
	path := func(name string) []*edm.Property { return []*edm.Property{plain.Property(name)} }
	same(t, "what may be written", &edm.Write{
		Create: true, Update: true, Delete: true, Filter: "owner eq @user_id", Version: plain.Property("rev"), Validator: "b", Final: true, Fixed: [][]*edm.Property{path("kind")},
		Set: []edm.Given{{Path: path("owner"), Value: "@user_id"}}, Touch: []edm.Given{{Path: path("changed"), Value: "5"}},
	}, m.Set("Plain").Write)
	status, kind := m.Enum("Status"), m.Enum("Kind")
	if !status.Flags || kind.Flags {
		t.Errorf("enums %+v, %+v", status, kind)
	}
	same(t, "members of Status", []edm.EnumMember{{Name: "None"}, {Name: "InStock", Value: 1, Label: "Ready to go"}}, status.Members)
	same(t, "members of Kind", []edm.EnumMember{{Name: "A", Value: 1, Label: "ware"}}, kind.Members)
}

// compareLooks holds what tables and forms are told against the block odata of every.hcl.
func compareLooks(t *testing.T, m *edm.Model) {
	t.Helper()
	same(t, "odata.i18n", &edm.Texts{Languages: []string{"", "de-CH"}, Bundles: []map[string]string{
		{"ware": "Ware", "ware.price": "Price"}, {"ware": "Artikel", "ware.price": "\u00dcber 1"},
	}}, m.Texts)
	ware, firm := m.EntityType("Ware"), m.EntityType("Firm")
	same(t, "look of Products", []string{"ware", "Our wares", "number,title", "From/city", "title", "number"}, looked(ware))
	same(t, "look of Company", []string{"Our firm", "All firms", "code", "Name", "Seat/city", "code"}, looked(firm))
	plain, products := m.Set("Plain"), m.Set("Products")
	price, name := ware.Property("Price").Look, firm.Property("Name").Look
	if want := (edm.ValueList{Set: plain, Key: plain.Type.Key[0]}); *price.ValueList != want {
		t.Errorf("value list of Price: %+v", price.ValueList)
	}
	if want := (edm.ValueList{Set: products, Key: products.Type.Key[0], Text: "title"}); *name.ValueList != want {
		t.Errorf("value list of Name: %+v", name.ValueList)
	}
	price.ValueList, name.ValueList = nil, nil
	same(t, "look of Price", edm.Look{Label: "ware.price", Text: "title", Currency: edm.Measure{Path: "title"}, Unit: edm.Measure{Constant: "kg"}, Hidden: true, Format: "masked"}, price)
	same(t, "look of Name", edm.Look{Label: "As people say it", Text: "Seat/city", Currency: edm.Measure{Constant: "EUR"}, Unit: edm.Measure{Path: "Seat/city"}, Hidden: true, Format: "masked"}, name)
	key, _ := config.Keys().Blocks[len(config.Keys().Blocks)-1].Blocks[3].Blocks[0].Key("format")
	same(t, "formats", slices.Sorted(maps.Keys(edm.Formats())), slices.Sorted(slices.Values(key.OneOf)))
}

func looked(t *edm.EntityType) []string {
	var keys []string
	for _, p := range t.Look.SemanticKey {
		keys = append(keys, p.Name)
	}
	l := t.Look
	return []string{l.Title, l.Plural, strings.Join(l.List, ","), strings.Join(l.Fields, ","), strings.Join(l.Search, ","), strings.Join(keys, ",")}
}

func described(sets []*edm.EntitySet) []string {
	var list []string
	for _, s := range sets {
		text := s.Name + " " + s.Type.Name + " " + s.Guard.String() + " key"
		for _, p := range s.Type.Key {
			text += " " + p.Name
		}
		if s.Searchable {
			text += ", searchable"
		}
		if s.NoApply && !s.Single() {
			text += ", no $apply"
		}
		if s.Policy != "" {
			text += ", only " + s.Policy
		}
		list = append(list, text)
	}
	return list
}

// shape lists the properties of a type, then its navigation.
func shape(e *edm.EntityType) []string {
	var list []string
	for _, p := range e.Properties {
		text := p.Name + " " + strings.TrimPrefix(p.Type.QualifiedName("."), "..")
		if p.Type.Kind == edm.Decimal {
			text += fmt.Sprintf("(%d,%d)", p.Type.Precision, p.Type.Scale)
		}
		list = append(list, text)
	}
	for _, n := range e.Navigation {
		text := "-> " + n.Name + " " + n.Target.Name
		if n.Collection {
			text += ", many"
		}
		list = append(list, text)
	}
	return list
}

// coverKeys fails for each key of the schema that is nowhere set to something other
// than its default.
func coverKeys(t *testing.T, cfg *config.Config) {
	t.Helper()
	var walk func(where string, b schema.Block, values []reflect.Value)
	walk = func(where string, b schema.Block, values []reflect.Value) {
		for _, k := range b.Keys {
			set := slices.ContainsFunc(values, func(v reflect.Value) bool { return !isDefault(k, field(v, k.Name)) })
			// Without sign-in by password another way is needed, which the file switches off.
			if name := where + k.Name; !set && name != "database.driver" && name != "auth.password.sign_in" {
				t.Errorf("%s has its default: give it another value in testdata/every.hcl, and compare what becomes of it", name)
			}
		}
		for _, inner := range b.Blocks {
			var below []reflect.Value
			for _, v := range values {
				v = field(v, inner.Name)
				if inner.Label == "" {
					below = append(below, v)
					continue
				}
				for _, label := range v.MapKeys() {
					below = append(below, v.MapIndex(label))
				}
			}
			walk(where+inner.Name+".", inner, below)
		}
	}
	walk("", config.Keys(), []reflect.Value{reflect.ValueOf(*cfg)})
}

// field is the field of a struct of the configuration that a key or block fills.
func field(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("koanf") == name {
			return v.Field(i)
		}
	}
	return reflect.Value{} // TestSchemaAndStructsAgree reports it
}

func isDefault(k schema.Key, v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case string:
		if k.Path {
			value = filepath.Base(value)
		}
		return value == strings.Trim(k.Def, `"`)
	case time.Duration:
		d, err := time.ParseDuration(strings.Trim(k.Def, `"`))
		return err == nil && d == value
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return fmt.Sprint(v) == k.Def
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// withoutTLS leaves out what cannot be compared.
// withoutActive tries the condition, and takes it out: functions cannot be compared.
func withoutActive(t *testing.T, o host.AuthOptions) host.AuthOptions {
	t.Helper()
	for partner, want := range map[int64]bool{4: true, 5: false} {
		if got := o.Active(map[string]any{"partner_id": partner}, time.Now()); got != want {
			t.Errorf("auth.active of partner %d: %v", partner, got)
		}
	}
	o.Active = nil
	return o
}

func withoutTLS(o host.ServerOptions) host.ServerOptions {
	o.LoadTLS = nil
	return o
}

func execute(t *testing.T, file, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// certificate makes a certificate and its key, both as PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
