package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// The example of the contract, section 2, but for what must exist on disk.
const contractExample = `
server {
  address         = "127.0.0.1:8080"
  public_url      = null
  trusted_proxies = []
  public_dir      = "public"
  admin_address   = null
  tls {
    cert = null
    key  = null
  }
  log {
    level  = "info"
    format = "text"
  }
}
database {
  driver = "sqlite"
  dsn    = "vestibule.db"
}
session {
  idle     = "2h"
  absolute = "24h"
  remember = "720h"
}
auth {
  login_field    = "email"
  redirect_hosts = []
  throttle {
    attempts = 5
    window   = "60s"
  }
  reset {
    lifetime = "60m"
    resend   = "60s"
    attempts = 5
  }
  password {
    min_length = 12
  }
}
mail {
  transport = "file"
  dir       = "mail"
  from      = "Vestibule <no-reply@localhost>"
  templates = null
  smtp {
    host     = "localhost"
    port     = 587
    username = null
    password = env("SMTP_PASSWORD", null)
    tls      = "starttls"
  }
}
route "home" {
  path = "/"
  file = "site/home.html"
}
route "dashboard" {
  path  = "/dashboard"
  proxy = "http://127.0.0.1:3000"
  guard = "session"
}
ui {
  sources = ".ui5-sources.hcl"
}
plugin "orgs" {
  command    = ["bin/orgsetup"]
  roles      = ["dispenser", "org_setup"]
  sha256     = null
  checksums  = {}
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
  headers    = ["accept-language"]
  env        = {}
  timeout    = "3s"
  config {
    directory_url = "https://crm.example.com"
  }
}
odata {
  guard    = "session"
  discover = []
  pagination {
    default = 200
    max     = null
  }
  database {
    driver = null
    dsn    = null
  }
  limits {
    max_top      = null
    expand_depth = 4
    filter_nodes = 1000
    timeout      = "30s"
    rows         = 5000000
    bytes        = "4GiB"
    slow_reader  = "4KiB"
  }
  entity_set "Products" {
    table  = "products"
    guard  = null
    key    = null
    hide   = ["cost"]
    search = ["name", "description"]
    filter = "tenant_id eq @user_partner_id"
    type   = "Product"
    property "status" {
      name = "Status"
      type = "Status"
    }
    complex "Address" {
      name   = "ShippingAddress"
      prefix = "shipping_"
    }
    navigation "category" {
      to = "Categories"
      on = { category_id = "id" }
    }
    navigation "reviews" {
      to   = "Reviews"
      many = true
      on   = { id = "product_id" }
    }
    navigation "related" {
      to       = "Products"
      many     = true
      via      = "related_products"
      from_key = "product_id"
      to_key   = "related_id"
    }
  }
  enum "Status" {
    flags   = true
    members = { None = 0, InStock = 1, OnSale = 2 }
  }
  singleton "Company" { table = "company" }
}
`

func TestTheContractsExample(t *testing.T) {
	cfg := mustLoad(t, contractExample, []string{"SMTP_PASSWORD=hush"})
	if cfg.OData.Pagination.Max != nil || cfg.OData.Pagination.Default != 200 || cfg.OData.Limits.MaxTop != nil {
		t.Errorf("pagination %+v, limits %+v: null is no number", cfg.OData.Pagination, cfg.OData.Limits)
	}
	if got := *cfg.Mail.SMTP.Password; got != "hush" {
		t.Errorf("mail.smtp.password = %q", got)
	}
	if cfg.Server.PublicURL != nil || cfg.Session.Remember != 720*time.Hour {
		t.Errorf("public_url %v, remember %v", cfg.Server.PublicURL, cfg.Session.Remember)
	}
	set := cfg.OData.EntitySets["Products"]
	if diff := cmp.Diff(map[string]string{"category_id": "id"}, set.Navigation["category"].On); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int64{"None": 0, "InStock": 1, "OnSale": 2}, cfg.OData.Enums["Status"].Members); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"directory_url": "https://crm.example.com"}, cfg.Plugins["orgs"].Config); diff != "" {
		t.Error(diff)
	}
}

// Every default of the contract's example is the default that a file without settings has.
func TestDefaults(t *testing.T) {
	dir := write(t, map[string]string{"config.hcl": "server {}\n"})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	public := filepath.Join(dir, "public")
	want := &config.Config{
		Server:   config.Server{Address: "127.0.0.1:8080", TrustedProxies: []string{}, PublicDir: &public, Drain: 15 * time.Second, Log: config.Log{Level: "info", Format: "text"}},
		Limits:   config.ClientLimits{RequestsPerClient: 64, UpgradesPerClient: 256},
		Database: config.Database{Driver: "sqlite", DSN: "vestibule.db", MaxConnections: 20, Wait: 10 * time.Second, StartWait: time.Minute},
		Session:  config.Session{Idle: 2 * time.Hour, Absolute: 24 * time.Hour, Remember: 720 * time.Hour},
		Auth: config.Auth{
			LoginField: "email", Recent: 10 * time.Minute, RedirectHosts: []string{}, Dispensers: []string{},
			Throttle: config.Throttle{Attempts: 5, ClientAttempts: 100, Window: time.Minute},
			Reset:    config.Reset{Lifetime: time.Hour, Resend: time.Minute, Attempts: 5},
			Password: config.Password{SignIn: true, MinLength: 12, Hash: "argon2id"},
			Passkeys: config.Passkeys{Enabled: true},
			Tokens:   config.Tokens{MaxLifetime: 8760 * time.Hour},
		},
		Mail: config.Mail{
			Transport: "file", Dir: filepath.Join(dir, "mail"), From: "Vestibule <no-reply@localhost>",
			SMTP: config.SMTP{Host: "localhost", Port: 587, TLS: "starttls"},
		},
		UI:     config.UI{Sources: filepath.Join(dir, ".ui5-sources.hcl")},
		Routes: map[string]config.Route{}, Plugins: map[string]config.Plugin{}, Identities: map[string]config.Identity{},
		OData: config.OData{
			Guard: "settled", Discover: []string{}, Pagination: config.Pagination{Default: 200, Links: "skip"},
			Limits: config.Limits{
				ExpandDepth: new(4), FilterNodes: new(1000), ApplySteps: new(20), ApplyGroups: new(int64(1e6)), Timeout: new(30 * time.Second), Rows: new(int64(5e6)), Bytes: new(int64(4 << 30)), SlowReader: new(int64(4 << 10)),
			},
			EntitySets: map[string]config.EntitySet{}, Singletons: map[string]config.EntitySet{}, Enums: map[string]config.Enum{},
		},
	}
	unexported := cmp.FilterPath(func(p cmp.Path) bool {
		field, ok := p.Last().(cmp.StructField)
		return ok && strings.ToLower(field.Name()[:1]) == field.Name()[:1]
	}, cmp.Ignore())
	if diff := cmp.Diff(want, cfg, unexported); diff != "" {
		t.Error(diff)
	}
}

func TestLayersFromLowToHigh(t *testing.T) {
	files := map[string]string{
		"config.hcl":   "odata {\n  pagination {\n    max = 100\n  }\n}\nsession {\n  idle = \"1h\"\n}\nauth {\n  redirect_hosts = [\"a.example\"]\n}\n",
		"conf.d/1.hcl": "odata {\n  pagination {\n    max = 200\n  }\n}\nauth {\n  redirect_hosts = [\"b.example\"]\n}\n",
		"conf.d/2.hcl": "odata {\n  pagination {\n    max = 300\n  }\n}\n",
	}
	env := []string{"VESTIBULE_ODATA__PAGINATION__MAX=400"}
	tests := map[string]struct {
		drop    []string
		environ []string
		set     []string
		want    int64
	}{
		"config.hcl":         {drop: []string{"conf.d/1.hcl", "conf.d/2.hcl"}, want: 100},
		"the first of two":   {drop: []string{"conf.d/2.hcl"}, want: 200},
		"the last of conf.d": {want: 300},
		"environment":        {environ: env, want: 400},
		"flags":              {environ: env, set: []string{"odata.pagination.max=500"}, want: 500},
		"the last flag":      {set: []string{"odata.pagination.max=500", "odata.pagination.max=600"}, want: 600},
		"null from outside":  {environ: []string{"VESTIBULE_ODATA__PAGINATION__MAX=null"}, want: -1},
		"null by a flag":     {environ: env, set: []string{"odata.pagination.max=null"}, want: -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			there := map[string]string{}
			for file, text := range files {
				there[file] = text
			}
			for _, file := range test.drop {
				delete(there, file)
			}
			write(t, there)
			cfg, found := load(t, test.environ, test.set...)
			if found != nil {
				t.Fatal(found)
			}
			got := int64(-1)
			if cfg.OData.Pagination.Max != nil {
				got = *cfg.OData.Pagination.Max
			}
			if got != test.want {
				t.Errorf("max = %d, want %d", got, test.want)
			}
			if cfg.Session.Idle != time.Hour {
				t.Errorf("idle = %v: a layer took away what it does not name", cfg.Session.Idle)
			}
			if len(cfg.Auth.RedirectHosts) != 1 {
				t.Errorf("redirect_hosts = %v: a list is replaced, not added to", cfg.Auth.RedirectHosts)
			}
		})
	}
}

func TestVariablesAndFlagsReachEverything(t *testing.T) {
	cfg := mustLoad(t, `
route "home" {
  path     = "/"
  redirect = "/a"
}
route "old-page.html" {
  path     = "/old"
  redirect = "/a"
}
plugin "orgs" {
  command = ["x"]
  roles   = ["dispenser"]
  env     = { KEPT = "1" }
  config {
    url   = "a"
    depth = 1
    inner = { kept = true }
  }
}
odata {
  entity_set "Products" { table = "products" }
}
`, []string{
		"VESTIBULE_ROUTE__HOME__REDIRECT=/b",
		"VESTIBULE_ROUTE__OLD_PAGE_HTML__GUARD=settled",
		"VESTIBULE_PLUGIN__ORGS__TIMEOUT=9s",
		"VESTIBULE_PLUGIN__ORGS__ENV__token=secret",
		"VESTIBULE_PLUGIN__ORGS__CONFIG__URL=17",
		"VESTIBULE_PLUGIN__ORGS__CONFIG__DEPTH=2",
		"VESTIBULE_ODATA__ENTITY_SET__PRODUCTS__GUARD=session", "VESTIBULE_ODATA__GUARD=none",
		"VESTIBULE_SERVER__TRUSTED_PROXIES=10.0.0.0/8, 192.168.0.0/16",
		"VESTIBULE_ODATA__ENTITY_SET__PRODUCTS__HIDE=[\"a\", \"b\"]",
	}, `route."old-page.html".path=/older`, "plugin.orgs.config.limit=null", `odata.enum.Color.members={Red=1}`)
	orgs := cfg.Plugins["orgs"]
	got := []any{
		*cfg.Routes["home"].Redirect, cfg.Routes["old-page.html"].Guard, cfg.Routes["old-page.html"].Path, orgs.Timeout,
		orgs.Env, orgs.Config["url"], orgs.Config["depth"], orgs.Config["limit"],
		*cfg.OData.EntitySets["Products"].Guard, cfg.OData.EntitySets["Products"].Hide, cfg.Server.TrustedProxies, cfg.OData.Enums["Color"].Members["Red"],
	}
	want := []any{
		"/b", "settled", "/older", 9 * time.Second,
		map[string]string{"KEPT": "1", "token": "secret"},
		"17", int64(2), nil,
		"session",
		[]string{"a", "b"},
		[]string{"10.0.0.0/8", "192.168.0.0/16"},
		int64(1),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVariablesThatAreNoSettings(t *testing.T) {
	write(t, map[string]string{"config.hcl": "server {}\n"})
	_, found := load(t, []string{"VESTIBULE_BIN=/usr/bin/vestibule", "VESTIBULE_SERVER_ADDRESS=x", "VESTIBULE_SERVER__ADRESS=x", "VESTIBULE_SERVER__TLS=x", "VESTIBULE_PLUGIN__A=x"}, "server", "server.address.x=1")
	want := []string{
		"--set server: has no value: write --set block.key=value",
		"--set server.address.x: server.address is no block: write --set server.address=value",
		`VESTIBULE_PLUGIN__A: plugin.a is a block: name one of its keys: command, roles, sha256, checksums, user_read, user_write, mails, headers, env, timeout, config`,
		`VESTIBULE_PLUGIN__A: plugin "a" has no command: add command = …: program and arguments`,
		`VESTIBULE_PLUGIN__A: plugin "a" has no roles: add roles = …: what the plugin does`,
		`VESTIBULE_SERVER_ADDRESS: warning: is not a setting: write two underscores between block and key: VESTIBULE_SERVER__…`,
		`VESTIBULE_SERVER__ADRESS: unknown key "adress" in server: did you mean "address"?`,
		`VESTIBULE_SERVER__TLS: server.tls is a block: name one of its keys: cert, key`,
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

func TestFunctions(t *testing.T) {
	write(t, map[string]string{
		"config.hcl":   "mail {\n  smtp {\n    port = env(\"PORT\", 25)\n    password = file(\"secret\")\n  }\n}\nserver {\n  trusted_proxies = env(\"PROXIES\", [])\n}\ndatabase {\n  dsn = \"${env(\"NAME\", \"a\")}.db\"\n}\n",
		"secret":       "hush\r\n",
		"conf.d/x.hcl": "mail {\n  smtp {\n    username = file(\"name\")\n  }\n}\n",
		"conf.d/name":  "bob",
	})
	cfg, found := load(t, []string{"PORT=2525", "PROXIES=10.0.0.0/8,10.1.0.0/16", "NAME=b"})
	if found != nil {
		t.Fatal(found)
	}
	got := []any{cfg.Mail.SMTP.Port, *cfg.Mail.SMTP.Password, *cfg.Mail.SMTP.Username, cfg.Server.TrustedProxies, cfg.Database.DSN}
	want := []any{2525, "hush", "bob", []string{"10.0.0.0/8", "10.1.0.0/16"}, "b.db"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if cfg, _ := load(t, nil); cfg.Mail.SMTP.Port != 25 || len(cfg.Server.TrustedProxies) != 0 {
		t.Errorf("defaults of env: %v, %v", cfg.Mail.SMTP.Port, cfg.Server.TrustedProxies)
	}
}

func TestPathsAreRelativeToTheirFile(t *testing.T) {
	dir := write(t, map[string]string{
		"etc/config.hcl":   "server {\n  public_dir = \"pub\"\n}\nmail {\n  dir = \"/var/mail\"\n}\n",
		"etc/conf.d/x.hcl": "mail {\n  templates = \"../t\"\n}\n",
	})
	cfg, _ := config.Load(config.Source{File: "etc/config.hcl", Environ: []string{"VESTIBULE_UI__SOURCES=s.hcl"}})
	got := []string{*cfg.Server.PublicDir, cfg.Mail.Dir, *cfg.Mail.Templates, cfg.UI.Sources}
	want := []string{filepath.Join(dir, "etc/pub"), "/var/mail", filepath.Join(dir, "etc/t"), filepath.Join(dir, "etc/s.hcl")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	text := `
database { dsn = "secret-0" }
mail {
  smtp { password = "secret-1" }
}
plugin "orgs" {
  command = ["x"]
  roles   = ["dispenser"]
  env     = { A = env("S2"), SHOWN = "shown-1" }
  config {
    token = env("S3")
    list  = ["shown-2", env("S4"), { deep = file("s5") }]
    mixed = "a ${env("S6")} b"
    again { token = env("S7") }
  }
}
odata {
  database {
    driver = "postgres"
    dsn    = env("S8")
  }
}
`
	write(t, map[string]string{"config.hcl": text, "s5": "secret-5"})
	cfg, found := load(t, []string{"S2=secret-2", "S3=secret-3", "S4=secret-4", "S6=secret-6", "S7=secret-7", "S8=secret-8", "VESTIBULE_PLUGIN__ORGS__ENV__B=secret-9", "VESTIBULE_PLUGIN__ORGS__CONFIG__X=secret-10"})
	if found != nil {
		t.Fatal(found)
	}
	text, err := cfg.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "secret-") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	for _, want := range []string{"shown-1", "shown-2", `dsn             = "***"`, `password = "***"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in:\n%s", want, text)
		}
	}
	if cfg.Plugins["orgs"].Env["B"] != "secret-9" {
		t.Error("the plugin does not get its secret")
	}
}

// A value that is refused is not quoted when it is a secret.
func TestSecretsAreNotQuotedInFindings(t *testing.T) {
	write(t, map[string]string{"config.hcl": "database {\n  dsn = 5\n}\nodata {\n  database {\n    driver = \"postgres\"\n    dsn = \" \"\n  }\n}\n"})
	_, found := load(t, nil)
	want := []string{
		"config.hcl:2:9: dsn is a number: give a string",
		"config.hcl:7:11: dsn: the value is not usable: give a value, or leave the line out",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// What Redacted prints is a configuration that means the same.
func TestRedactedIsAConfiguration(t *testing.T) {
	cfg := mustLoad(t, contractExample, nil)
	text, err := cfg.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	again, err := mustLoad(t, text, nil).Redacted()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, again); diff != "" {
		t.Error(diff)
	}
}
