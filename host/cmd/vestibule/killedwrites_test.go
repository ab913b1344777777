package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Hosts, or their database, are killed at random moments while eight clients write over HTTP and repeat what was not answered. What
// was answered as done is there afterwards, what was refused is not, and no change set is there by half. LONG=1, which make nightly
// sets, takes 2,000 writes for each database and each of the two; KILLED_SEED repeats a choice of writes and moments.
func TestWritesUnderKills(t *testing.T) {
	underKills(t, (*killSite).writeUnderKills)
}

// underKills runs a test with kills of hosts, and with kills of the database, on SQLite and one of the other databases; with LONG=1 on
// both, and longer.
func underKills(t *testing.T, run func(s *killSite, seed uint64, writes, kills int, kill func(*rand.Rand))) {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("KILLED_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("KILLED_SEED: %v", err)
		}
	}
	t.Logf("KILLED_SEED=%d", seed)
	long := os.Getenv("LONG") != ""
	servers := []string{"postgres", "mysql"}
	chosen := servers[seed%2]
	for _, dialect := range append(servers, "sqlite") {
		for _, what := range []string{"host", "database"} {
			if dialect == "sqlite" && what == "database" || !long && dialect != "sqlite" && dialect != chosen {
				continue
			}
			t.Run(dialect+" "+what, func(t *testing.T) {
				writes, kills := 100, 2
				if long {
					writes, kills = 2000, 40
				}
				s := newKillSite(t, dialect)
				kill := s.killHost
				if what == "database" {
					kill = s.killDatabase
				}
				run(s, seed, writes, kills, kill)
			})
		}
	}
}

// writeUnderKills lets clients write, kills, and compares.
func (s *killSite) writeUnderKills(seed uint64, writes, kills int, kill func(*rand.Rand)) {
	s.Helper()
	var clients []*killClient
	begin := func(n int, r *rand.Rand, over *http.Client) func(int) bool {
		c := &killClient{killSite: s, name: fmt.Sprintf("c%d", n), random: r, shared: map[string][]string{}, http: over}
		clients = append(clients, c)
		return func(int) bool { return c.perform(c.next()) }
	}
	s.workUnderKills(seed, writes, kills, kill, begin, func(summary string) {
		var sum killCounts
		for _, c := range clients {
			sum.add(c.counted)
		}
		s.Logf("%s; %d change sets, changed %d rows; requests: %d without an answer (%d writes were found done), %d with an unknown outcome, %d unavailable, %d refused for others",
			summary, sum.sets, sum.rows, sum.unanswered, sum.found, sum.unknown, sum.undone, sum.conflict)
		s.compare(clients)
	})
}

// compare wants each row as its client has left it, no other, and the same from each host.
func (s *killSite) compare(clients []*killClient) {
	s.Helper()
	there := s.stored()
	for _, c := range clients {
		for _, row := range c.rows {
			got, ok := there[row.key()]
			if !ok || got.history != row.history || row.set == "Counted" && got.version != row.version {
				s.Errorf("%s is lost: it is %+v (%t), want %+v", row.key(), got, ok, row)
			}
			delete(there, row.key())
		}
	}
	for key, row := range there {
		if !strings.Contains(key, "/shared") {
			s.Errorf("%s was deleted or never written, and is there: %+v", key, row)
			continue
		}
		want := []string{"made"}
		for _, c := range clients {
			want = append(want, c.shared[key]...)
		}
		got := strings.Split(row.history, ".")
		if row.set == "Counted" && row.version != len(got) {
			s.Errorf("%s has the version %d after %d changes", key, row.version, len(got)-1)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			s.Errorf("%s has %d changes %v, want %d: %v", key, len(got), got, len(want), want)
		}
	}
	there = s.stored()
	for _, h := range s.hosts {
		seen := s.served(h)
		for key, row := range there {
			if seen[key] != row.history {
				s.Errorf("the host says that %s is %q, and it is %q", key, seen[key], row.history)
			}
		}
		if len(seen) != len(there) {
			s.Errorf("the host has %d rows, the database %d", len(seen), len(there))
		}
	}
}

// stored reads the rows past the hosts.
func (s *killSite) stored() map[string]killRow {
	s.Helper()
	there := map[string]killRow{}
	for set, query := range map[string]string{
		"Counted": "SELECT code, history, latest, version FROM counted", "Plain": "SELECT code, history, latest, 0 FROM plain",
	} {
		s.retried(func() error {
			rows, err := s.db.Query(query)
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				row, latest := killRow{set: set}, ""
				if err := rows.Scan(&row.code, &row.history, &latest, &row.version); err != nil {
					return err
				}
				if !strings.HasSuffix("."+row.history, "."+latest) {
					s.Errorf("%s is there by half: %s, %s", row.key(), row.history, latest)
				}
				there[row.key()] = row
			}
			return rows.Err()
		})
	}
	return there
}

// served reads the rows of a host, page by page.
func (s *killSite) served(h *rollingHost) map[string]string {
	s.Helper()
	seen := map[string]string{}
	for _, set := range []string{"Counted", "Plain"} {
		for next := "http://" + h.address + "/odata/" + set + "?$orderby=code"; next != ""; {
			var page struct {
				Value []killSight
				Next  string `json:"@odata.nextLink"`
			}
			s.retried(func() error {
				r, err := http.NewRequest(http.MethodGet, next, nil)
				if err != nil {
					return err
				}
				r.Header.Set("Authorization", "Bearer "+s.token)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					return err
				}
				defer func() { _ = resp.Body.Close() }()
				if resp.StatusCode != http.StatusOK {
					return fmt.Errorf("%s: %d", next, resp.StatusCode)
				}
				return json.NewDecoder(resp.Body).Decode(&page)
			})
			for _, row := range page.Value {
				seen[set+"/"+row.Code] = row.History
			}
			next = page.Next
		}
	}
	return seen
}
