package odatatest

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

// step is one request of a rule for writing, and what its answer has to be.
type step struct {
	// request is the method and the target below the service root, as in "PATCH Makers(1)".
	request string
	// as is who asks, see check; "ada" when empty, "-" for nobody.
	as   string
	body string
	// header are names and values. "$tag" is the ETag of the answer before. A body is application/json unless they say
	// otherwise.
	header []string
	status int
	// want is the whole body; "" does not compare it, "-" is an empty one. "~" is base + /odata/. Entity tags are left
	// out, but for those of a version.
	want string
	// has are parts of the body, and headers as "Name: value" with "" for one that is not there.
	has []string
	// unjudged reports that rules cannot judge the request before its group: under rules the answer is 501.
	unjudged bool
}

// rule is a sequence of requests to fresh tables.
type rule struct {
	name  string
	steps []step
}

// RunWrites checks the rules for writing. fresh makes a subject with the data of WriteTables and the model of WriteMapping,
// which nobody else writes, for each rule.
func RunWrites(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	runRules(t, fresh, map[string][]rule{
		"create": creates(), "update": updates(), "upsert": slices.Concat(upserts(), linkedUpserts()), "delete": deletes(), "properties": writtenProperties(), "tags": entityTags(), "answers": writeAnswers(),
		"access": writeAccess(), "links": writeLinks(), "bad input": badBodies(), "types": writtenTypes(), "groups": writeGroups(), "refused": writeRefused(),
		"repeats": writeRepeats(),
	})
}

// runRules checks rules, by topic.
func runRules(t *testing.T, fresh func(testing.TB) Subject, topics map[string][]rule) {
	t.Helper()
	for topic, list := range topics {
		t.Run(topic, func(t *testing.T) {
			for _, r := range list {
				t.Run(r.name, func(t *testing.T) { r.run(t, fresh(t)) })
			}
		})
	}
}

// writeTime is the time of every request of the rules.
func writeTime() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.UTC) }

func (r rule) run(t *testing.T, s Subject) {
	t.Helper()
	h := handler(t, s, odata.Options{Now: writeTime})
	last := ""
	for i, st := range r.steps {
		if st.unjudged && s.validate != nil {
			st.has = []string{"501", `"code":"not_implemented"`, "name the row by its key"}
		}
		w := st.send(h, last)
		if tag := w.Header().Get("ETag"); tag != "" {
			last = tag
		}
		st.check(t, i, w)
		if t.Failed() {
			return
		}
	}
}

func (st step) send(h http.Handler, tag string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(st.request, " ")
	as := st.as
	switch as {
	case "":
		as = "ada"
	case "-":
		as = ""
	}
	headers := []string{"Content-Type", "application/json"}
	for i := 0; i+1 < len(st.header); i += 2 {
		if st.header[i] == "Content-Type" {
			headers = headers[2:]
		}
		headers = append(headers, st.header[i], strings.ReplaceAll(st.header[i+1], "$tag", tag))
	}
	return send(h, method, escape(strings.ReplaceAll(target, "~", base+"/odata/")), as, strings.NewReplacer("$tag", strings.ReplaceAll(tag, `"`, `\"`), "~", base+"/odata/").Replace(st.body), headers...)
}

// hashedTag is an entity tag of all properties, in JSON.
func hashedTag() *regexp.Regexp {
	return regexp.MustCompile(`"@odata.etag":"W/\\"[A-Za-z0-9_-]{16}\\"",?`)
}

func (st step) check(t *testing.T, i int, w *httptest.ResponseRecorder) {
	t.Helper()
	if want := max(st.status, 200); w.Code != want {
		t.Fatalf("step %d, %s gives %d, want %d: %.700s", i+1, st.request, w.Code, want, w.Body)
	}
	body := w.Body.String()
	if w.Code >= 400 && !strings.Contains(st.request, "$batch") {
		plainFault(t, body)
	}
	got := hashedTag().ReplaceAllString(metadataTag().ReplaceAllString(body, ""), "")
	want := strings.ReplaceAll(st.want, "~", base+"/odata/")
	if want == "-" {
		want = ""
	}
	if st.want != "" && got != want {
		t.Errorf("step %d, %s\ngives %s\nwant  %s", i+1, st.request, got, want)
	}
	for _, part := range st.has {
		part = strings.ReplaceAll(part, "~", base+"/odata/")
		if name, value, ok := strings.Cut(part, ": "); ok && !strings.ContainsAny(name, `"{`) && !strings.Contains(value, "\n") {
			if got := w.Header().Get(name); got != strings.Trim(value, " ") {
				t.Errorf("step %d, %s has the header %s: %q, want %q", i+1, st.request, name, got, value)
			}
		} else if !strings.Contains(body, part) && !strings.Contains(got, part) {
			t.Errorf("step %d, %s has no %s in %s", i+1, st.request, part, body)
		}
	}
}

// any is a precondition that every state of an entity meets.
func anyTag(more ...string) []string { return append([]string{"If-Match", "*"}, more...) }
