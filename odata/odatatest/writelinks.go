package odatatest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// linker changes links of a subject as a person.
type linker struct {
	source odata.Writable
	binder *bind.Binder
	as     odata.Caller
}

func newLinker(t testing.TB, s Subject, as string) linker {
	t.Helper()
	source, ok := s.Source.(odata.Writable)
	if !ok {
		t.Fatalf("%T does not write", s.Source)
	}
	binder, err := bind.New(s.Model)
	if err != nil {
		t.Fatal(err)
	}
	return linker{source, binder, caller(as)}
}

func (l linker) resource(t testing.TB, target string) *bind.Resource {
	t.Helper()
	req, err := syntax.Parse(target, syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.binder.Resource(req, bind.Options{Caller: l.as})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// change makes the change of "link Teams('1')/badges Badges('gold')", or of "unlink" with the same.
func (l linker) change(t testing.TB, request string) *write.Change {
	t.Helper()
	words := strings.Fields(request)
	path, name := words[1][:strings.LastIndexByte(words[1], '/')], words[1][strings.LastIndexByte(words[1], '/')+1:]
	c := &write.Change{Kind: write.Link}
	if words[0] == "unlink" {
		c.Kind = write.Unlink
	}
	own, err := l.resource(t, path).Delete(bind.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.resource(t, words[2]).Delete(bind.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.Set, c.Key, c.Before = own.Main.Change.Set, own.Main.Change.Key, own.Main.Change.Before
	c.Nav, c.Other, c.After = c.Set.Type.Nav(name), other.Main.Change.Key, other.Main.Change.Before
	if c.Nav == nil || !c.Nav.Linkable {
		t.Fatalf("%s has no links to write", words[1])
	}
	return c
}

// once makes changes in one transaction, and returns what refuses one of them, or what fails.
func (l linker) once(changes ...*write.Change) (err error) {
	tx, err := l.source.Begin(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	for _, c := range changes {
		if rows, _, err := tx.Apply([]*write.Change{c}); err != nil || rows != nil {
			return err
		}
	}
	return tx.Commit()
}

// made is once, again and again while the database undoes it for another one.
func (l linker) made(changes ...*write.Change) string {
	err := error(nil)
	for range 100 {
		var r *write.Refusal
		if err = l.once(changes...); !errors.As(err, &r) || r.Kind != write.Conflict {
			break
		}
	}
	return outcome(err)
}

func outcome(err error) string {
	var r *write.Refusal
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &r):
		return "fault: " + err.Error()
	}
	out := map[write.RefusalKind]string{write.RowNotFound: "404", write.RowNotAllowed: "403", write.DeadLink: "dead", write.Referenced: "referenced", write.Duplicate: "duplicate"}[r.Kind]
	if out == "" {
		out = r.Error()
	}
	for _, nav := range r.Links {
		out += " " + nav.Name
	}
	return out
}

// RunLinks checks that links over tables in between are written. fresh is as in RunWrites.
func RunLinks(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	t.Run("one by one", func(t *testing.T) { linkSteps(t, fresh(t)) })
	t.Run("in a transaction", func(t *testing.T) { linkGroups(t, fresh(t)) })
	t.Run("at once", func(t *testing.T) { linkRaces(t, fresh(t)) })
}

func linkSteps(t *testing.T, s Subject) {
	t.Helper()
	h := handler(t, s, odata.Options{})
	for i, step := range []struct{ request, want, read, rows string }{
		{"link Teams('1')/badges Badges('gold')", "", "Teams('1')/badges?$select=code", `[{"code":"gold"},{"code":"lead"}]`},
		{"link Teams('1')/badges Badges('gold')", "", "Badges('gold')/teams?$select=id", `[{"id":"1"}]`},
		{"link Badges('gold')/teams Teams('2')", "", "Teams('2')/badges?$select=code", `[{"code":"gold"}]`},
		{"link Teams('2')/badges Badges('gold')", "", "Badges('gold')/teams?$select=id", `[{"id":"1"},{"id":"2"}]`},
		{"unlink Badges('gold')/teams Teams('1')", "", "Teams('1')/badges?$select=code", `[{"code":"lead"}]`},
		{"unlink Badges('gold')/teams Teams('1')", "404 teams", "", ""},
		{"unlink Teams('3')/badges Badges('gold')", "404 badges", "", ""},
		{"link Teams('9')/badges Badges('gold')", "404", "", ""},
		{"unlink Teams('9')/badges Badges('gold')", "404", "", ""},
		{"link Teams('1')/badges Badges('none')", "dead badges", "", ""},
		{"link Teams('1')/badges Badges('bob')", "dead badges", "", ""},
		{"unlink Teams('1')/badges Badges('none')", "404 badges", "", ""},
		{"unlink Teams('1')/badges Badges('bob')", "404 badges", "", ""},
		{"link Badges('bob')/teams Teams('1')", "404", "", ""},
		{"unlink Badges('bob')/teams Teams('1')", "404", "", ""},
		{"link Teams('2')/badges Badges('lead')", "403", "Teams('2')/badges?$select=code", `[{"code":"gold"}]`},
		{"link Badges('lead')/teams Teams('9')", "403", "", ""},
		{"link Teams('1')/badges Badges('lead')", "403", "", ""},
		{"unlink Teams('1')/badges Badges('lead')", "403", "Teams('1')/badges?$select=code", `[{"code":"lead"}]`},
		{"unlink Teams('2')/badges Badges('lead')", "404 badges", "", ""},
		{"link Teams('1')/rivals Teams('1')", "", "Teams('1')/rivals?$select=id", `[{"id":"1"},{"id":"2"}]`},
		{"link Teams('3')/rivalOf Teams('1')", "", "Teams('1')/rivals?$select=id", `[{"id":"1"},{"id":"2"},{"id":"3"}]`},
		{"link Teams('1')/rivals Teams('2')", "", "Teams('2')/rivalOf?$select=id", `[{"id":"1"}]`},
		{"unlink Teams('2')/rivalOf Teams('1')", "", "Teams('1')/rivals?$select=id", `[{"id":"1"},{"id":"3"}]`},
		{"unlink Teams('1')/rivals Teams('2')", "404 rivals", "", ""},
		{"unlink Teams('2')/rivals Teams('1')", "404 rivals", "", ""},
		{"unlink Teams('1')/rivals Teams('1')", "", "Teams?$select=id&$filter=rivals/any()", `[{"id":"1"}]`},
	} {
		l := newLinker(t, s, "ada")
		if got := l.made(l.change(t, step.request)); got != step.want {
			t.Errorf("step %d, %s: %q, want %q", i+1, step.request, got, step.want)
		}
		if step.read != "" {
			if body := hashedTag().ReplaceAllString(get(h, escape(step.read), "ada").Body.String(), ""); !strings.HasSuffix(body, `"value":`+step.rows+"}") {
				t.Errorf("step %d, %s: %s is %s, want %s", i+1, step.request, step.read, body, step.rows)
			}
		}
	}
	if w := send(h, "DELETE", "Badges('gold')", "ada", "", anyTag()...); w.Code != 409 {
		t.Errorf("the end of a link was deleted: %d %s", w.Code, w.Body)
	}
}

// A transaction sees its own links, a link that was not there leaves it usable, and whatever is not committed is gone.
func linkGroups(t *testing.T, s Subject) {
	t.Helper()
	l := newLinker(t, s, "ada")
	there, again, gone := l.change(t, "link Teams('2')/badges Badges('gold')"), l.change(t, "link Badges('gold')/teams Teams('2')"), l.change(t, "unlink Teams('2')/badges Badges('gold')")
	tx, err := l.source.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	apply := func(c *write.Change, want string) {
		t.Helper()
		if _, _, err := tx.Apply([]*write.Change{c}); outcome(err) != want {
			t.Errorf("%s: %q, want %q", c.Kind, outcome(err), want)
		}
	}
	apply(gone, "404 badges")
	apply(there, "")
	apply(again, "")
	apply(gone, "")
	apply(gone, "404 badges")
	apply(there, "")
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
	if got := l.made(gone); got != "404 badges" {
		t.Errorf("what was not committed is there: %q", got)
	}
	if got := l.made(there, gone, there, again); got != "" {
		t.Error(got)
	}
	if got := l.made(gone); got != "" {
		t.Error(got)
	}
}

// Many add one link at once, through both ways and without a unique index: it is there once. Many remove it at once: one of them
// does.
func linkRaces(t *testing.T, s Subject) {
	t.Helper()
	l := newLinker(t, s, "ada")
	for _, ways := range [][2]string{{"Teams('2')/rivals Teams('3')", "Teams('3')/rivalOf Teams('2')"}, {"Teams('2')/badges Badges('gold')", "Badges('gold')/teams Teams('2')"}} {
		for _, round := range []struct {
			verb string
			want map[string]int
		}{{"link ", map[string]int{"": 8}}, {"unlink ", map[string]int{"": 1, "404": 7}}, {"link ", map[string]int{"": 8}}, {"unlink ", map[string]int{"": 1, "404": 7}}} {
			var all sync.WaitGroup
			outcomes := make([]string, 8)
			for i := range outcomes {
				c := l.change(t, round.verb+ways[i%2])
				all.Go(func() { outcomes[i] = l.made(c) })
			}
			all.Wait()
			got := map[string]int{}
			for _, o := range outcomes {
				kind, _, _ := strings.Cut(o, " ")
				got[kind]++
			}
			for kind, n := range round.want {
				if got[kind] != n {
					t.Errorf("%s%s: %v, want %v", round.verb, ways[0], outcomes, round.want)
				}
			}
		}
	}
}
