package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
)

// foreign are the programs that the documentation's commands call and that no test can:
// they need a network, a service manager, or a cluster. What is asked of them is kept,
// and each must be asked for something.
func foreign() map[string]string {
	return map[string]string{
		"git":       "clones what is published, from the network",
		"minisign":  "verifies what somebody else has signed",
		"systemctl": "speaks with systemd, which must have started the machine",
		"kubectl":   "speaks with a cluster",
	}
}

// Each command of the documentation does what it is shown for: those of a page run one
// after the other, in a folder with the demo, whose host answers in the place of
// 127.0.0.1:8080 and https://app.example.com. `make` is asked for its plan, and not more.
func TestPagesCommand(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "make", "openssl", "sqlite3"} {
		if _, err := exec.LookPath(program); err != nil {
			missingFor(t, "REQUIRE_TUTORIAL", "no "+program)
		}
	}
	dir := t.TempDir()
	link(t, buildPlugins(t), filepath.Join(dir, "bin"))
	link(t, filepath.Join(root, "examples"), filepath.Join(dir, "examples"))
	copyShop(t, dir)
	configuration, err := os.ReadFile(filepath.Join(root, "config.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "config.hcl", string(configuration))
	h := &helper{t: t, dir: dir, base: startHost(t, dir, "serve", "--set", "server.address=127.0.0.1:0")}
	h.tools()
	h.prepare()
	scripts := map[string]string{}
	ran := map[string]int{}
	unseen := regexp.MustCompile(`(?m)^ *(` + strings.Join(append(slices.Collect(maps.Keys(foreign())), "make"), "|") + `) .*`)
	for _, b := range readHere(t, "sh") {
		scripts[b.page] += h.script(b)
		ran[b.page] += commandsIn(unseen.ReplaceAllString(b.text, ""))
	}
	for _, page := range slices.Sorted(maps.Keys(scripts)) {
		script := `trap '[ ! -f "$TOOLS/host" ] || kill $(cat "$TOOLS/host"); rm -f "$TOOLS/host"' EXIT` + "\n" + scripts[page]
		h.people(script)
		cmd := exec.Command("sh", "-eu", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "tools")+":"+os.Getenv("PATH"), "TOOLS="+filepath.Join(dir, "tools"), "TOKEN="+h.token, "HOME="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\nof\n%s", page, err, out, script)
			continue
		}
		saysRan(t, page, ran[page])
	}
	h.scanners()
	h.policy()
	h.filters()
	asked, _ := os.ReadFile(filepath.Join(dir, "tools/asked"))
	for program, why := range foreign() {
		if !strings.Contains(string(asked), program+" ") {
			t.Errorf("no page asks %s, which %s: take it from the list", program, why)
		}
	}
	t.Logf("%d programs were not there, and took their commands unseen:\n%s", len(foreign()), asked)
}

// A helper makes what the commands of the pages need.
type helper struct {
	t                *testing.T
	dir, base, token string
}

// script is what a block says, with this machine's names in the place of others. A
// comment that gives an answer is held against what curl got, and one that begins with
// a status against that; without it curl must get 200 or 201.
func (h *helper) script(b block) string {
	text := strings.NewReplacer(
		"http://127.0.0.1:8080", h.base, "http://localhost:8080", h.base, "https://app.example.com", h.base,
		`"password":"…"`, `"password":"`+seed.Password+`"`, "/etc/vestibule/config.hcl", filepath.Join(h.dir, "config.hcl"),
	).Replace(b.text)
	text = regexp.MustCompile(`(?m)^# (\{.*\})$`).ReplaceAllString(text, `test '$1' = "$$(cat "$$TOOLS/answer")"`)
	text = regexp.MustCompile(`(?m)^(curl .* # )(\d{3}) `).ReplaceAllString(text, "WANT=$2 $1$2 ")
	text = regexp.MustCompile(`(?m)^vestibule (\w+) revoke ID$`).ReplaceAllString(text, `vestibule $1 revoke "$$(vestibule $1 list | grep -v tests | awk 'END { print $$1 }')"`)
	return fmt.Sprintf("# %s:%d\n%s\n", b.page, b.line, text)
}

// tools puts what takes the place of programs in front of them.
func (h *helper) tools() {
	tools, _ := filepath.Abs(filepath.Join(h.dir, "tools"))
	tree, err := filepath.Abs(root)
	if err == nil {
		err = os.Mkdir(tools, 0o755)
	}
	program, err2 := exec.LookPath("vestibule")
	curl, err3 := exec.LookPath("curl")
	if err != nil || err2 != nil || err3 != nil {
		h.t.Fatal(err, err2, err3)
	}
	all := map[string]string{
		"vestibule": fmt.Sprintf(`case "$1 $2" in
"serve ")
	%[1]s serve --set server.address=127.0.0.1:0 > "$TOOLS/served" 2> "$TOOLS/log" &
	echo $! > "$TOOLS/host"
	for i in $(seq 600); do ! grep -q http:// "$TOOLS/served" || exit 0; sleep 0.1; done
	cat "$TOOLS/log"; exit 1 ;;
"user add"|"user passwd") case " $* " in *" --invite "*) exec %[1]s "$@" ;; esac; echo %[2]s | exec %[1]s "$@" --password-stdin ;;
*) exec %[1]s "$@" ;;
esac`, program, seed.Password),
		"curl": fmt.Sprintf(`%s --silent --show-error --write-out '%%{stderr}%%{http_code}' "$@" > "$TOOLS/answer" 2> "$TOOLS/status"
cat "$TOOLS/answer"
! grep -q '"value":\[\]' "$TOOLS/answer" || { echo "no rows"; exit 1; }
grep -qE "^${WANT:-20[01]}$" "$TOOLS/status" || { cat "$TOOLS/status"; exit 1; }`, curl),
		"make": fmt.Sprintf(`exec env -u MAKEFLAGS -u MAKELEVEL PATH="%s" make --no-print-directory --dry-run --directory %s "$@" > /dev/null`, os.Getenv("PATH"), tree),
		"sudo": `test "$1" = -u; shift 2; exec "$@"`,
	}
	for name := range foreign() {
		all[name] = `echo ` + name + ` "$@" >> "$TOOLS/asked"` + "\n" + `[ "$1" != clone ] || mkdir -p "${2##*/}"`
	}
	for name, text := range all {
		h.check(os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
}

// prepare makes the files that pages speak of as already there, and two sessions.
func (h *helper) prepare() {
	h.run("sha256sum config.hcl > SHA256SUMS; cp shop.db app.db; sqlite3 app.db 'ALTER TABLE users DROP COLUMN partner_id; ALTER TABLE users DROP COLUMN terms_version'")
	body := fmt.Sprintf(`{"login":%q,"password":%q}`, seed.Email, seed.Password)
	for range 2 {
		resp, err := http.Post(h.base+"/auth/login", "application/json", strings.NewReader(body))
		h.check(err)
		h.check(resp.Body.Close())
	}
}

// people makes Ada, with a token, unless the page does that.
func (h *helper) people(script string) {
	h.t.Helper()
	change(h.t, filepath.Join(h.dir, "shop.db"), "DELETE FROM users WHERE email = 'ada@example.com'; DELETE FROM vestibule_disabled_users")
	if strings.Contains(script, "vestibule user add ") {
		return
	}
	h.run("echo " + seed.Password + " | vestibule user add --email ada@example.com --name Ada --password-stdin")
	change(h.t, filepath.Join(h.dir, "shop.db"), "UPDATE users SET partner_id = 7, terms_version = '2026-11' WHERE email = 'ada@example.com'")
	if strings.Contains(script, "$TOKEN") {
		h.token = strings.TrimSpace(h.run("vestibule token add --email ada@example.com --name tests 2> /dev/null"))
	}
}

func (h *helper) run(command string) string {
	h.t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = h.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

func (h *helper) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}
