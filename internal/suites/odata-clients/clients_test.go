package odataclients_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// seen is what a client made of the answers, the same for all of them.
type seen struct {
	// One is the name of product 7.
	One string
	// Filtered are tents above 400, the dearest five, and Count how many there are.
	Filtered []int
	Count    int
	// Expanded are the first two orders.
	Expanded []order
	// Pages are three pages of ten products each.
	Pages [][]int
	// Written has the answers to changes of a review.
	Written written
	// URLs are what the client asked for.
	URLs []string
}

type order struct {
	Customer string
	Items    int
}

// written is a review that a client creates, changes, changes again with the first entity tag, deletes, and reads.
type written struct {
	Created, Changed review
	Stale, Gone      int
}

type review struct {
	Author, Text string
	Rating       int
}

func TestClients(t *testing.T) {
	node := need(t)
	service := serve(t)
	want := expected(t, service)
	want.Written = written{review{seed.Name, "Light.", 5}, review{seed.Name, "Light.", 2}, http.StatusPreconditionFailed, http.StatusNotFound}
	metadata := save(t, get(t, service+"$metadata"))
	for name, sends := range map[string]string{ // what only this client sends
		"devextreme": `/Products\(7L\).*price gt 400m`,
		"odata2ts":   `items\(\$select=line_no;\$filter=quantity gt 0\)`,
		"sap":        `/Products\(id=7L\).*id le 2L`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got seen
			if err := json.Unmarshal(run(t, node, name+".cjs", service, generate(t, node, name, metadata)), &got); err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`(?s)` + sends).MatchString(strings.Join(got.URLs, "\n")) {
				t.Errorf("it no longer sends %s: %q", sends, got.URLs)
			}
			got.URLs = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// need gives Node where the packages are installed, and skips the test by name, or
// fails it with REQUIRE_CLIENTS, where they are not.
func need(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("node_modules", "swagger-ui-dist"))
	}
	if err != nil {
		if os.Getenv("REQUIRE_CLIENTS") != "" {
			t.Fatalf("the client packages are required, run npm ci in internal/suites/odata-clients: %v", err)
		}
		t.Skip("no client packages (npm ci in internal/suites/odata-clients)")
	}
	return node
}

// serve serves the demo's block odata over the demo's data, and gives its address.
func serve(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db := filepath.Join(dir, "shop.db")
	if _, err := seed.Build(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../config.hcl")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)\nodata \{.*?\n\}\n`).Find(text)
	texts, err := filepath.Abs("../../../examples/shop/i18n")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.hcl")
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, findings := config.Load(config.Source{File: file, Set: []string{"database.dsn=" + db, "odata.i18n=" + texts}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	o := opts.OData.Options
	o.Root = "/odata/"
	o.Security = odata.Security{Cookie: "vestibule_session", Bearer: true} // as the host has it: who writes must show who they are
	o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		return odata.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": int64(1), "name": seed.Name}}, nil
	}
	service, err := odata.New(opts.OData.Model, opts.OData.Source, o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return server.URL + "/odata/"
}

// save writes $metadata to a file.
func save(t *testing.T, metadata []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "metadata.xml")
	if err := os.WriteFile(file, metadata, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// generate lets a client make of $metadata what it makes, and returns the folder. The packages can be found from there.
func generate(t *testing.T, node, client, metadata string) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", ".generated-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	switch client {
	case "odata2ts":
		run(t, node, "node_modules/@odata2ts/odata2ts/lib/run-cli.js", "-s", metadata, "-o", dir, "-m", "service", "-e", "js", "-t", "tsconfig.json")
	case "sap":
		run(t, node, "node_modules/@sap-cloud-sdk/generator/dist/cli.js", "--input", metadata, "--outputDir", dir, "--transpile", "--skipValidation")
		return filepath.Join(dir, "metadata")
	}
	return dir
}

func run(t *testing.T, node string, args ...string) []byte {
	t.Helper()
	var out, failed bytes.Buffer
	command := exec.CommandContext(t.Context(), node, args...)
	command.Stdout, command.Stderr = &out, &failed
	if err := command.Run(); err != nil {
		t.Fatalf("node %q: %v\n%s%s", args, err, out.String(), failed.String())
	}
	return out.Bytes()
}
