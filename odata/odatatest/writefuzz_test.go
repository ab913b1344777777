package odatatest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
)

func number(n int) string { return strconv.Itoa(n) }

func numeric(s string) int {
	n, _ := strconv.Atoi(s) // the model writes no other
	return n
}

// operation is one random request that writes. Numbers that the service gives are those of the model.
type operation struct {
	method, set string
	key         []string
	values      map[string]string
	tag         modelTag
	minimal     bool
	link        modelLink
	inside      modelInside
	between     modelBetween
	// request is the address of an earlier request of the group where it is not key.
	request string
}

func (o *operation) String() string {
	return fmt.Sprintf("%s %s(%v) %v tag %d %+v %v %v %s", o.method, o.set, o.key, o.values, o.tag, o.link, o.inside, o.between, o.request)
}

// apply predicts the status of an operation in the model, and makes it.
func (o *operation) apply(m *model, user int) int {
	switch {
	case o.between.path != "":
		return m.linkBetween(o, user)
	case o.inside.nav != "" && o.method == http.MethodPatch:
		return m.patchDeep(o, user)
	case o.inside.nav != "":
		return m.deep(o, user)
	case o.link.path != "":
		return m.relink(o, user)
	case o.link.bind != "":
		linked := *o
		linked.values, linked.link = m.bound(o), modelLink{}
		return linked.apply(m, user)
	}
	switch o.method {
	case http.MethodPost:
		return m.post(o.set, o.values, user)
	case http.MethodPatch:
		return m.patch(o.set, o.key, o.values, o.tag, user)
	}
	return m.remove(o.set, o.key, o.tag, user)
}

// writes makes random operations.
type writes struct{ *rand.Rand }

func (g writes) one(of ...string) string { return of[g.IntN(len(of))] }

// operation makes one. Numbers are of rows that m has given.
func (g writes) operation(m *model) *operation {
	o := &operation{set: g.one("Makers", "Parts", "Parts", "Notes", "Notes", "Replies", "Teams", "Badges"), values: map[string]string{}, minimal: g.IntN(4) == 0}
	o.method = g.one(http.MethodPost, http.MethodPost, http.MethodPatch, http.MethodPatch, http.MethodPatch, http.MethodDelete)
	if o.set == "Replies" {
		o.method = http.MethodPost
	}
	o.tag = []modelTag{everyTag, everyTag, everyTag, everyTag, everyTag, staleTag, noTag}[g.IntN(7)]
	s := m.sets[o.set]
	for _, name := range s.names() {
		chance := 4 // of ten
		if _, nullable := s.standard(name); o.method == http.MethodPost && !nullable {
			chance = 9
		}
		if name != s.auto && g.IntN(10) < chance {
			o.values[name] = g.valueOf(m, s, name)
		}
	}
	if o.method != http.MethodPost {
		for _, k := range s.key {
			o.key = append(o.key, g.valueOf(m, s, k))
		}
	}
	if g.link(m, o); o.key == nil && o.link.set == "" && g.IntN(4) == 0 {
		g.nest(m, o, 2)
	} else if o.method != http.MethodDelete && o.link.set == "" && g.IntN(4) == 0 {
		g.bindMany(m, o)
	}
	if (o.set == "Teams" || o.set == "Badges") && g.IntN(2) == 0 {
		g.between(m, o)
	}
	return o
}

// valueOf is value for a property of a set.
func (g writes) valueOf(m *model, s *modelSet, name string) string {
	switch {
	case s.name == "Teams" && name == "id":
		return g.one(`"1"`, `"2"`, `"3"`, `"A"`, `"it's"`)
	case s.name == "Badges" && name == "code":
		return g.one(`"gold"`, `"lead"`, `"bob"`, `"A"`, `"B"`)
	}
	return g.value(m, name)
}

// value is a random JSON text for a property, of few, so that they collide.
func (g writes) value(m *model, name string) string {
	if g.IntN(12) == 0 && name != "id" && name != "code" && name != "book" && name != "page" {
		return "null"
	}
	switch name {
	case "id":
		return g.one(number(1+g.IntN(m.next["Makers"]-1)), number(1+g.IntN(m.next["Makers"]-1)), "77777")
	case "maker_id":
		return g.one("null", number(1+g.IntN(m.next["Makers"]-1)), number(1+g.IntN(3)), "77777")
	case "page", "stock":
		return number(1 + g.IntN(3))
	case "open":
		return g.one("true", "true", "true", "false")
	case "locked":
		return g.one("false", "false", "false", "true")
	case "unit":
		return g.one(`"kg"`, `"kg"`, "null", `"nope"`)
	case "price":
		return g.one("10.5000", "0.0001", "-3.2500")
	case "version":
		return "77"
	case "changed":
		return `"2001-01-01T00:00:00Z"`
	case "code", "book":
		return g.one(`"A"`, `"B"`, `"x"`, `"y"`, `"it's"`)
	}
	// MariaDB takes texts for equal that differ in case, accents or blanks at their end alone; so none of these do.
	return g.one(`"Acme"`, `"Bolt"`, `"c"`, `"q \"r\""`, `"ö ß"`, `" 𝄞"`, `""`, `"A"`)
}

// written is an engine that is written, with the numbers that it gave for those of the model.
type written struct {
	name    string
	service http.Handler
	numbers map[string]map[int]string // by set
}

// writtenEngines are the four, memory first. If judged is true, the sets have rules, which accept everything.
func writtenEngines(t *testing.T, judged bool) []*written {
	t.Helper()
	var out []*written
	for _, s := range subjects(t, odatatest.WriteTables(), odatatest.WriteMapping(), func(*sqlx.DB, string) {}) {
		for _, set := range s.Model.Sets {
			if judged && set.Write != nil {
				set.Write.Validator = "rules"
			}
		}
		service, err := odata.New(s.Model, s.Source, odata.Options{
			Validate: func(context.Context, odata.Caller, []odata.Proposal) (odata.Verdict, error) {
				return odata.Verdict{}, nil
			},
			Root: "/odata/",
			Base: func(*http.Request) string { return "http://h" },
			Now:  func() time.Time { return time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC) },
			Caller: func(_ http.ResponseWriter, r *http.Request) (odata.Caller, error) {
				id, err := strconv.ParseInt(r.Header.Get("X-Test-User"), 10, 64)
				return odata.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": id}}, err
			},
			RequestID: func(*http.Request) string { return "id" },
		})
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]map[int]string{"Makers": {1: "1", 2: "2", 3: "3"}, "Replies": {1: "1"}}
		out = append(out, &written{s.name, service, own})
	}
	return out
}

func (e *written) send(method, target, body string, user int, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://h/", strings.NewReader(body))
	r.RequestURI = "/odata/" + strings.ReplaceAll(target, " ", "%20")
	r.Header.Set("X-Test-User", number(user))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.service.ServeHTTP(w, r)
	return w
}

// own is the number that the engine has for one of the model. Numbers that the model has not given are in no row.
func (e *written) own(set, n string) string {
	if own, ok := e.numbers[set][numeric(n)]; ok {
		return own
	}
	return "9" + strings.Repeat("0", 8) + n
}

// target is the address of an operation for the engine.
func (e *written) target(o *operation, s *modelSet) string {
	if o.request != "" {
		return o.request
	}
	if o.key == nil {
		return o.set
	}
	parts := make([]string, len(o.key))
	for i, v := range o.key {
		if s.key[i] == s.auto {
			v = e.own(o.set, v)
		}
		if v[0] == '"' {
			v = "'" + strings.ReplaceAll(strings.Trim(v, `"`), "'", "''") + "'"
		}
		if parts[i] = v; len(o.key) > 1 {
			parts[i] = s.key[i] + "=" + v
		}
	}
	return o.set + "(" + strings.Join(parts, ",") + ")"
}

// body is the body of an operation for the engine.
func (e *written) body(o *operation, m *model) string {
	s := m.sets[o.set]
	switch o.link.path {
	case ownRef:
		return `{"@odata.id":` + e.reference(o.link) + "}"
	case collectionRef:
		return `{"@odata.id":"` + e.target(o, s) + `"}`
	}
	if o.between.path == betweenCollection {
		return `{"@odata.id":"` + e.target(o.between.other(), m.sets[o.between.set]) + `"}`
	}
	var members []string
	for _, name := range s.names() {
		if v, ok := o.values[name]; ok {
			if name == "maker_id" && v != "null" {
				v = e.own("Makers", v)
			}
			members = append(members, `"`+name+`":`+v)
		}
	}
	if o.link.bind != "" {
		members = append(members, e.bound(o.link))
	}
	if o.inside.nav != "" {
		members = append(members, e.inside(o, m))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// precondition is the header of an operation: the tag that the engine shows, or one that no row has.
func (e *written) precondition(o *operation, target string, user int) string {
	switch {
	case o.tag == staleTag:
		return `W/"AAAAAAAAAAAAAAAA"`
	case o.minimal: // no special meaning: some take any state
		return "*"
	}
	if tag := e.send(http.MethodGet, target, "", user).Header().Get("ETag"); tag != "" {
		return tag
	}
	return "*"
}

// learn notes the number of a row that was created.
func (e *written) learn(set, location string, n int) {
	if known := e.numbers[set]; known != nil && location != "" {
		_, own, _ := strings.Cut(strings.TrimSuffix(location, ")"), "(")
		known[n] = own
	}
}

// shown is a body with the numbers of the model, not those of the engine, and without tags that depend on them.
func (e *written) shown(set, body string) string {
	body = regexp.MustCompile(`"@odata.etag":"W/\\"[A-Za-z0-9_-]{16}\\"",?`).ReplaceAllString(body, "")
	back := func(of string) func(string) string {
		return func(text string) string {
			at := strings.IndexAny(text, "0123456789")
			end := len(strings.TrimRight(text, ")"))
			for n, own := range e.numbers[of] {
				if own == text[at:end] {
					return text[:at] + number(n) + text[end:]
				}
			}
			return text
		}
	}
	if e.numbers[set] == nil {
		set = "Makers" // inside of parts
	}
	body = regexp.MustCompile(`"id":[0-9]+`).ReplaceAllStringFunc(body, back(set))
	body = regexp.MustCompile(`"maker_id":[0-9]+`).ReplaceAllStringFunc(body, back("Makers"))
	body = regexp.MustCompile(`Makers\([0-9]+\)`).ReplaceAllStringFunc(body, back("Makers"))
	return regexp.MustCompile(`Replies\([0-9]+\)`).ReplaceAllStringFunc(body, back("Replies"))
}

// run sends one operation and returns its answer. next is the number of the row that it may make.
func (e *written) run(o *operation, m *model, user, next int) string {
	s := m.sets[o.set]
	var header []string
	if o.key != nil && o.tag != noTag && o.between.path == "" {
		header = append(header, "If-Match", e.precondition(o, e.target(o, s), user))
	}
	if o.minimal {
		header = append(header, "Prefer", "return=minimal")
	}
	body := e.body(o, m)
	if o.method == http.MethodDelete {
		body = ""
	}
	w := e.send(o.method, e.path(o, m), body, user, header...)
	if w.Code == http.StatusCreated || w.Code == http.StatusNoContent && o.method == http.MethodPost {
		e.learn(o.set, w.Header().Get("Location"), next)
		e.learnInside(o, w.Body.Bytes(), user)
	}
	return fmt.Sprintf("%d %s %s", w.Code, e.shown(o.set, w.Header().Get("Location")), e.shown(o.set, w.Body.String()))
}

// group sends operations as an atomicity group and returns the statuses. nexts are the numbers of what they make.
func (e *written) group(list []*operation, m *model, user int, nexts []int) []int {
	type request struct {
		ID      string            `json:"id"`
		Group   string            `json:"atomicityGroup"`
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
		Body    json.RawMessage   `json:"body,omitempty"`
	}
	var batch struct {
		Requests []request `json:"requests"`
	}
	for i, o := range list {
		r := request{ID: number(i), Group: "g", Method: o.method, URL: e.path(o, m), Headers: map[string]string{}}
		switch {
		case o.key == nil || o.tag == noTag || o.between.path != "":
		case o.tag == everyTag:
			r.Headers["if-match"] = "*"
		default:
			r.Headers["if-match"] = `W/"AAAAAAAAAAAAAAAA"`
		}
		if o.method != http.MethodDelete {
			r.Body = json.RawMessage(e.body(o, m))
		}
		batch.Requests = append(batch.Requests, r)
	}
	text, err := json.Marshal(batch)
	if err != nil {
		return nil
	}
	w := e.send(http.MethodPost, "$batch", string(text), user)
	var answer struct {
		Responses []struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		return []int{w.Code}
	}
	var out []int
	for i, r := range answer.Responses {
		if out = append(out, r.Status); r.Status == http.StatusCreated {
			e.learn(list[i].set, r.Headers["location"], nexts[i])
			e.learnInside(list[i], r.Body, user)
		}
	}
	return out
}

// step makes one random step on the model and on all engines, and compares them.
func (g writes) step(t *testing.T, m *model, all []*written, seed uint64) *model {
	t.Helper()
	user := 1 + g.IntN(2)
	if g.IntN(4) > 0 {
		o := g.operation(m)
		next := m.next[o.set]
		want := o.apply(m, user)
		if o.minimal && o.method != http.MethodDelete && want < 300 {
			want = http.StatusNoContent
		}
		first := ""
		for i, e := range all {
			got := e.run(o, m, user, next)
			if i == 0 {
				first = got
			}
			if !strings.HasPrefix(got, number(want)) || got != first {
				t.Errorf("seed %d, user %d: %v\n%s gives %.500s\nthe model says %d\n%s gives %.500s", seed, user, o, e.name, got, want, all[0].name, first)
			}
		}
		return m
	}
	after := m.clone()
	var list []*operation
	var want, nexts []int
	var made [][]string
	failed := -1
	for i := range 1 + g.IntN(4) {
		o := g.member(m, after, user, list, made)
		list, nexts = append(list, o), append(nexts, after.next[o.set])
		if failed >= 0 {
			want = append(want, http.StatusFailedDependency)
			continue
		}
		if want = append(want, o.apply(after, user)); want[i] >= 300 {
			failed = i
		}
		made = append(made, after.key(o.set))
	}
	if failed > 0 {
		for i := range failed {
			want[i] = http.StatusFailedDependency
		}
	}
	for i, e := range all {
		got := e.group(list, m, user, nexts)
		if at := slices.Index(got, http.StatusNotImplemented); i == 0 && at >= 0 && failed != at { // which row it is about depends on a request before it
			want, failed = slices.Repeat([]int{http.StatusFailedDependency}, len(list)), at
			want[at] = http.StatusNotImplemented
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d, user %d: group %v\n%s gives %v, the model says %v", seed, user, list, e.name, got, want)
		}
	}
	if failed >= 0 {
		return m
	}
	return after
}

// compareLinks compares the links over the table in between with the model.
func (m *model) compareLinks(t *testing.T, all []*written, seed uint64) {
	t.Helper()
	for user := 1; user <= 2; user++ {
		want := m.listLinks(user)
		for _, e := range all {
			w := e.send(http.MethodGet, "Teams?$select=id&$expand=badges($select=code;$orderby=code)&$orderby=id", "", user, "Accept", "application/json;odata.metadata=none")
			if got := w.Body.String(); got != want {
				t.Errorf("seed %d: links of user %d\n%8s %s\n%8s %s", seed, user, e.name, got, "model", want)
			}
		}
	}
}

// compare compares all that people see with the model.
func (m *model) compare(t *testing.T, all []*written, seed uint64) {
	t.Helper()
	for set, s := range m.sets {
		for user := 1; user <= 2; user++ {
			want := m.list(set, user)
			for _, e := range all {
				w := e.send(http.MethodGet, set+"?$orderby="+s.key[0]+"&$select="+strings.Join(s.names(), ","), "", user, "Accept", "application/json;odata.metadata=none", "Prefer", "odata.maxpagesize=5000")
				if got := e.shown(set, w.Body.String()); got != want {
					t.Errorf("seed %d: %s of user %d\n%8s %s\n%8s %s", seed, set, user, e.name, got, "model", want)
				}
			}
		}
	}
}

// TestFourEnginesWriteAlike sends random sequences of writes, groups among them, to all engines. A model predicts the status
// of each request and the tables; the engines give the same bytes, also where rules accept every change. See TestFourEnginesAgree for DIFFERENTIAL_TIME and
// DIFFERENTIAL_SEED.
func TestFourEnginesWriteAlike(t *testing.T) {
	t.Parallel()
	first, seeds, end := seedsOf(t, 3, 1)
	for seed := first; (seed < first+seeds || time.Now().Before(end)) && !t.Failed(); seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { // whose databases are closed with it
			g := writes{rand.New(rand.NewPCG(seed, 7))}
			m, all := newModel(), writtenEngines(t, seed%2 == 0)
			for i := range 150 {
				m = g.step(t, m, all, seed)
				if i%10 == 9 {
					m.compare(t, all, seed)
					m.compareLinks(t, all, seed)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}
