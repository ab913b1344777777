package host_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A value that a column cannot hold is the plugin's fault: 502 for the person, the plugin
// and the column in the log and in a metric, and nothing is applied.
func TestColumnsThatCannotHoldAValue(t *testing.T) {
	program := plugintest.Build(t, "pluginproc/internal/faultplugin")
	const byType, byTable = `vestibule_plugin_call_seconds_count{method="dispense",outcome="contract",plugin="fault"}`,
		`vestibule_plugin_events_total{event="value_refused",plugin="fault"}`
	tests := []struct {
		way, column string
		typed       string // the engines whose type of the column tells; on others the statement fails
	}{
		{"column-word", "number", "sqlite postgres mysql"},
		{"column-nul", "note", "sqlite postgres mysql"},
		{"column-day", "seen", "sqlite postgres mysql"},
		{"column-long", "brief", "postgres mysql"},
		{"column-range", "small", "postgres"},
		{"column-check", "checked", ""},
	}
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db, log := open(), &logs{}
		moment := map[string]string{"sqlite": "DATETIME", "postgres": "TIMESTAMP", "mysql": "DATETIME"}[db.Engine()]
		for _, column := range []string{
			"number BIGINT", "note VARCHAR(200)", "brief VARCHAR(5) CHECK (LENGTH(brief) < 6)", "small SMALLINT CHECK (small < 1000)",
			"checked BIGINT CHECK (checked >= 0)", "seen " + moment,
		} {
			if _, err := db.Writer().Exec(`ALTER TABLE users ADD COLUMN ` + column); err != nil {
				t.Fatal(err)
			}
		}
		columns := []string{"number", "note", "brief", "small", "checked", "seen"}
		base, admin := runWithAdmin(t, host.Options{
			Store: db, Auth: host.AuthOptions{Rules: auth.Rules{PasswordHash: password.Keep}},
			Logger: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info}),
			Routes: []host.Route{{Name: "dashboard", Path: "/dashboard", Redirect: "/dash-page"}},
			Plugins: []host.Plugin{{
				Name: "fault", Command: []string{program, "ok"}, Roles: []string{"dispenser"}, UserRead: columns, UserWrite: columns,
			}},
		})
		for _, tt := range tests {
			counted, other := byTable, byType
			if strings.Contains(tt.typed, db.Engine()) {
				counted, other = byType, byTable
			}
			t.Run(tt.way, func(t *testing.T) {
				user, err := db.AddUser(t.Context(), tt.way+"@example.com", "Ada", weakHash())
				if err != nil {
					t.Fatal(err)
				}
				before, said := scrape(t, admin), len(log.String())
				if status, message := postLogin(t, base, user.Email); status != http.StatusBadGateway || message != "dispenser_contract" {
					t.Errorf("it is answered %d %s, want 502 dispenser_contract", status, message)
				}
				after := scrape(t, admin)
				if n, err := strconv.Atoi(before[counted]); err != nil || after[counted] != strconv.Itoa(n+1) || other == byTable && after[other] != before[other] {
					t.Errorf("%s is %s after %s, and %s is %s after %s", counted, after[counted], before[counted], other, after[other], before[other])
				}
				lines := log.String()[said:]
				if !strings.Contains(lines, `plugin=fault`) && !strings.Contains(lines, `set by fault`) || !strings.Contains(lines, tt.column) {
					t.Errorf("the log names no plugin, or not %q:\n%s", tt.column, lines)
				}
				now, err := db.Users().FindByID(t.Context(), user.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range columns {
					if now.Columns[name] != nil {
						t.Errorf("%s is %v", name, now.Columns[name])
					}
				}
				if list := rows(t, db, "vestibule_sessions"); len(list) > 0 {
					t.Errorf("there are %d sessions", len(list))
				}
			})
		}
		user, err := db.AddUser(t.Context(), "column-fits@example.com", "Ada", weakHash())
		if err != nil {
			t.Fatal(err)
		}
		if status, message := postLogin(t, base, user.Email); status != http.StatusOK {
			t.Fatalf("what fits is answered %d %s", status, message)
		}
		now, err := db.Users().FindByID(t.Context(), user.ID)
		if err != nil || now.Columns["number"] != int64(7) || now.Columns["note"] != "ok" || now.Columns["brief"] != "xxxxx" || now.Columns["seen"] != "2026-01-31T12:00:00Z" {
			t.Errorf("the columns are %v, %v", now.Columns, err)
		}
	})
}

// postLogin signs somebody in with Ada's password, and returns the status and the message.
func postLogin(t *testing.T, base, email string) (status int, message string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"login": email, "password": adaPassword})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(base+"/auth/login", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Message string }
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return resp.StatusCode, answer.Message
}
