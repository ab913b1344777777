package config_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// Each mail of a plugin has its two templates, in a directory that mail.templates names.
func TestVerifyLooksForMailsOfPlugins(t *testing.T) {
	const plugin = "plugin \"a\" {\n  command = [\"bin/a\"]\n  roles = [\"dispenser\"]\n  mails = [\"verify\"]\n}\n"
	const templates = "mail {\n  templates = \"letters\"\n}\n"
	good := map[string]string{"letters/verify.txt": "Subject: Verify\n\n{{.Text \"link\"}}", "letters/verify.html": "<a href=\"{{.Text \"link\"}}\">"}
	for name, tt := range map[string]struct {
		text    string
		letters map[string]string
		want    string
	}{
		"no directory":     {plugin, nil, `config.hcl:4:12: plugin "a" sends the mail "verify", and mail.templates names no directory: write mail { templates = "templates" }, and put verify.txt and verify.html there`},
		"no template":      {plugin + templates, map[string]string{"letters/README": ""}, `config.hcl:4:12: plugin "a" sends the mail "verify", and there is no letters/verify.txt and no letters/verify.html: write it`},
		"half of it":       {plugin + templates, map[string]string{"letters/verify.txt": good["letters/verify.txt"]}, `config.hcl:4:12: plugin "a" sends the mail "verify", and there is no letters/verify.html: write it`},
		"a broken one":     {plugin + templates, map[string]string{"letters/verify.txt": "Hello", "letters/verify.html": ""}, `config.hcl:7:15: mail.templates: `},
		"a name with path": {strings.Replace(plugin, "verify", "a/verify", 1), nil, `config.hcl:4:12: mails.0: "a/verify" is no name for a mail of a plugin: write the name of a template of your own, without a folder`},
		"one of the host":  {strings.Replace(plugin, "verify", "password_reset", 1), nil, `config.hcl:4:12: mails.0: "password_reset" is no name for a mail of a plugin: `},
		"good":             {plugin + templates, good, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"config.hcl": tt.text, "bin/a!": "#!/bin/sh\n"}
			for file, text := range tt.letters {
				files[file] = text
			}
			write(t, files)
			cfg, got := load(t, nil)
			if got == nil {
				got = lines(cfg.Verify(t.Context()))
			}
			got = slices.DeleteFunc(got, func(line string) bool { // the program is none
				return !strings.Contains(line, "mail")
			})
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestVerifyFindsWhatIsMissing(t *testing.T) {
	write(t, map[string]string{
		"config.hcl": `
server {
  public_dir = "nowhere"
  tls {
    cert = "a.pem"
    key  = "b.pem"
  }
}
mail {
  templates = "nothing"
}
route "home" {
  path = "/"
  file = "site/home.html"
}
route "files" {
  path = "/files"
  dir  = "config.hcl"
}
plugin "a" {
  command   = ["bin/missing"]
  roles     = ["dispenser"]
  checksums = { "plugin.js" = "0000000000000000000000000000000000000000000000000000000000000000" }
}
plugin "b" {
  command = ["no-such-program-anywhere"]
  roles   = ["org_setup"]
}
ui {
  sources = "sources.hcl"
}
`,
	})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	want := []string{
		`config.hcl:3:16: server.public_dir: there is no directory nowhere: make it, or correct the path`,
		`config.hcl:5:12: certificate and key cannot be used: no such file or directory`,
		`config.hcl:10:15: mail.templates: `,
		`config.hcl:14:10: route "home": there is no file site/home.html: make it, or correct the path`,
		`config.hcl:18:10: route.files.dir: there is no directory config.hcl: make it, or correct the path`,
		`config.hcl:21:16: plugin "a": there is no program `,
		`config.hcl:23:31: plugin "a": there is no file plugin.js: name a file that the plugin reads, or take the line out`,
		`config.hcl:26:14: plugin "b": "no-such-program-anywhere" is not in PATH: install it, or write a path such as "bin/no-such-program-anywhere"`,
		`config.hcl:30:13: `,
	}
	got := lines(cfg.Verify(t.Context()))
	if len(got) != len(want) {
		t.Fatalf("%d findings, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("finding %d\n got %s\nwant %s…", i, got[i], want[i])
		}
	}
	if _, err := os.Stat("vestibule.db"); err == nil {
		t.Error("looking made a database")
	}
}

// An app that serving would refuse is a finding at the directory that was named.
func TestAppThatCannotBeServed(t *testing.T) {
	manifest := `{"name": "own", "version": "1", "core": "` + host.CoreVersion() + `"}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a version that is a number":       {map[string]string{"manifest.json": strings.Replace(manifest, `"1"`, "1", 1)}, "manifest.json: json: cannot unmarshal number"},
		"text behind the manifest":         {map[string]string{"manifest.json": manifest + "}"}, "manifest.json: invalid character"},
		"a template with a fault":          {map[string]string{"error.html": "{{if}}", "errors.json": "{}"}, "error.html"},
		"a template with unknown fields":   {map[string]string{"error.html": "{{.Nope}}", "errors.json": "{}"}, "error.html"},
		"error pages without their words":  {map[string]string{"error.html": "x"}, "errors.json"},
		"words that are no words of pages": {map[string]string{"error.html": "x", "errors.json": `{"en": "x"}`}, "errors.json"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"config.hcl": "server {\n}\n", ".ui5-sources.hcl": "source \"auth\" {\n  dir = \"app\"\n}\n", "app/index.html": "own", "app/manifest.json": manifest}
			for file, text := range tt.files {
				files["app/"+file] = text
			}
			write(t, files)
			cfg, _ := load(t, nil)
			got := lines(cfg.Verify(t.Context()))
			if len(got) != 1 || !strings.HasPrefix(got[0], ".ui5-sources.hcl:2:9: app cannot be served: ") || !strings.Contains(got[0], tt.want) {
				t.Errorf("got %q, want %s", got, tt.want)
			}
		})
	}
}

// A directory that plugins cannot be started in is one finding, at its setting.
func TestRunDirThatCannotBeWritten(t *testing.T) {
	const dir = "/proc" // where not even root makes a directory
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	write(t, map[string]string{"config.hcl": `
server {
  run_dir = "/proc"
}
plugin "a" {
  command = ["bin/p"]
  roles   = ["dispenser"]
}
plugin "b" {
  command = ["bin/p"]
  roles   = ["org_setup"]
}
`, "bin/p!": "#!/bin/sh\n"})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	got := lines(cfg.Verify(t.Context()))
	if len(got) != 1 || !strings.HasPrefix(got[0], "config.hcl:3:13: plugins cannot be started: make a directory for the sockets of plugins: mkdir /proc/") {
		t.Errorf("got %q", got)
	}
}

func TestOptions(t *testing.T) {
	dir := write(t, map[string]string{
		"config.hcl": `
server {
  address         = "127.0.0.1:0"
  public_url      = "https://app.example.com/"
  trusted_proxies = ["10.0.0.0/8"]
}
auth {
  redirect_hosts = ["crm.example.com", "http://127.0.0.1:8080"]
}
route "home" {
  path     = "/"
  redirect = "/x"
}
route "app" {
  path  = "/app"
  proxy = "http://127.0.0.1:3000"
}
route "terms" {
  path  = "/terms"
  file  = "terms.html"
  guard = "settled"
}
plugin "orgs" {
  command   = ["bin/run", "x.js"]
  roles     = ["dispenser"]
  checksums = { "x.js" = "0000000000000000000000000000000000000000000000000000000000000000" }
  config {
    limits = { a = [1, 2] }
  }
}
odata {
  guard = "none"
  pagination {
    max = 7
  }
}
`,
		"terms.html": "terms", "bin/run!": "#!/bin/sh\n", "x.js": "",
	})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	opts, err := cfg.Options(context.Background(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opts.Store.Close() })
	if got := opts.Server.PublicURL.String(); got != "https://app.example.com" {
		t.Errorf("public URL %s", got)
	}
	if diff := cmp.Diff([]string{"https://crm.example.com", "http://127.0.0.1:8080"}, opts.Auth.RedirectOrigins); diff != "" {
		t.Error(diff)
	}
	guards := map[string]host.Guard{}
	for _, r := range opts.Routes {
		guards[r.Name] = r.Guard
	}
	if diff := cmp.Diff(map[string]host.Guard{"home": host.GuardNone, "app": host.GuardSettled, "terms": host.GuardSettled}, guards); diff != "" {
		t.Errorf("guards: the default is settled, and home is open: %s", diff)
	}
	p := opts.Plugins[0]
	if diff := cmp.Diff([]string{filepath.Join(dir, "bin/run"), "x.js"}, p.Command); diff != "" || p.Dir != dir {
		t.Errorf("command %s, in %s", diff, p.Dir)
	}
	if _, ok := p.Checksums[filepath.Join(dir, "x.js")]; !ok || string(p.Config) != `{"limits":{"a":[1,2]}}` {
		t.Errorf("checksums %v, config %s", p.Checksums, p.Config)
	}
	if l := opts.OData.Options.Limits; l.PageSize != 200 || l.MaxPageSize != 7 || l.MaxTop != 0 {
		t.Errorf("limits %+v", l)
	}
	if got := opts.Store.Path(); got != filepath.Join(dir, "vestibule.db") {
		t.Errorf("database %s", got)
	}
	if opts.Server.PublicDir != "" {
		t.Errorf("public dir %s does not exist", opts.Server.PublicDir)
	}
}

// A mistake that a plugin finds in its config block is reported at its place in
// the file.
func TestLocate(t *testing.T) {
	cfg := mustLoad(t, `plugin "landing" {
  command = ["x"]
  roles   = ["dispenser"]
  config {
    fallback = "/a"
    rules = [
      { column = "a" },
      {
        column = "b"
        target = "nowhere"
      },
    ]
    inner {
      depth = 1
    }
  }
}
`, []string{"VESTIBULE_PLUGIN__LANDING__CONFIG__FALLBACK=/b"})
	problem := func(path, message string) error {
		what := `plugin "landing": config`
		if path != "" {
			what += "." + path
		}
		steps := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
		return errors.Join(config.Finding{Path: append([]string{"plugin", "landing", "config"}, steps...), What: what, Remedy: message})
	}
	tests := map[string]struct{ path, want string }{
		"an element":      {"rules[1].target", `config.hcl:10:18: plugin "landing": config.rules[1].target: wrong`},
		"a missing field": {"rules[0].target", `config.hcl:7:7: plugin "landing": config.rules[0].target: wrong`},
		"a block":         {"inner.depth", `config.hcl:14:15: plugin "landing": config.inner.depth: wrong`},
		"the whole":       {"", `config.hcl:4:3: plugin "landing": config: wrong`},
		"a missing key":   {"url", `config.hcl:4:3: plugin "landing": config.url: wrong`},
		"a variable":      {"fallback", `VESTIBULE_PLUGIN__LANDING__CONFIG__FALLBACK: plugin "landing": config.fallback: wrong`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, ok := cfg.Locate(problem(test.path, "wrong"))
			if !ok || len(found) != 1 || found[0].Error() != test.want {
				t.Errorf("got %v\nwant %s", found, test.want)
			}
		})
	}
	if _, ok := cfg.Locate(os.ErrNotExist); ok {
		t.Error("another error was taken for a plugin's")
	}
}

// The DSN of a SQLite database is relative to the file that holds it.
func TestWhereTheDatabaseIs(t *testing.T) {
	tests := map[string]struct{ dsn, want string }{
		"a name":     {"app.db", "etc/app.db"},
		"a URI":      {"file:app.db?_pragma=synchronous(NORMAL)", "etc/app.db"},
		"above":      {"../app.db", "app.db"},
		"with signs": {"a b%20?.db", "etc/a b%20?.db"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"etc/config.hcl": "database {\n  dsn = \"" + test.dsn + "\"\n}\n"})
			cfg, findings := config.Load(config.Source{File: "etc/config.hcl", Environ: []string{}})
			if findings.Failed() {
				t.Fatal(findings)
			}
			opts, err := cfg.AdminOptions(t.Context(), hclog.NewNullLogger(), true)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = opts.Store.Close() }()
			if want := filepath.Join(dir, test.want); opts.Store.Path() != want {
				t.Errorf("got %s, want %s", opts.Store.Path(), want)
			}
		})
	}
}

// What cannot be opened is said once, with its place and without its secrets.
func TestDatabasesThatCannotBeOpened(t *testing.T) {
	tests := map[string]struct{ dsn, cause string }{
		"sqlite":   {"no/where.db", "there is no directory"},
		"postgres": {"postgres://bob:hush@127.0.0.1:1/app?connect_timeout=1", "connection refused"},
		"mysql":    {"bob:hush@tcp(127.0.0.1:1)/app?timeout=1s", "connection refused"},
	}
	for driver, tt := range tests {
		t.Run(driver, func(t *testing.T) {
			cfg := mustLoad(t, fmt.Sprintf("database {\n  driver = %q\n  dsn = %q\n  start_wait = \"0s\"\n}\n", driver, tt.dsn), nil)
			_, err := cfg.Options(t.Context(), hclog.NewNullLogger())
			if err == nil || !strings.HasPrefix(err.Error(), "config.hcl:3:9: the database cannot be opened: ") || !strings.Contains(err.Error(), tt.cause) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q", err)
			}
			if found := cfg.Verify(t.Context()); len(lines(found)) != 1 || !strings.HasPrefix(lines(found)[0], "config.hcl:3:9: ") {
				t.Errorf("check says %v", found)
			}
		})
	}
}

// A setting that is refused as it is read is not refused again, in other words,
// by the database or the plugin that would have had it.
func TestVerifySaysNothingTwice(t *testing.T) {
	set := func(name, keys string) string {
		return "odata {\n  entity_set \"" + name + "\" {\n" + keys + "  }\n}\n"
	}
	plugin := func(name, keys string) string {
		return "plugin \"" + name + "\" {\n  command = [\"/bin/true\"]\n" + keys + "}\n"
	}
	tests := map[string]string{
		"protected table":      set("U", "    table = \"USERS\"\n"),
		"name of a set":        set("$metadata", "    table = \"products\"\n"),
		"policy of guests":     set("P", "    table = \"products\"\n    guard = \"none\"\n    filter = \"id eq @user_id\"\n"),
		"searched and hidden":  set("P", "    table = \"products\"\n    hide = [\"name\"]\n    search = [\"name\"]\n"),
		"role twice":           plugin("a", "  roles = [\"dispenser\", \"dispenser\"]\n"),
		"name of a plugin":     plugin("ö", "  roles = [\"dispenser\"]\n"),
		"login field granted":  plugin("a", "  roles = [\"dispenser\"]\n  user_write = [\"EMAIL\"]\n"),
		"file that is missing": plugin("a", "  roles = [\"dispenser\"]\n  checksums = { \"a.js\" = \""+strings.Repeat("0", 64)+"\" }\n"),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"config.hcl": text})
			db, err := sql.Open("sqlite", "vestibule.db")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			cfg, found := load(t, nil)
			if found = append(found, lines(cfg.Verify(t.Context()))...); len(found) != 1 {
				t.Errorf("got %s", strings.Join(found, "\n"))
			}
		})
	}
}

func TestColumnsOfUsersThatAreNotThere(t *testing.T) {
	cfg := mustLoad(t, "auth {\n  login_field = \"emial\"\n}\nplugin \"a\" {\n  command = [\"/bin/false\"]\n  roles = [\"dispenser\"]\n  user_read = [\"name\", \"partner_id\"]\n}\n", nil)
	got := lines(cfg.Verify(t.Context()))
	if _, err := cfg.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, lines(cfg.Verify(t.Context()))); diff != "" {
		t.Errorf("it says something else before the database is made: %s", diff)
	}
	want := []string{
		`config.hcl:2:17: auth.login_field: the table users has no column "emial": did you mean "email"?`,
		`config.hcl:4:8: plugin "a" cannot be started: `,
		`config.hcl:7:24: plugin.a.user_read: the table users has no column "partner_id": use one of id, name, email, `,
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("finding %d\n got %s\nwant %s…", i, got[i], want[i])
		}
	}
}

// check refuses a plugin that cannot be started, as serve does.
func TestPluginThatCannotBeStarted(t *testing.T) {
	tests := map[string]struct {
		block string
		want  string
	}{
		"deny":           {`command = ["/bin/false"]`, `config.hcl:1:8: plugin "a" cannot be started: `},
		"no program":     {`command = ["/bin/falls"]`, `config.hcl:2:`},
		"wrong checksum": {`command = ["/bin/false"], sha256 = "` + strings.Repeat("0", 64) + `"`, `config.hcl:3:`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			block := strings.ReplaceAll(tt.block, ", ", "\n  ")
			cfg := mustLoad(t, "plugin \"a\" {\n  "+block+"\n  roles = [\"dispenser\"]\n}\n", nil)
			got := lines(cfg.Verify(t.Context()))
			if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, tt.want) }) {
				t.Errorf("got %q, want %s…", got, tt.want)
			}
		})
	}
}

// What check refuses serve refuses, with the same findings, and a column in another
// case becomes the real one wherever it is used.
func TestColumnsOfUsers(t *testing.T) {
	const users = `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, password TEXT, remember_token TEXT, Partner_Id INTEGER, tenant INTEGER);
CREATE TABLE products (id INTEGER PRIMARY KEY, tenant INTEGER)`
	plugin := func(grants string) string {
		return "plugin \"a\" {\n  command = [\"/bin/true\"]\n  roles = [\"dispenser\"]\n" + grants + "}\n"
	}
	policy := func(text string) string {
		return "odata {\n  entity_set \"P\" {\n    table = \"products\"\n    filter = \"" + text + "\"\n  }\n}\n"
	}
	tests := map[string]struct{ text, want string }{
		"login field in capitals":   {"auth {\n  login_field = \"EMAIL\"\n}\n", ""},
		"grants in another case":    {plugin("  user_read = [\"PARTNER_ID\"]\n  user_write = [\"partner_id\"]\n"), ""},
		"policy in another case":    {policy("tenant eq @user_TENANT"), ""},
		"login field that is none":  {"auth {\n  login_field = \"login\"\n}\n", `config.hcl:2:17: auth.login_field: the table users has no column "login": `},
		"grant that is none":        {plugin("  user_write = [\"partner\"]\n"), `config.hcl:4:17: plugin.a.user_write: the table users has no column "partner": `},
		"policy of no column":       {policy("tenant eq @user_tenannt"), `config.hcl:4:14: odata.entity_set.P.filter: the table users has no column "tenannt": did you mean "tenant"?`},
		"policy of a credential":    {policy("tenant eq @user_Remember_Token"), `config.hcl:4:14: odata.entity_set.P.filter: @user_Remember_Token is a credential: `},
		"two mistakes in two parts": {"auth {\n  login_field = \"login\"\n}\n" + policy("tenannt eq 1"), `config.hcl:2:17: auth.login_field: `},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := mustLoad(t, tt.text, nil)
			db, err := sql.Open("sqlite", "vestibule.db")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(users); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			var checked []string
			for _, line := range lines(cfg.Verify(t.Context())) {
				if !strings.Contains(line, "cannot be started") { // /bin/true is no plugin
					checked = append(checked, line)
				}
			}
			opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
			if tt.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) || err.Error() != strings.Join(checked, "\n") {
					t.Errorf("check says %q\nserve says %v\nwant %s", checked, err, tt.want)
				}
				return
			}
			if err != nil || len(checked) > 0 {
				t.Fatalf("check says %q, serve says %v", checked, err)
			}
			defer func() { _ = errors.Join(opts.OData.Source.(io.Closer).Close(), opts.Store.Close()) }()
			if opts.Auth.LoginField != "email" {
				t.Errorf("login field %q", opts.Auth.LoginField)
			}
			for _, p := range opts.Plugins {
				if p.UserRead[0] != "Partner_Id" || p.UserWrite[0] != "Partner_Id" {
					t.Errorf("grants %q, %q", p.UserRead, p.UserWrite)
				}
			}
			if _, err := cfg.Reload(t.Context(), cfg, opts); err != nil {
				t.Errorf("reload: %v", err)
			}
		})
	}
}
