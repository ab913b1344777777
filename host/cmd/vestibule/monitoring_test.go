package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// docs is the folder of the documents, from here.
const docs = "../../../docs"

// promtool accepts the rules, and each alert fires when it should and only then. causes_test.yml
// holds that one fault raises one alert, week_test.yml what is compared with a week ago.
func TestAlertRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("REQUIRE_PROMTOOL") != "" {
			t.Fatal(err)
		}
		t.Skip("no promtool (apt-get install prometheus)")
	}
	tests, err := filepath.Glob(filepath.Join(docs, "monitoring", "*_test.yml"))
	if err != nil || len(tests) < 3 {
		t.Fatalf("found %q, %v", tests, err)
	}
	for _, file := range append(tests, "rules.yml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			verb := "test"
			if file == "rules.yml" {
				verb = "check"
			}
			cmd := exec.CommandContext(t.Context(), promtool, verb, "rules", filepath.Base(file))
			cmd.Dir = filepath.Join(docs, "monitoring")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("promtool %s rules: %v\n%s", verb, err, out)
			}
		})
	}
}

// Each alert has a case in which it fires, one in which it does not, and a heading in
// docs/operations.md that its runbook_url leads to.
func TestAlertsHaveCasesAndRunbooks(t *testing.T) {
	rules, cases, operations := document(t, "monitoring/rules.yml"), document(t, "monitoring/rules_test.yml")+document(t, "monitoring/week_test.yml"), document(t, "operations.md")
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(rules, -1)
	if len(alerts) < 20 {
		t.Fatalf("found %d alerts", len(alerts))
	}
	for _, m := range alerts {
		name := m[1]
		if !strings.Contains(operations, "\n### "+name+"\n") {
			t.Errorf("docs/operations.md has no heading ### %s", name)
		}
		if !strings.Contains(rules, "/docs/operations.md#"+strings.ToLower(name)+"\n") {
			t.Errorf("no runbook_url leads to the heading of %s", name)
		}
		for _, expected := range []string{`:\n`, `: \[\]\n`} {
			if !regexp.MustCompile(`alertname: ` + name + `\n +exp_alerts` + expected).MatchString(cases) {
				t.Errorf("rules_test.yml has no case of %s with exp_alerts%s", name, expected)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Vestibule\w+)$`).FindAllStringSubmatch(operations, -1) {
		if !strings.Contains(rules, "alert: "+m[1]+"\n") {
			t.Errorf("docs/operations.md tells of the alert %s, which there is not", m[1])
		}
	}
}

// monitoredStory compares a scrape with what is written of metrics: monitored FILE.
func monitoredStory(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: monitored FILE")
	}
	series := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{| )`).FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		series[m[1]] = true
	}
	tables := regexp.MustCompile(`vestibule_\w+`).FindAllString(migrations(ts), -1)
	for file, least := range map[string]int{"operations/metrics.md": 20, "monitoring/rules.yml": 15, "monitoring/dashboard.json": 25} {
		text, err := os.ReadFile(filepath.Join(docs, file))
		ts.Check(err)
		named := map[string]bool{}
		for _, name := range regexp.MustCompile(`\b(?:vestibule|go|process)_[a-z_]+[a-z]\b`).FindAllString(string(text), -1) {
			if slices.Contains(tables, name) {
				continue
			}
			if named[name] = true; !series[name] && !series[name+"_count"] {
				ts.Fatalf("docs/%s names %s, which no scrape has", file, name)
			}
		}
		if len(named) < least {
			ts.Fatalf("docs/%s names %d metrics, want %d at least", file, len(named), least)
		}
		for name := range series {
			family := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count"), "_sum")
			if file == "operations/metrics.md" && strings.HasPrefix(name, "vestibule_") && !named[family] {
				ts.Fatalf("docs/operations/metrics.md does not tell of %s", family)
			}
		}
	}
}

// numbersStory wants a log in JSON in which numbers and durations are numbers, with
// their unit in the key: numbers FILE.
func numbersStory(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: numbers FILE")
	}
	text := regexp.MustCompile(`^-?[0-9.]+(e[+-]?[0-9]+)?$|^([0-9.]+(h|m|s|ms|µs|ns))+$`)
	seen := map[string]any{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			ts.Fatalf("no JSON: %v: %s", err, line)
		}
		for key, value := range entry {
			seen[key] = value
			s, ok := value.(string)
			isName := key == "user" || key == "version" || strings.HasSuffix(key, "id")
			if ok && !isName && text.MatchString(s) {
				ts.Fatalf("%s is the text %q: %s", key, s, line)
			}
		}
	}
	for _, key := range []string{"ms", "status", "bytes", "pid"} {
		if _, ok := seen[key].(float64); !ok {
			ts.Fatalf("%s is %v, want a number", key, seen[key])
		}
	}
	for _, key := range []string{"request_id", "trace_id", "span_id"} {
		if s, _ := seen[key].(string); s == "" {
			ts.Fatalf("no line has %s", key)
		}
	}
}

func migrations(ts *testscript.TestScript) string {
	files, err := filepath.Glob("../../store/migrations/*.sql")
	ts.Check(err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		ts.Check(err)
		all.Write(text)
	}
	return all.String()
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// certificateStory makes a certificate for 127.0.0.1 that ends END seconds after 1970,
// 1,900,000,000 by default: certificate CERT KEY [END].
func certificateStory(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: certificate CERT KEY [END]")
	}
	end := int64(1_900_000_000)
	if len(args) == 3 {
		var err error
		end, err = strconv.ParseInt(args[2], 10, 64)
		ts.Check(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Unix(end, 0)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	for i, block := range []*pem.Block{{Type: "CERTIFICATE", Bytes: cert}, {Type: "PRIVATE KEY", Bytes: private}} {
		ts.Check(os.WriteFile(ts.MkAbs(args[i]), pem.EncodeToMemory(block), 0o600))
	}
}
