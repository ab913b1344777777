package config_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// reloadable is the configuration that the reloads of these tests begin with.
const reloadable = `
server {
  address = "127.0.0.1:0"
  log {
    level = "info"
  }
}
mail {
  smtp {
    password = "first secret"
  }
}
route "home" {
  path     = "/"
  redirect = "/login"
}
route "a.b" {
  path     = "/ab"
  redirect = "/login"
}
odata {
  guard = "none"
  entity_set "Products" {
    table = "products"
  }
}
`

// replaced returns reloadable with each old text replaced by the new one behind it.
func replaced(t *testing.T, oldnew ...string) string {
	t.Helper()
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(reloadable, oldnew[i]) {
			t.Fatalf("there is no %q to replace", oldnew[i])
		}
	}
	return strings.NewReplacer(oldnew...).Replace(reloadable)
}

// running is a configuration as a host runs with it.
type running struct {
	cfg  *config.Config
	opts host.Options
	log  *strings.Builder
}

// runWith loads reloadable with further files, over a database with products.
func runWith(t *testing.T, files map[string]string, statements ...string) running {
	t.Helper()
	all := map[string]string{"config.hcl": reloadable}
	for name, text := range files {
		all[name] = text
	}
	write(t, all)
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	if _, err := cfg.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, statement := range append(statements, "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)") {
		execute(t, "vestibule.db", statement)
	}
	r := running{cfg: cfg, log: &strings.Builder{}}
	var err error
	if r.opts, err = cfg.Options(t.Context(), hclog.New(&hclog.LoggerOptions{Output: r.log})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(r.opts.OData.Source.(io.Closer).Close(), r.opts.Store.Close()) })
	return r
}

func rewrite(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A reload names each changed setting that needs a restart, whatever layer it is in, and
// none that did not change.
func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	const hidden = "entity_set \"Products\" {\n    table = \"products\"\n    hide  = [\"price\"]"
	for _, tt := range []struct {
		name    string
		text    string
		confD   string
		environ []string
		want    []string
	}{
		{name: "nothing", text: reloadable},
		{name: "defaults written out", text: replaced(t,
			`guard = "none"`, "guard = \"none\"\n  discover = []\n  limits {\n    timeout = \"30s\"\n    bytes = \"4GiB\"\n    max_top = null\n  }",
			`password = "first secret"`, "password = \"first secret\"\n    port = 587\n    username = null",
			`address = "127.0.0.1:0"`, "address = \"127.0.0.1:0\"\n  trusted_proxies = []\n  drain = \"15s\"",
			`path     = "/"`, "path = \"/\"\n  headers = {}\n  tokens = false\n  proxy = null")},
		{name: "the log level", text: replaced(t, `level = "info"`, `level = "debug"`)},
		{
			name: "a guard and a hidden column", text: replaced(t, `guard = "none"`, `guard = "settled"`, "entity_set \"Products\" {\n    table = \"products\"", hidden),
			want: []string{"odata.guard at config.hcl:22:11", "odata.entity_set.Products.hide at config.hcl:25:13"},
		},
		{name: "a secret", text: replaced(t, "first secret", "second secret"), want: []string{"mail.smtp.password at config.hcl:10:16"}},
		{name: "a label with a dot", text: replaced(t, `path     = "/ab"`, `path     = "/abc"`), want: []string{`route."a.b".path at config.hcl:18:14`}},
		{name: "a block that is new", text: reloadable + "route \"app\" {\n  path     = \"/app\"\n  redirect = \"/login\"\n}\n", want: []string{"route.app at config.hcl:27:7"}},
		{name: "a block that is gone", text: replaced(t, "entity_set \"Products\" {\n    table = \"products\"\n  }", ""), want: []string{"odata.entity_set.Products at config.hcl:21:1"}},
		{name: "the log's format", text: replaced(t, `level = "info"`, "level = \"info\"\n    format = \"json\""), want: []string{"server.log.format at config.hcl:6:14"}},
		{name: "conf.d", text: reloadable, confD: "session {\n  idle = \"1h\"\n}\n", want: []string{"session.idle at conf.d/10.hcl:2:10"}},
		{name: "the environment", text: reloadable, environ: []string{"VESTIBULE_ODATA__GUARD=session"}, want: []string{"odata.guard at VESTIBULE_ODATA__GUARD"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runWith(t, nil)
			rewrite(t, "config.hcl", tt.text)
			if tt.confD != "" {
				rewrite(t, "conf.d/10.hcl", tt.confD)
			}
			cfg, found := load(t, tt.environ)
			if found != nil {
				t.Fatal(found)
			}
			got, err := cfg.Reload(t.Context(), before.cfg, before.opts)
			if err != nil {
				t.Fatal(err)
			}
			var waiting []string
			for _, w := range got.Waiting {
				waiting = append(waiting, w.Key+" at "+w.At.String())
				if !got.Options.RestartNeeded[w.Key] {
					t.Errorf("the metric does not name %s", w.Key)
				}
			}
			if diff := cmp.Diff(tt.want, waiting); diff != "" {
				t.Errorf("what waits for a restart (-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(waiting, "\n"), "secret") {
				t.Error("a secret is shown")
			}

			// Changed back, nothing waits: also in comparison with what a reload left.
			rewrite(t, "config.hcl", reloadable)
			_ = os.RemoveAll("conf.d")
			back, _ := load(t, nil)
			again, err := back.Reload(t.Context(), got.Config, before.opts)
			if err != nil || len(again.Waiting) > 0 {
				t.Errorf("changed back: %v, waiting %v", err, again.Waiting)
			}
			for key, needed := range again.Options.RestartNeeded {
				if needed {
					t.Errorf("changed back: the metric names %s", key)
				}
			}
		})
	}
}

// A file that has become empty, and one whose settings would keep a host from starting,
// are refused as a whole.
func TestReloadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"an emptied file", "config.hcl", "", "config.hcl:1:1: the file is empty: put its settings back, or restart the host to go on without them"},
		{"a file of comments", "config.hcl", "# server {\n# }\n", "config.hcl:1:1: the file is empty: "},
		{"an emptied file of conf.d", "conf.d/10.hcl", "", "conf.d/10.hcl:1:1: the file is empty: "},
		{"a set without a table", "config.hcl", replaced(t, `table = "products"`, `table = "produce"`), `config.hcl:24:13: entity_set "Products": `},
		{"a route without its file", "config.hcl", replaced(t, "path     = \"/\"\n  redirect = \"/login\"", "path = \"/\"\n  file = \"gone.html\""), `config.hcl:15:10: route "home": there is no file gone.html`},
		{"a database that is none", "config.hcl", reloadable + "database {\n  dsn = \"config.hcl\"\n}\n", `config.hcl:28:9: the database cannot be opened: `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runWith(t, map[string]string{"conf.d/10.hcl": "session {\n  idle = \"1h\"\n}\n"})
			rewrite(t, tt.file, tt.text)
			cfg, findings := config.Load(config.Source{Environ: []string{}})
			if findings.Failed() {
				t.Fatal(findings)
			}
			_, err := cfg.Reload(t.Context(), before.cfg, before.opts)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// New settings of a plugin must also suit the old settings that wait for a restart.
func TestReloadRefusesAPluginForTheOldRules(t *testing.T) {
	before := runWith(t, map[string]string{"conf.d/10.hcl": "auth {\n  login_field = \"nick\"\n}\n"}, "ALTER TABLE users ADD COLUMN nick TEXT")
	rewrite(t, "conf.d/10.hcl", "plugin \"p\" {\n  command    = [\"/bin/true\"]\n  roles      = [\"dispenser\"]\n  user_write = [\"nick\"]\n}\n")
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	_, err := cfg.Reload(t.Context(), before.cfg, before.opts)
	if want := `conf.d/10.hcl:4:17: plugin "p": the column "nick" identifies a person and cannot be changed: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// check warns of an empty file, and serve goes on with defaults.
func TestEmptyFileWarning(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "comments": "# nothing\n", "blanks": " \n\n"} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"config.hcl": text})
			cfg, findings := config.Load(config.Source{Environ: []string{}})
			if cfg == nil || findings.Failed() || len(findings) != 1 || !strings.HasPrefix(findings[0].Error(), "config.hcl:1:1: warning: the file is empty: ") {
				t.Errorf("findings %v", findings)
			}
		})
	}
}
