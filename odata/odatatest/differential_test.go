package odatatest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// engine is one of the four that have to agree.
type engine struct {
	name    string
	service http.Handler
	// keyed is the same with links that carry tokens.
	keyed http.Handler
}

// engines are all four over the tables of the fuzz, memory first.
func engines(t *testing.T) []engine {
	t.Helper()
	return enginesOf(t, fuzzTables(), fuzzMapping())
}

// enginesOf are all four over some tables, memory first.
func enginesOf(t *testing.T, tables []odatatest.Table, mapping sqlsource.Config) []engine {
	t.Helper()
	return preparedEngines(t, tables, mapping, func(*sqlx.DB, string) {})
}

// preparedEngines are all four over some tables, for which prepare may do more on a database.
func preparedEngines(t *testing.T, tables []odatatest.Table, mapping sqlsource.Config, prepare func(db *sqlx.DB, dialect string)) []engine {
	t.Helper()
	return enginesOver(t, subjects(t, tables, mapping, prepare))
}

// enginesOver are engines over sources.
func enginesOver(t *testing.T, sources []subject) []engine {
	t.Helper()
	var list []engine
	for _, s := range sources {
		list = append(list, engine{s.name, service(t, s.Model, s.Source), keyed(t, s.Model, s.Source)})
	}
	return list
}

// subject is the source of an engine.
type subject struct {
	name string
	odatatest.Subject
}

// subjects are those of preparedEngines.
func subjects(t *testing.T, tables []odatatest.Table, mapping sqlsource.Config, prepare func(db *sqlx.DB, dialect string)) []subject {
	t.Helper()
	reference, err := memory.New(odatatest.MemoryOf(mapping, tables))
	if err != nil {
		t.Fatal(err)
	}
	return append([]subject{{"memory", odatatest.Subject{Model: reference.Model(), Source: reference}}}, databases(t, tables, mapping, prepare)...)
}

// databases are the subjects without memory.
func databases(t *testing.T, tables []odatatest.Table, mapping sqlsource.Config, prepare func(db *sqlx.DB, dialect string)) []subject {
	t.Helper()
	var list []subject
	for _, d := range []struct{ name, driver, dsn string }{
		{"sqlite", "sqlite", filepath.Join(t.TempDir(), "fuzz.db")},
		{"postgres", "pgx", dbtest.Postgres(t)},
		{"mysql", "mysql", dbtest.MySQL(t)},
	} {
		db, err := sqlx.Open(d.driver, d.dsn)
		if err != nil {
			t.Fatal(err)
		}
		filled := db
		t.Cleanup(func() { _ = filled.Close() })
		if err := odatatest.FillTables(db, d.name, tables); err != nil {
			t.Fatal(err)
		}
		prepare(db, d.name)
		db, d.dsn = awkward(t, db, d.driver, d.dsn)
		source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: d.name, DB: db, DSN: d.dsn, Deep: 1}, mapping)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = source.Close() })
		list = append(list, subject{d.name, odatatest.Subject{Model: source.Model(), Source: source}})
	}
	return list
}

// awkward opens a database whose sessions have other settings than those of a fresh server, on which no answer may depend.
// Only extra_float_digits of PostgreSQL has to be 1 or more; package store sets it.
func awkward(t *testing.T, db *sqlx.DB, driver, dsn string) (*sqlx.DB, string) {
	t.Helper()
	switch driver {
	case "pgx":
		for _, setting := range []string{"timezone = 'America/St_Johns'", "datestyle = 'SQL, DMY'", "intervalstyle = 'postgres_verbose'", "bytea_output = 'escape'", "transform_null_equals = on"} {
			db.MustExec("DO $do$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || $set$ SET " + setting + "$set$; END $do$")
		}
	case "mysql":
		dsn += "&interpolateParams=true&parseTime=true&time_zone=%27%2B05:45%27&div_precision_increment=0&default_week_format=3&lc_time_names=de_DE&group_concat_max_len=4" +
			"&sql_mode=%27ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,TIME_ROUND_FRACTIONAL,PAD_CHAR_TO_FULL_LENGTH%27" +
			"&default_regex_flags=%27MULTILINE,EXTENDED,DOTALL%27"
	default:
		return db, dsn
	}
	again, err := sqlx.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	return again, dsn
}

func service(t *testing.T, model *odata.Model, source odata.Source) http.Handler {
	t.Helper()
	return serviceOf(t, model, source, false)
}

// keyed is a service with links that carry tokens.
func keyed(t *testing.T, model *odata.Model, source odata.Source) http.Handler {
	t.Helper()
	return serviceOf(t, model, source, true)
}

func serviceOf(t *testing.T, model *odata.Model, source odata.Source, keyed bool) http.Handler {
	t.Helper()
	s, err := odata.New(model, source, odata.Options{
		KeyLinks: keyed,
		Base:     func(*http.Request) string { return "http://h" },
		Now:      func() time.Time { return time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask gives status and body; the words of faults do not count.
func (e engine) ask(target string) string {
	answer, _ := e.page("/"+strings.NewReplacer(" ", "%20", "\\", "%5C", "\u0308", "%CC%88").Replace(target), "")
	return answer
}

// page gives status and body of an address, and where the next page is.
func (e engine) page(uri, prefer string) (answer, next string) {
	r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
	r.RequestURI = uri
	r.Header.Set("Prefer", prefer)
	w := httptest.NewRecorder()
	e.service.ServeHTTP(w, r)
	if w.Code >= http.StatusBadRequest {
		return strconv.Itoa(w.Code), ""
	}
	var body struct {
		Next string `json:"@odata.nextLink"`
	}
	_ = json.Unmarshal(w.Body.Bytes(), &body) // raw values are no JSON, and have no next page
	return fmt.Sprintf("%d %s", w.Code, w.Body), strings.TrimPrefix(body.Next, "http://h")
}

// walk gives the first pages of a request, of two rows each. From the third on databases go on behind the one before.
func (e engine) walk(target string) string {
	uri := "/" + strings.NewReplacer(" ", "%20", "\\", "%5C", "\u0308", "%CC%88").Replace(target)
	var all strings.Builder
	for range 5 {
		answer, next := e.page(uri, "odata.maxpagesize=2")
		all.WriteString(answer + "\n")
		if uri = next; next == "" {
			break
		}
	}
	return all.String()
}

// perSeed is how many requests a seed makes.
const perSeed = 50

// TestFourEnginesAgree sends random requests to all engines and compares their answers byte for byte with those of
// memory. DIFFERENTIAL_TIME, a duration, makes it run so long instead of over a few seeds, and DIFFERENTIAL_SEED is the
// seed to begin with: a difference names the one that leads to it.
func TestFourEnginesAgree(t *testing.T) {
	t.Parallel()
	all := engines(t)
	first, seeds, end := seedsOf(t, 40, 5)
	var tally tally
	for seed := first; seed < first+seeds || time.Now().Before(end); seed++ {
		g := &expressions{Rand: rand.New(rand.NewPCG(seed, 0))}
		for range perSeed {
			compare(t, all, seed, g.target(), &tally)
		}
		if tally.different > 20 {
			break
		}
	}
	t.Logf("%d requests, %d refused", tally.asked, tally.refused)
	if tally.refused > tally.asked/4 {
		t.Errorf("%d of %d requests are no requests at all", tally.refused, tally.asked)
	}
}

// seedsOf is how many seeds a test begins with, which is the first, and until when it goes on.
func seedsOf(t *testing.T, most, short uint64) (first, seeds uint64, end time.Time) {
	t.Helper()
	first, seeds = 1, most
	if text := os.Getenv("DIFFERENTIAL_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		first, end = rand.Uint64()>>32, time.Now().Add(d)
	}
	if text := os.Getenv("DIFFERENTIAL_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, seeds = n, 1
	}
	if testing.Short() {
		seeds = min(seeds, short)
	}
	return first, seeds, end
}

// TestFourEnginesAgreeOnTokens is the same for pages whose links carry tokens, and these are alike, too.
func TestFourEnginesAgreeOnTokens(t *testing.T) {
	t.Parallel()
	all := engines(t)
	for i := range all {
		all[i].service = all[i].keyed
	}
	seeds, end := uint64(12), time.Time{}
	if text := os.Getenv("DIFFERENTIAL_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		end = time.Now().Add(d)
	}
	if testing.Short() {
		seeds = 2
	}
	var tally tally
	for seed := uint64(1); (seed <= seeds || time.Now().Before(end)) && tally.different <= 20; seed++ {
		g := &expressions{Rand: rand.New(rand.NewPCG(seed, 1))}
		for range perSeed {
			target := g.target()
			for !strings.Contains(target, "$orderby") || strings.Contains(target, "$top") {
				target = g.target()
			}
			compare(t, all, seed, target, &tally)
		}
	}
	t.Logf("%d requests, %d refused", tally.asked, tally.refused)
	if tally.refused > tally.asked/4 {
		t.Errorf("%d of %d requests are no requests at all", tally.refused, tally.asked)
	}
}

// tally counts requests.
type tally struct{ asked, refused, different int }

func compare(t *testing.T, all []engine, seed uint64, target string, n *tally) {
	t.Helper()
	n.asked++
	walked := (strings.Contains(target, "$orderby") || strings.Contains(target, "$apply")) && !strings.Contains(target, "$top")
	ask := engine.ask
	if walked {
		ask = engine.walk
	}
	want := ask(all[0], target)
	if want[0] != '2' {
		n.refused++
	}
	differ := ""
	if want[0] == '5' && want[:3] != "501" {
		differ = "\n  which is no answer"
	}
	for _, e := range all[1:] {
		if got := ask(e, target); got != want {
			differ += fmt.Sprintf("\n%8s %.700s", e.name, got)
		}
	}
	if differ != "" {
		n.different++
		t.Errorf("seed %d: GET %s\n%8s %.700s%s", seed, target, all[0].name, want, differ)
	}
}
