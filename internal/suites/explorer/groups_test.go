package explorer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

const (
	usual = 100    // cases a database
	long  = 10_000 // with LONG=1
	// zoneCases is how many cases follow each other in one zone: another one takes Node long.
	zoneCases = 25
	// mostFaults is how many faults a database prints.
	mostFaults = 25
)

// A question is one case for the modules of the explorer; see Case in ui/test/groups.ts.
type question struct {
	ID     int     `json:"id"`
	Set    string  `json:"set"`
	Above  *above  `json:"above,omitempty"`
	Lang   string  `json:"lang"`
	Zone   string  `json:"zone"`
	Typed  []typed `json:"typed"`
	Search string  `json:"search"`
	Group  string  `json:"group"`
	Follow int     `json:"follow"`
	From   int     `json:"from"`
	wishes []wish
}

type above struct {
	Set string         `json:"set"`
	Key map[string]any `json:"key"`
}

type typed struct {
	Column string `json:"column"`
	Text   string `json:"text"`
}

// A finding is their answer.
type finding struct {
	ID       int      `json:"id"`
	Filter   string   `json:"filter"`
	Unread   []string `json:"unread"`
	IDs      []string `json:"ids"`
	Groups   int      `json:"groups"`
	Followed int      `json:"followed"`
	Faults   []string `json:"faults"`
}

// TestGroupsShowWhatTheyCount lets the explorer group and filter odd data. What was typed finds the rows that an oracle finds; what the groups
// count is all of these rows, and the link of a group shows as many rows as the group counts. LONG=1 asks ten thousand times
// on each database, EXPLORER_CASES as often as it says; EXPLORER_SEED repeats a run.
func TestGroupsShowWhatTheyCount(t *testing.T) {
	program := compiled(t)
	cases, seed := usual, uint64(time.Now().UnixNano())
	if os.Getenv("LONG") != "" {
		cases = long
	}
	if n, err := strconv.Atoi(os.Getenv("EXPLORER_CASES")); err == nil {
		cases = n
	}
	if n, err := strconv.ParseUint(os.Getenv("EXPLORER_SEED"), 10, 64); err == nil {
		seed = n
	}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			s := newStore(t, dialect)
			base := s.serve(t)
			r := rand.New(rand.NewPCG(seed, 38))
			questions := make([]question, cases)
			for i := range questions {
				questions[i] = s.question(t, r, i)
			}
			groups, followed, found, faults := 0, 0, 0, 0
			for f := range ask(t, program, base, questions) {
				groups, followed, found = groups+f.Groups, followed+f.Followed, found+min(len(f.IDs), 1)
				if list := s.judge(t, questions[f.ID], f); len(list) > 0 {
					if faults++; faults <= mostFaults {
						q, _ := json.Marshal(questions[f.ID])
						t.Errorf("%.3000s\n%.1500s\nfilter %.1000s", strings.Join(list, "\n"), q, f.Filter)
					}
				}
			}
			t.Logf("EXPLORER_SEED=%d: %d cases, %d of them with rows, %d groups, %d links followed, %d cases with a fault", seed, cases, found, groups, followed, faults)
			if followed < cases*3/4 || found < cases/3 {
				t.Errorf("only %d links were followed, and %d filters found rows", followed, found)
			}
		})
	}
}

// compiled is the program of ui/test/groups.ts. The test is skipped, or fails with REQUIRE_NODE, without Node and esbuild.
func compiled(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.FromSlash("../../../ui/node_modules/esbuild"))
	}
	if err != nil {
		if os.Getenv("REQUIRE_NODE") != "" {
			t.Fatalf("Node is required, and the packages of ui (npm ci in ui): %v", err)
		}
		t.Skip("no Node, or not the packages of ui (npm ci in ui)")
	}
	file := filepath.Join(t.TempDir(), "groups.mjs")
	cmd := exec.CommandContext(t.Context(), node, filepath.FromSlash("../../../ui/tools/groups.mjs"), file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile the explorer: %v\n%s", err, out)
	}
	return file
}

// serve serves the odd tables on the loopback interface, and returns the address.
func (s *store) serve(t *testing.T) string {
	t.Helper()
	service, err := odata.New(s.source.Model(), s.source, odata.Options{Root: "/odata/"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return server.URL
}

// question is a random case.
func (s *store) question(t *testing.T, r *rand.Rand, id int) question {
	t.Helper()
	zone := []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"}[id/zoneCases%4]
	place, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	w := reader{pick(r, "de", "en"), zone, place}
	q := question{ID: id, Set: "Odd", Lang: w.lang, Zone: zone, Typed: []typed{}, Follow: 2, From: r.IntN(1000)}
	columns := s.columns()
	paths := make([]string, 0, len(columns))
	for path := range columns {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for _, path := range paths[:pick(r, 0, 1, 1, 1, 2, 2, 3)] {
		wish := columns[path](r, w)
		q.wishes, q.Typed = append(q.wishes, wish), append(q.Typed, typed{wish.column, wish.text})
	}
	switch r.IntN(12) {
	case 0:
		key := int64(1 + r.IntN(11))
		q.Above = &above{"Customers", map[string]any{"id": strconv.FormatInt(key, 10)}}
		q.wishes = append(q.wishes, wish{where: "customer_id = ?", args: []any{key}})
	case 1:
		key := pick(r, codes()...)
		q.Above = &above{"Codes", map[string]any{"code": key}}
		q.wishes = append(q.wishes, wish{where: "code = ?", args: []any{key}})
	case 2:
		q.Search = pick(r, "frank", `"a b"`, "größe", "x-y AND", "日本", "a+b", "50 %")
	}
	// Each column that a group can be made by, whether the page offers it or an address names it.
	q.Group = pick(r, "note", "word", "customer_id", "code", "amount", "exact", "big", "small", "measure", "weight", "rounded", "day", "clock", "uid", "done", "status", "ship/city", "ship/zip", "id")
	return q
}

// judge compares a finding with what the oracle finds.
func (s *store) judge(t *testing.T, q question, f finding) []string {
	t.Helper()
	faults := f.Faults
	for _, text := range f.Unread {
		faults = append(faults, "this cannot be read: "+text)
	}
	if q.Search != "" || len(faults) > 0 {
		return faults
	}
	var want []string
	for _, row := range s.rows {
		id, _ := row["id"].(int64)
		want = append(want, strconv.FormatInt(id, 10))
	}
	for _, w := range q.wishes {
		ids := s.matching(t, w)
		want = slices.DeleteFunc(want, func(id string) bool {
			n, err := strconv.ParseInt(id, 10, 64)
			return err != nil || !slices.Contains(ids, n)
		})
	}
	got := slices.Clone(f.IDs)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		missing := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return slices.Contains(got, id) })
		extra := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return slices.Contains(want, id) })
		faults = append(faults, fmt.Sprintf("%d rows and not %d: without %s, with %s", len(got), len(want), s.describe(q, missing), s.describe(q, extra)))
	}
	return faults
}

// describe shows some rows by the values of the columns in question.
func (s *store) describe(q question, ids []string) string {
	var list []string
	for _, id := range ids[:min(len(ids), 3)] {
		n, err := strconv.Atoi(id)
		if err != nil {
			return id
		}
		text := id
		for _, typed := range q.Typed {
			text += fmt.Sprintf(" %.80q", fmt.Sprint(s.rows[n-1][strings.Replace(typed.Column, "/", "_", 1)]))
		}
		list = append(list, text)
	}
	return fmt.Sprintf("%d (%s)", len(ids), strings.Join(list, "; "))
}

// ask asks the program, which ends with the last question, and gives its findings as they come.
func ask(t *testing.T, program, base string, questions []question) func(yield func(finding) bool) {
	t.Helper()
	return func(yield func(finding) bool) {
		cmd := exec.CommandContext(t.Context(), "node", "--enable-source-maps", program, base)
		var errors strings.Builder
		cmd.Stderr = &errors
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go write(in, questions)
		answered := 0
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var f finding
			if err := json.Unmarshal(line, &f); err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			answered++
			yield(f)
		}
		if err := cmd.Wait(); err != nil || answered != len(questions) {
			t.Errorf("%d of %d questions were answered: %v\n%.3000s", answered, len(questions), err, errors.String())
		}
	}
}

// write hands over the questions. An error is that of a program that has ended, which its reader notices.
func write(in io.WriteCloser, questions []question) {
	encoder := json.NewEncoder(in)
	for _, q := range questions {
		if encoder.Encode(q) != nil {
			break
		}
	}
	_ = in.Close()
}
