package odata_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// flaky is a source whose transactions fail on request, which those of a database do at their own will only.
type flaky struct {
	*memory.Source
	// begin, apply and commit are asked before the source is, with the number of the transaction, from 1; nil asks nobody.
	begin, apply, commit func(n int) error

	// opened is asked before a transaction opens rows, with the number of times that it has; nil asks nobody.
	opened func(times int) error

	// behind makes the next commit one that is done, and that nobody knows of.
	behind bool

	begun, open atomic.Int64
}

func (f *flaky) Begin(ctx context.Context) (write.Transaction, error) {
	n := int(f.begun.Add(1))
	if f.begin != nil {
		if err := f.begin(n); err != nil {
			return nil, err
		}
	}
	tx, err := f.Source.Begin(ctx)
	f.open.Add(1)
	return &flakyTransaction{Transaction: tx, of: f, n: n}, err
}

type flakyTransaction struct {
	write.Transaction
	of     *flaky
	n      int
	opens  int
	closed bool
}

func (t *flakyTransaction) Open(p *plan.Plan) (plan.Rows, error) {
	t.opens++
	if t.of.opened != nil {
		if err := t.of.opened(t.opens); err != nil {
			return nil, err
		}
	}
	return t.Transaction.Open(p)
}

func (t *flakyTransaction) Apply(list []*write.Change) (plan.Rows, int, error) {
	if t.of.apply != nil {
		if err := t.of.apply(t.n); err != nil {
			return nil, 0, err
		}
	}
	return t.Transaction.Apply(list)
}

func (t *flakyTransaction) Commit() error {
	if t.of.commit != nil {
		if err := t.of.commit(t.n); err != nil {
			return err
		}
	}
	err := t.Transaction.Commit()
	if t.of.behind {
		t.of.behind = false
		err = &write.Refusal{Kind: write.OutcomeUnknown}
	}
	return err
}

func (t *flakyTransaction) Close() error {
	if !t.closed {
		t.closed = true
		t.of.open.Add(-1)
	}
	return t.Transaction.Close()
}

type note struct {
	ID   int    `odata:"id,auto"`
	Text string `odata:"text,unique"`
	Blob []byte `odata:"blob"`
}

// notes are a flaky source with one row, and the service over it.
func notes(t *testing.T, f *flaky, change func(*odata.Options)) *odata.Service {
	t.Helper()
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{
		Name: "Notes", Rows: []note{{ID: 1, Text: "one"}}, Write: &memory.Write{Create: true, Update: true, Delete: true},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	f.Source = source
	o := odata.Options{
		Root: "/odata/",
		Base: func(*http.Request) string { return "http://h" },
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true, Client: "c"}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	s, err := odata.New(source.Model(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := f.open.Load(); n != 0 {
			t.Errorf("%d transactions are open at the end", n)
		}
	})
	return s
}

type secretNote struct {
	ID   int    `odata:"id,auto"`
	Text string `odata:"text,hide"`
	Blob []byte `odata:"blob"`
}

// narrow is a source with a property whose column takes nothing.
type narrow struct {
	*memory.Source
	property string
}

func (n narrow) Fits(_ *write.Change, values []write.Assignment) error {
	for _, v := range values {
		if v.Path[0].Name == n.property {
			return &write.Refusal{Kind: write.Unfit, Properties: [][]*edm.Property{v.Path}}
		}
	}
	return nil
}

// A value of the service that the column would alter is no fault of the client, and its answer does not name the property.
func TestValuesOfTheServiceThatTheColumnWouldAlter(t *testing.T) {
	t.Parallel()
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{
		Name: "Notes", Rows: []secretNote{{ID: 1, Text: "one"}},
		Write: &memory.Write{Create: true, Update: true, Touch: map[string]string{"text": "given"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for property, want := range map[string]string{"text": "403 row_not_allowed", "blob": "400 bad_request"} {
		s, err := odata.New(source.Model(), narrow{source, property}, odata.Options{
			Root: "/odata/",
			Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
				return odata.Caller{SignedIn: true, Settled: true, Client: "c"}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for method, target := range map[string]string{"POST": "Notes", "PATCH": "Notes(1)"} {
			w := request(s, method, target, `{"blob":"AA"}`, "If-Match", "*")
			status, code, _ := strings.Cut(want, " ")
			if fmt.Sprint(w.Code) != status || !strings.Contains(w.Body.String(), `"`+code+`"`) || strings.Contains(w.Body.String(), `"text"`) {
				t.Errorf("%s of %s: %d %s; want %s", method, property, w.Code, w.Body, want)
			}
		}
		if w := request(s, "PATCH", "Notes(9)", `{"blob":"AA"}`, "If-Match", "*"); property == "text" && w.Code != http.StatusPreconditionFailed {
			t.Errorf("PATCH of a row that is not there: %d %s", w.Code, w.Body)
		}
	}
}

func request(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/odata/"+target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// refuse refuses the first transactions.
func refuse(kind write.RefusalKind, first int) func(int) error {
	return func(n int) error {
		if n <= first {
			return &write.Refusal{Kind: kind, Cause: errors.New("the database says so")}
		}
		return nil
	}
}

// A transaction that the database undoes for the sake of another one is tried again, a few times; what else goes wrong is not.
func TestTransactionsThatFail(t *testing.T) {
	t.Parallel()
	down := func(int) error { return &plan.Error{Kind: plan.Unavailable, Pos: -1, Message: "the database is away"} }
	for name, tt := range map[string]struct {
		source *flaky
		status int
		code   string
		begun  int
	}{
		"well":                         {&flaky{}, 201, "", 1},
		"undone at first":              {&flaky{apply: refuse(write.Conflict, 1)}, 201, "", 2},
		"undone at the commit":         {&flaky{commit: refuse(write.Conflict, 2)}, 201, "", 3},
		"undone again and again":       {&flaky{apply: refuse(write.Conflict, 99)}, 503, "unavailable", 4},
		"outcome unknown":              {&flaky{commit: refuse(write.OutcomeUnknown, 1)}, 503, "outcome_unknown", 1},
		"a constraint of the commit":   {&flaky{commit: refuse(write.DeadLink, 1)}, 409, "dead_link", 1},
		"a rule of the database":       {&flaky{apply: refuse(write.InvalidValue, 1)}, 422, "invalid_value", 1},
		"away when it begins":          {&flaky{begin: down}, 503, "unavailable", 1},
		"away while it writes":         {&flaky{apply: down}, 503, "unavailable", 1},
		"a fault without a name":       {&flaky{apply: func(int) error { return errors.New("boom") }}, 500, "internal", 1},
		"a fault of the commit itself": {&flaky{commit: func(int) error { return errors.New("boom") }}, 500, "internal", 1},
	} {
		h := notes(t, tt.source, nil)
		w := request(h, "POST", "Notes", `{"text":"two"}`)
		if w.Code != tt.status || tt.code != "" && !strings.Contains(w.Body.String(), `"code":"`+tt.code+`"`) || int(tt.source.begun.Load()) != tt.begun {
			t.Errorf("%s: %d after %d transactions: %s", name, w.Code, tt.source.begun.Load(), w.Body)
		}
		if strings.Contains(w.Body.String(), "boom") || strings.Contains(w.Body.String(), "says so") {
			t.Errorf("%s: the client reads %s", name, w.Body)
		}
		want := "1"
		if tt.status == http.StatusCreated {
			want = "2"
		}
		if got := request(h, "GET", "Notes/$count", "").Body.String(); got != want {
			t.Errorf("%s: there are %s rows, want %s", name, got, want)
		}
	}
}

// A group is tried again as a whole, and its references name the rows of the last try.
func TestGroupsThatFail(t *testing.T) {
	t.Parallel()
	const group = `{"requests":[
		{"id":"a","atomicityGroup":"g","method":"post","url":"Notes","body":{"text":"two"}},
		{"id":"b","atomicityGroup":"g","dependsOn":["a"],"method":"patch","url":"$a","headers":{"if-match":"*"},"body":{"text":"three"}},
		{"id":"c","dependsOn":["g"],"method":"get","url":"$a/text/$value"}]}`
	second := 0
	inSecond := func(int) error { // of the second try the second change
		if second++; second == 2 || second == 4 {
			return &write.Refusal{Kind: write.Conflict}
		}
		return nil
	}
	for name, tt := range map[string]struct {
		source *flaky
		want   map[string]int
		count  string
		begun  int
	}{
		"well":                     {&flaky{}, map[string]int{"a": 201, "b": 200, "c": 200}, "2", 1},
		"undone in the middle":     {&flaky{apply: inSecond}, map[string]int{"a": 201, "b": 200, "c": 200}, "2", 3},
		"undone at the commit":     {&flaky{commit: refuse(write.Conflict, 3)}, map[string]int{"a": 201, "b": 200, "c": 200}, "2", 4},
		"undone again and again":   {&flaky{commit: refuse(write.Conflict, 4)}, map[string]int{"a": 424, "b": 503, "c": 424}, "1", 4},
		"outcome unknown":          {&flaky{commit: refuse(write.OutcomeUnknown, 1)}, map[string]int{"a": 424, "b": 503, "c": 424}, "1", 1},
		"a constraint of the last": {&flaky{commit: refuse(write.Duplicate, 1)}, map[string]int{"a": 424, "b": 409, "c": 424}, "1", 1},
	} {
		h := notes(t, tt.source, nil)
		got := map[string]int{}
		for id, r := range jsonBatch(t, h, group) {
			got[id] = r.Status
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || int(tt.source.begun.Load()) != tt.begun {
			t.Errorf("%s, after %d transactions: %s", name, tt.source.begun.Load(), diff)
		}
		if got := request(h, "GET", "Notes/$count", "").Body.String(); got != tt.count {
			t.Errorf("%s: there are %s rows, want %s", name, got, tt.count)
		}
	}
}

// The hook learns of what is committed, once, and of nothing else.
func TestWrittenRows(t *testing.T) {
	t.Parallel()
	var told []string
	f := &flaky{commit: func(n int) error {
		if n == 1 {
			return &write.Refusal{Kind: write.Conflict}
		}
		return nil
	}}
	h := notes(t, f, func(o *odata.Options) {
		o.Written = func(ctx context.Context, c odata.Caller, rows []odata.Written) {
			if ctx == nil || c.Client != "c" {
				t.Errorf("told of %v with %v", rows, c)
			}
			told = append(told, fmt.Sprint(rows))
		}
	})
	request(h, "POST", "Notes", `{"text":"two"}`)
	request(h, "POST", "Notes", `{"text":"two"}`)
	request(h, "PATCH", "Notes(1)", `{"text":"x"}`)
	request(h, "POST", "$batch", `{"requests":[
		{"id":"a","atomicityGroup":"g","method":"post","url":"Notes","body":{"text":"three"}},{"id":"b","atomicityGroup":"g","method":"delete","url":"Notes(1)","headers":{"if-match":"*"}},
		{"id":"c","atomicityGroup":"h","method":"post","url":"Notes","body":{"text":"four"}},{"id":"d","atomicityGroup":"h","method":"delete","url":"Notes(9)","headers":{"if-match":"*"}}]}`)
	want := []string{"[{Notes create (2)}]", "[{Notes create (3)} {Notes delete (1)}]"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// An answer is held until the commit. That of the largest row fits; those of a group are bounded together.
func TestAnswersOfWritesAreHeld(t *testing.T) {
	t.Parallel()
	h := notes(t, &flaky{}, nil)
	blob := strings.Repeat("A", 1<<20-100)
	if w := request(h, "POST", "Notes", `{"text":"two","blob":"`+blob+`"}`); w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), blob[:len(blob)-4]) {
		t.Fatalf("%d %.300s", w.Code, w.Body)
	}
	got := jsonBatch(t, h, `{"requests":[
		{"id":"a","atomicityGroup":"g","method":"post","url":"Notes","body":{"text":"three"}},
		{"id":"b","atomicityGroup":"g","method":"patch","url":"Notes(2)","headers":{"if-match":"*"},"body":{"text":"four"}},
		{"id":"c","method":"get","url":"Notes/$count"}]}`)
	if got["a"].Status != 424 || got["b"].Status != 501 || fmt.Sprint(got["c"].Body) != "2" {
		t.Errorf("%d %d %v", got["a"].Status, got["b"].Status, got["c"].Body)
	}
}

// A set with a validator is not written without a verdict, and there is no service without the rules.
func TestNothingPassesAValidator(t *testing.T) {
	t.Parallel()
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{
		Name: "Notes", Rows: []note{{ID: 1, Text: "one"}}, Write: &memory.Write{Create: true, Validator: "rules"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := odata.New(source.Model(), source, odata.Options{}); err == nil || !strings.Contains(err.Error(), `"Notes" names a validator`) {
		t.Errorf("got %v", err)
	}
	s, err := odata.New(source.Model(), source, odata.Options{
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true}, nil
		},
		Validate: func(context.Context, odata.Caller, []odata.Proposal) (odata.Verdict, error) {
			return odata.Verdict{}, errors.New("no verdict")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/Notes", strings.NewReader(`{"text":"two"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code < 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Without a block for writing, or with a source that only reads, answers are what they were.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "Notes", Rows: []note{{ID: 1, Text: "one"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	writable := notes(t, &flaky{}, nil)
	s, err := odata.New(source.Model(), source, odata.Options{Root: "/odata/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"Notes", "Notes(1)", "Nope", ""} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE"} {
			w := request(s, method, target, `{}`)
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
			}
		}
	}
	if w := request(s, "GET", "Notes(1)", ""); strings.Contains(w.Body.String(), "etag") {
		t.Errorf("an entity that nobody writes has a tag: %s", w.Body)
	}
	if w := request(writable, "TRACE", "Notes(1)", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("TRACE: %d", w.Code)
	}
}

// A hundred people change one row by If-Match: each change that was answered as done was made on the state that its author
// knew.
func TestRacingChanges(t *testing.T) {
	t.Parallel()
	h := notes(t, &flaky{}, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 100 {
		wg.Go(func() {
			for {
				w := request(h, "GET", "Notes(1)", "")
				text := w.Body.String()
				old := text[strings.Index(text, `"text":"`)+8:]
				old = old[:strings.IndexByte(old, '"')]
				mark := fmt.Sprintf("%s,%d", old, i)
				p := request(h, "PATCH", "Notes(1)", `{"text":"`+mark+`"}`, "If-Match", w.Header().Get("ETag"))
				switch p.Code {
				case http.StatusOK:
					mu.Lock()
					done++
					mu.Unlock()
					return
				case http.StatusPreconditionFailed:
				default:
					t.Errorf("%d %s", p.Code, p.Body)
					return
				}
			}
		})
	}
	wg.Wait()
	text := request(h, "GET", "Notes(1)/text/$value", "").Body.String()
	if n := strings.Count(text, ","); n != 100 || done != 100 {
		t.Errorf("%d changes were answered as done, %d are there: %s", done, n, text)
	}
}

// A change set that fails names nothing for the rest of the batch: the key that it was given is that of another row by then.
func TestReferencesToWhatWasUndone(t *testing.T) {
	t.Parallel()
	s := notes(t, &flaky{}, nil)
	part := func(id, method, target, more, body string) string {
		if id != "" {
			id = "Content-ID: " + id + "\r\n"
		}
		return "Content-Type: application/http\r\n" + id + "\r\n" + method + " " + target + " HTTP/1.1\r\nContent-Type: application/json\r\n" + more + "\r\n" + body + "\r\n"
	}
	set := func(parts ...string) string {
		return "Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n" + strings.Join(parts, "--c\r\n") + "--c--\r\n"
	}
	body := multipartBody(
		set(part("1", "POST", "Notes", "", `{"text":"two"}`), part("", "POST", "Notes", "", `{"text":"one"}`)),
		"GET Notes/$count",
		set(part("3", "POST", "Notes", "", `{"text":"three"}`)),
		set(part("4", "DELETE", "$1", "If-Match: *\r\n", "")),
	)
	got := statuses(postBatch(t, s, body, "Prefer", "continue-on-error"))
	if diff := cmp.Diff([]int{409, 200, 201, 400}, got); diff != "" {
		t.Error(diff)
	}
	if w := request(s, "GET", "Notes/$count", ""); w.Body.String() != "2" {
		t.Errorf("%s notes are there", w.Body)
	}
}

// A panic in the middle of a change leaves no transaction open.
func TestPanicsLeaveNoTransaction(t *testing.T) {
	t.Parallel()
	f := &flaky{apply: func(int) error { panic("a bug") }}
	s := notes(t, f, nil)
	func() {
		defer func() { _ = recover() }()
		request(s, "POST", "Notes", `{"text":"two"}`)
	}()
	if f.begun.Load() != 1 || f.open.Load() != 0 {
		t.Errorf("%d transactions were begun, %d are open", f.begun.Load(), f.open.Load())
	}
}

type team struct {
	ID    int `odata:"id"`
	Owner int `odata:"owner,hide"`
}

type job struct {
	ID    int  `odata:"id"`
	Team  *int `odata:"team"`
	Owner int  `odata:"owner,hide"`
}

// A foreign key with a hidden part names a row that the caller may read, like any other.
func TestForeignKeysWithHiddenParts(t *testing.T) {
	t.Parallel()
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{
		{Name: "Teams", Rows: []team{{1, 7}, {2, 7}}, Filter: "id ne 2"},
		{
			Name: "Jobs", Rows: []job{{1, nil, 7}}, Write: &memory.Write{Update: true},
			Navigations: []memory.Navigation{{Name: "its_team", To: "Teams", On: map[string]string{"team": "id", "owner": "owner"}, Foreign: true}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := odata.New(source.Model(), source, odata.Options{Root: "/odata/", Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		return odata.Caller{SignedIn: true, Settled: true}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var hidden string
	for _, tt := range []struct {
		team   string
		status int
	}{{"2", 409}, {"3", 409}, {"1", 200}, {"null", 200}} {
		w := request(s, "PATCH", "Jobs(1)", `{"team":`+tt.team+`}`, "If-Match", "*")
		if w.Code != tt.status || strings.Contains(w.Body.String(), "owner") {
			t.Errorf("%s: %d %s", tt.team, w.Code, w.Body)
		}
		body, _, _ := strings.Cut(w.Body.String(), "innererror")
		if hidden == "" {
			hidden = body
		}
		if tt.status == 409 && body != hidden {
			t.Errorf("no row is answered by %s, a row of somebody else by %s", body, hidden)
		}
	}
}

// A page behind a row whose sort value is too long for its link is found in a transaction, too, and there as the transaction sees it.
func TestLongKeyLinksInAGroup(t *testing.T) {
	t.Parallel()
	h := notes(t, &flaky{}, func(o *odata.Options) { o.KeyLinks = true })
	long := strings.Repeat("x", 20_000)
	for _, end := range []string{"a", "b", "c"} {
		if w := request(h, "POST", "Notes", `{"text":"`+long+end+`"}`); w.Code != http.StatusCreated {
			t.Fatal(w.Body)
		}
	}
	const query = "Notes?$orderby=text&$select=id&$filter=startswith(text,'x')"
	next := func(body string) string {
		_, link, _ := strings.Cut(body, `"@odata.nextLink":"http://h/odata/`)
		link, _, _ = strings.Cut(link, `"`)
		return link
	}
	first := request(h, "GET", strings.ReplaceAll(query, " ", "%20"), "", "Prefer", "maxpagesize=1").Body.String()
	group := func(change string) string {
		return request(h, "POST", "$batch", `{"requests":[
			{"id":"a","atomicityGroup":"g","method":"patch","url":"Notes(1)","headers":{"if-match":"*","prefer":"return=minimal"},"body":{"blob":"AA"}},
			{"id":"b","atomicityGroup":"g","method":"patch","url":"Notes(2)","headers":{"if-match":"*","prefer":"return=minimal"},"body":`+change+`},
			{"id":"c","atomicityGroup":"g","method":"get","url":"`+next(first)+`","headers":{"prefer":"maxpagesize=1"}}]}`).Body.String()
	}
	if !strings.Contains(next(first), "$skiptoken=") || !strings.Contains(first, `"id":2`) {
		t.Fatal(first)
	}
	if got := group(`{"blob":"AA"}`); !strings.Contains(got, `"id":3`) || strings.Contains(got, `"id":2}`) {
		t.Errorf("the page behind the row 2 is %s", got)
	}
	if got := group(`{"text":"short"}`); !strings.Contains(got, "has changed or is gone") {
		t.Errorf("the page behind a row that the group has changed is %s", got)
	}
}
