package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authfault "github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// Each key that a page names in code is one of docs/configuration.md, which is made from
// the schema, and a time in parentheses behind a key, or a number
// before one, is its default.
func TestPagesNameKeys(t *testing.T) {
	t.Parallel()
	known, kept := keys(t), namesInCode(document(t, "sign-in.md"), `(?m)^\| .(?:GET|POST|PATCH|DELETE)[^|]* \(\x60([a-z.]+)\x60\) \|`) // routes have such names, too
	// Of the standard and its headers, names of hosts, of files and of control groups; then fields of answers, keys of texts, columns,
	// libraries, and what browsers have for passkeys.
	others := regexp.MustCompile(`^odata\.(metadata|streaming|maxpagesize)$|\.(com|db|example|go|hcl|html|js|js\.br|js\.gz|json|mjs|mod|php|properties|proto|sql|pub|py|ts|txt|txtar|yml)$|^conf\.d$|^memory\.(max|high|limit_in_bytes)$|` +
		`^(next|next_step|innererror|common|login|onward|vestibule_[a-z]+|sap|navigator)\.|^(block\.key|password\.sign_in|rp\.id|user\.id)$`)
	for page, text := range pages(t) {
		for _, m := range regexp.MustCompile("`(?:--set )?([a-z_]+(?:\\.[a-z_]+)+)(?: = [^`]*|=[^`]*)?`(?: \\((\\d+)\\s?(s|min|h|days?|seconds?|minutes?|hours?)\\))?").FindAllStringSubmatch(text, -1) {
			name, said := m[1], m[2]
			if m[3] != "" && m[3][0] != 'd' {
				said += m[3][:1] // as Go writes it
			}
			is, ok := known[name]
			switch {
			case kept[name] || others.MatchString(name):
				continue // no key
			case !ok:
				t.Errorf("%s names the key %s, which there is not", page, name)
			case said != "":
				want, err := time.ParseDuration(strings.Trim(is, `"`))
				got, err2 := time.ParseDuration(said)
				if err != nil || err2 != nil || got != want {
					t.Errorf("%s says that %s is %s, and its default is %s", page, name, m[2]+" "+m[3], is)
				}
			}
		}
		for _, m := range regexp.MustCompile("\\b(\\d+) of `([a-z_.]+)`").FindAllStringSubmatch(text, -1) {
			if is, ok := known[m[2]]; ok && is != m[1] {
				t.Errorf("%s says that %s is %s, and its default is %s", page, m[2], m[1], is)
			}
		}
		for _, m := range regexp.MustCompile(`\bVESTIBULE_([A-Z]+(?:__[A-Z_]+?)+)\b[^_]`).FindAllStringSubmatch(text, -1) {
			name := strings.ReplaceAll(strings.ToLower(m[1]), "__", ".")
			name = regexp.MustCompile(`^(plugin|route)\.[a-z]+\.([a-z]+).*`).ReplaceAllString(name, "$1.$2")
			if _, ok := known[name]; !ok && name != "block.key" {
				t.Errorf("%s names the variable %s, which sets nothing", page, m[0])
			}
		}
	}
}

// The defaults in the table of docs/operations/limits.md are those of the keys, where it
// gives figures.
func TestPagesTellLimits(t *testing.T) {
	t.Parallel()
	known, compared := keys(t), 0
	for _, row := range regexp.MustCompile(`(?m)^\| (\x60[a-z_.]+\x60(?:, \x60[a-z_]+\x60)*) \| ([^|]+) \|`).FindAllStringSubmatch(document(t, "operations/limits.md"), -1) {
		names, values := strings.Split(strings.ReplaceAll(row[1], "`", ""), ", "), strings.Split(row[2], ", ")
		for i, name := range names {
			if i > 0 { // beside the first one
				name = names[0][:strings.LastIndex(names[0], ".")+1] + name
			}
			is, ok := known[name]
			switch {
			case len(values) != len(names) || !ok:
				t.Errorf("the row of %s has %d defaults, or names no key: %s", row[1], len(values), name)
			case is == "null" && values[i] != "null":
				continue // it says what the default follows
			case strings.Trim(is, `"`) != values[i]:
				t.Errorf("docs/operations/limits.md says that %s is %s, and its default is %s", name, values[i], is)
			default:
				compared++
			}
		}
	}
	if compared < 10 {
		t.Errorf("compared %d defaults, want more", compared)
	}
}

// keys are those of docs/configuration.md, with their defaults; blocks have "block".
func keys(t *testing.T) map[string]string {
	t.Helper()
	known, block := map[string]string{}, ""
	for line := range strings.Lines(document(t, "configuration.md")) {
		if m := regexp.MustCompile("^### `([a-z_.]+)").FindStringSubmatch(line); m != nil {
			block = m[1]
			known[block] = "block"
		}
		if m := regexp.MustCompile("^\\| `([a-z_0-9]+)` \\| [^`|]*(?:`(.*?)`)? ?\\|").FindStringSubmatch(line); m != nil && block != "" {
			known[block+"."+m[1]] = m[2]
		}
	}
	if len(known) < 150 {
		t.Fatalf("found %d keys, want more", len(known))
	}
	return known
}

// Each code of a fault has its place in a table of the page for it, and those tables have
// no others.
func TestPagesTellCodes(t *testing.T) {
	t.Parallel()
	whole := literals(t, "host/auth", `= +"([a-z_]+)"$`, "fault/fault.go")
	signIn := literals(t, "host/auth", `= +"([a-z_]+)"$`, "fault/fault.go", "password/policy.go")
	maps.Copy(signIn, literals(t, "host/auth", `return "(password_[a-z_]+)"|(?:fault\.Invalid|v\.fault|invalidBecause)\([^,]+, "([a-z_]+)"|Code: "([a-z_]+)"`))
	query := literals(t, "odata", `code: "([a-z_]+)"|badRequest\("([a-z_]+)"|http\.Status\w+, "([a-z_]+)"|code\w+ = "([a-z_]+)"|^\tCode\w+ += "([a-z_]+)"`)
	for _, c := range []struct {
		page  string
		codes map[string]bool
		least int
		own   []string // fields, which stand in the same column
	}{
		{"sign-in.md", signIn, 30, []string{"login", "redirect", "password", "credential", "identity", "name", "expires_in", "path", "method"}},
		{"odata-reference.md", query, 18, nil},
	} {
		told := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^\| (\d{3}(?:, \d{3})*) \| ([^|]*(?:\\\|[^|]*)*) \|`).FindAllStringSubmatch(document(t, c.page), -1) {
			for _, code := range regexp.MustCompile("`([a-z_]+)").FindAllStringSubmatch(m[2], -1) {
				told[code[1]] = true
				if status := statusOf(code[1], whole); c.page != "odata-reference.md" && !slices.Contains(c.own, code[1]) && !regexp.MustCompile(status).MatchString(m[1]) {
					t.Errorf("docs/%s gives %s the status %s, and it has %s", c.page, code[1], m[1], status)
				}
				if !c.codes[code[1]] && !slices.Contains(c.own, code[1]) && code[1] != "auth_throttle" {
					t.Errorf("docs/%s tells of the code %s, which nothing sends", c.page, code[1])
				}
			}
		}
		if len(c.codes) < c.least {
			t.Errorf("found %d codes for docs/%s, want more: %v", len(c.codes), c.page, slices.Sorted(maps.Keys(c.codes)))
		}
		for code := range c.codes {
			if !told[code] {
				t.Errorf("docs/%s does not tell of the code %s", c.page, code)
			}
		}
	}
}

// statusOf is the status of a code, as an expression: that of a whole request, or of a field.
func statusOf(code string, whole map[string]bool) string {
	switch {
	case code == authfault.Busy:
		return "429|503"
	case code == "auth_throttle":
		return "429"
	case code == "email": // also the name of a field, which may be throttled
		return "422|429"
	case whole[code]:
		return strconv.Itoa((&authfault.Fault{Code: code}).Status())
	}
	return "422"
}

// literals finds the groups of an expression in the sources below a folder, or in those
// named.
func literals(t *testing.T, folder, expression string, only ...string) map[string]bool {
	t.Helper()
	found, pattern := map[string]bool{}, regexp.MustCompile(`(?m)`+expression)
	err := fs.WalkDir(os.DirFS(filepath.Join(root, folder)), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || len(only) > 0 && !slices.Contains(only, name) {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, folder, name))
		for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
			found[strings.Join(m[1:], "")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// namesInCode are what an expression finds on a page.
func namesInCode(text, expression string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// A name that begins with vestibule_ is on any page that of a metric, which the page of
// metrics tells of, a table, a cookie, or a file of a release.
func TestPagesNameMetrics(t *testing.T) {
	t.Parallel()
	const name = "`(vestibule_[a-z_]+)"
	known := namesInCode(document(t, "operations/metrics.md"), `\b(vestibule_[a-z_]+)`)
	maps.Copy(known, namesInCode(document(t, "sign-in.md"), "(?m)^\\| "+name))
	maps.Copy(known, namesInCode(document(t, "operations/counted-changes.sql"), `CREATE TABLE public\.(vestibule_[a-z_]+)`)) // of the operator
	files, err := filepath.Glob("../../store/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	files = append(files, "../../../odata/sqlsource/sqltext/requests.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(known, namesInCode(string(text), `CREATE TABLE (?:IF NOT EXISTS )?(vestibule_[a-z_]+)`))
	}
	for page, text := range pages(t) {
		for m := range namesInCode(text, name) {
			if family := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(m, ""); m != "vestibule_" && !known[m] && !known[family] {
				t.Errorf("%s names %s, which is no metric, no table and no cookie", page, m)
			}
		}
	}
}
