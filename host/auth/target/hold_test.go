package target_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
)

func TestCheckHold(t *testing.T) {
	const here = "https://app.example.com"
	many := strings.Split(strings.Repeat("/a ", 17), " ")
	for name, tt := range map[string]struct {
		target   string
		prefixes []string
		want     string // part of the error; empty for none
	}{
		"a path":                   {"/terms", nil, ""},
		"a path with a query":      {"/terms/accept?version=2#read", []string{"/assets", "/a.b/c%20d/", "/odata", "/odata/"}, ""},
		"an address of our own":    {"https://APP.example.com/terms", nil, ""},
		"sixteen prefixes":         {"/terms", many[:16], ""},
		"a name that only begins":  {"/authors", nil, ""},
		"another origin":           {"https://crm.example.com/terms", nil, "must stay on this origin"},
		"another scheme":           {"http://app.example.com/terms", nil, "must stay on this origin"},
		"the whole site":           {"/", nil, "opens the whole site"},
		"the site without a path":  {"https://app.example.com", nil, "opens the whole site"},
		"the site with a query":    {"/?terms", nil, "opens the whole site"},
		"the sign-in":              {"/login?again", nil, "at or below /login"},
		"the sign-out":             {"/logout", nil, "at or below /logout"},
		"an endpoint":              {"/auth/bootstrap", nil, "at or below /auth"},
		"the query endpoint":       {"/odata/Products", nil, "at or below /odata"},
		"dot segments":             {"/terms/../dashboard", nil, "dot segments"},
		"encoded dot segments":     {"/terms/%2e%2E/dashboard", nil, "dot segments"},
		"an encoded slash":         {"/terms%2Fx", nil, "encoded slash"},
		"a percent sign":           {"/terms%252Fx", nil, "encoded slash"},
		"a parameter":              {"/terms;v=1", nil, "semicolon"},
		"seventeen prefixes":       {"/terms", many[:17], "16 are allowed"},
		"a prefix that is all":     {"/terms", []string{"/"}, "opens the whole site"},
		"a prefix of slashes":      {"/terms", []string{"//"}, "opens the whole site"},
		"an empty prefix":          {"/terms", []string{""}, "opens the whole site"},
		"a prefix that is no path": {"/terms", []string{"assets"}, "not rooted"},
		"a prefix with a host":     {"/terms", []string{"//evil.example/a"}, "empty segment"},
		"a prefix with a query":    {"/terms", []string{"/assets?x"}, "query"},
		"a prefix with dots":       {"/terms", []string{"/assets/.."}, "dot segments"},
		"a prefix, encoded slash":  {"/terms", []string{"/assets%2f.."}, "encoded slash"},
		"a prefix, backslash":      {"/terms", []string{`/assets\..`}, "backslash"},
		"a part of the endpoint":   {"/terms", []string{"/odata/Products"}, "as a whole"},
		"a long prefix":            {"/terms", []string{"/" + strings.Repeat("a", 2<<10)}, "bytes"},
	} {
		err := target.CheckHold(tt.target, here, tt.prefixes)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestOpened(t *testing.T) {
	prefixes := []string{"/assets/", "/ä%20b"}
	for path, want := range map[string]bool{
		"/terms": true, "/terms/": true, "/terms/de": true, "/assets": true, "/assets/a.css": true, "/ä b/c": true,
		"/": false, "": false, "/term": false, "/termsx": false, "/Terms": false, "/terms.html": false, "/dashboard": false, "/ä%20b": false,
		"//terms": false, "/x/terms": false, "/terms;v=1": false,
	} {
		if got := target.Within(path, target.Opened("/terms?version=2", prefixes)); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
	if !target.Within("/terms/x", target.Opened("https://app.example.com/terms", nil)) || target.Within("/", target.Opened("https://app.example.com/terms", nil)) {
		t.Error("the path of an address does not count")
	}
}
