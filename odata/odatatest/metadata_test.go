package odatatest_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestMetadataOfTheSuite holds $metadata of each engine against the schemas of the
// committee, in both formats and both versions.
func TestMetadataOfTheSuite(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *edm.Model{
		"memory": func(t *testing.T) *edm.Model {
			source, err := memory.New(odatatest.Memory())
			if err != nil {
				t.Fatal(err)
			}
			return source.Model()
		},
		"memory, of links": func(t *testing.T) *edm.Model {
			source, err := memory.New(odatatest.MemoryOf(odatatest.LinkMapping(), odatatest.LinkTables()))
			if err != nil {
				t.Fatal(err)
			}
			return source.Model()
		},
		"sqlite": func(t *testing.T) *edm.Model {
			return modelOf(t, "sqlite", "sqlite", filepath.Join(t.TempDir(), "suite.db"))
		},
		"postgres": func(t *testing.T) *edm.Model { return modelOf(t, "postgres", "pgx", dbtest.Postgres(t)) },
		"mysql":    func(t *testing.T) *edm.Model { return modelOf(t, "mysql", "mysql", dbtest.MySQL(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, err := odata.New(open(t), nil, odata.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, version := range []string{"", "4.01"} { // who names no version gets 4.0, and may ask for JSON
				valid(t, document(t, service, "application/xml", version), document(t, service, "application/json", version))
			}
		})
	}
}

func modelOf(t *testing.T, dialect, driver, dsn string) *edm.Model {
	t.Helper()
	db, err := sqlx.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := odatatest.Fill(db, dialect); err != nil {
		t.Fatal(err)
	}
	source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: dialect, DB: db, DSN: dsn}, odatatest.Mapping())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close() })
	return source.Model()
}

func document(t *testing.T, h http.Handler, media, version string) []byte {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://h/$metadata", nil)
	r.Header.Set("Accept", media)
	if version != "" {
		r.Header.Set("OData-MaxVersion", version)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// TestMetadataOfTheDemo does the same with the demo.
func TestMetadataOfTheDemo(t *testing.T) {
	t.Parallel()
	demo := filepath.Join(t.TempDir(), "shop.db")
	if _, err := seed.Build(t.Context(), demo); err != nil {
		t.Fatal(err)
	}
	validConfigured(t, "../../config.hcl", "database.dsn="+demo)
}

// TestMetadataOfChinook does the same with the tables of a well-known database: composite
// keys, a link to the own table, and names in another style.
func TestMetadataOfChinook(t *testing.T) {
	t.Parallel()
	tables, err := os.ReadFile("testdata/chinook.sql")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "chinook.db")
	db, err := sqlx.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(string(tables)); err != nil {
		t.Fatal(err)
	}
	text := "odata {\n  guard = \"none\"\n  discover = [\"*\"]\n  database {\n    driver = \"sqlite\"\n    dsn = \"" + file + "\"\n  }\n}\n"
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	validConfigured(t, path)
}

func validConfigured(t *testing.T, file string, set ...string) {
	t.Helper()
	cfg, findings := config.Load(config.Source{File: file, Set: set})
	if cfg == nil {
		t.Fatal(findings)
	}
	var docs [2]bytes.Buffer
	for i := range docs {
		if err := cfg.Metadata(t.Context(), &docs[i], i == 1); err != nil {
			t.Fatal(err)
		}
	}
	valid(t, docs[0].Bytes(), docs[1].Bytes())
}

// valid checks a document in both formats.
func valid(t *testing.T, asXML, asJSON []byte) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/csdl.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("JSON: %v", err)
	}
	applied(t, asXML)
	if _, err := exec.LookPath("xmllint"); err != nil {
		if os.Getenv("REQUIRE_XMLLINT") != "" {
			t.Fatal("xmllint is not there, and REQUIRE_XMLLINT is set")
		}
		t.Skip("no xmllint (apt-get install libxml2-utils)")
	}
	command := exec.CommandContext(t.Context(), "xmllint", "--nonet", "--noout", "--schema", "testdata/edmx.xsd", "-")
	command.Stdin = bytes.NewReader(asXML)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("XML: %v\n%s", err, out)
	}
}
