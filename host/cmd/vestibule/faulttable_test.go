package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
)

// TestFaultTable brings each fault of a plugin about, in the real command with its
// defaults, while somebody signs in, and prints what they saw, when sign-in worked again,
// and what the operator reads. In the end no process and no file may be left. Times are
// printed and not judged. FAULTS=all adds those that take the host longer than a few
// seconds to notice, and takes one after the other, so that the times mean something.
func TestFaultTable(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are looked for in /proc")
	}
	rows, atOnce := append(faults(), writeFaults()...), make(chan struct{}, 1)
	if os.Getenv("FAULTS") != "all" {
		rows = slices.DeleteFunc(rows, func(f fault) bool { return f.long })
		atOnce = make(chan struct{}, 6) // most of the time is spent waiting
	}
	kit := newFaultKit(t, rows)
	results := make([]string, len(rows))
	var all sync.WaitGroup
	for i, row := range rows {
		atOnce <- struct{}{}
		all.Go(func() {
			defer func() { <-atOnce }()
			t.Run(row.name, func(t *testing.T) { results[i] = row.run(newFaultHost(t, kit, row)) })
		})
	}
	all.Wait()
	t.Logf("\n| The plugin | Who signs in then sees | After | Sign-in works again after | The log says |\n|---|---|---|---|---|\n%s", strings.Join(results, "\n"))
}

// A fault is a row of the table.
type fault struct {
	name    string
	start   string                  // how the plugin starts; by default as the file told says, "ok" at first
	through string                  // what starts the program, in place of the host
	keys    func(*faultHost) string // more of its block
	do      func(*faultHost)        // brings it about, unless the sign-in does
	who     string                  // signs in then; names the way of the call
	people  int                     // who sign in at the same time; 1 by default
	sees    string
	says    string           // a regular expression for a line of the log
	mend    func(*faultHost) // what the operator does
	long    bool
	writes  bool // the plugin is a validator, and who signs in changes a row
}

// does acts at the host as somebody does.
func (f fault) does(h *faultHost, who string) sight {
	if f.writes {
		return h.change(who)
	}
	return h.signIn(who)
}

func (f fault) block(h *faultHost) string {
	text := ""
	if f.keys != nil {
		text = f.keys(h)
	}
	if f.sees == "200" && os.Getenv("FAULTS") != "all" {
		text += "\n  timeout = \"30s\"" // a machine that is busy starts no process within 3 s
	}
	return text
}

// run is one row.
func (f fault) run(h *faultHost) string {
	h.serve()
	before := len(h.log.String())
	began := time.Now()
	if f.do != nil {
		f.do(h)
	}
	var worst sight
	var mu sync.Mutex
	var people sync.WaitGroup
	for range max(1, f.people) {
		people.Go(func() {
			saw := f.does(h, f.who)
			if saw.what != f.sees {
				h.Errorf("a person saw %q, want %q", saw.what, f.sees)
			}
			mu.Lock()
			defer mu.Unlock()
			if saw.wait >= worst.wait {
				worst = saw
			}
		})
	}
	people.Wait()
	if f.mend != nil {
		f.mend(h)
	}
	h.eventually("a sign-in has", func() bool { return f.does(h, "good").what == "200" })
	back := time.Since(began)
	said := ""
	h.eventually(fmt.Sprintf("a line of the log with %q has", f.says), func() bool {
		said = regexp.MustCompile(`(?m)^.*(?:` + f.says + `).*$`).FindString(h.log.String()[before:])
		return said != ""
	})
	h.eventually("only the host and one plugin have", func() bool { return len(h.processes()) == 2 })
	h.end()
	h.gone()
	return fmt.Sprintf("| %s | %s | %.1f s | %.1f s | `%s` |", f.name, worst.what, worst.wait.Seconds(), back.Seconds(), h.short(said))
}

// short is a line of the log without what differs from run to run.
func (h *faultHost) short(line string) string {
	line = regexp.MustCompile(`^\S+ \[\w+\] +\S+: (vestibule: )?| (plugin|pid|request_id|took|version|sha256)=\S+`).ReplaceAllString(line, "")
	return strings.NewReplacer(h.dir+"/", "", h.tmp+"/", "", "|", "¦").Replace(line)
}

// gone wants nothing left of a host that has ended.
func (h *faultHost) gone() {
	h.eventually("nothing lives on has", func() bool { return len(h.processes()) == 0 })
	h.eventually("no file is left has", func() bool {
		left, err := os.ReadDir(h.tmp)
		return err == nil && len(left) == 0
	})
}

// tell makes later starts of the plugin go in another way.
func tell(way string) func(*faultHost) {
	return func(h *faultHost) { h.write("told", way) }
}

// die ends the plugin, after other things.
func die(first ...func(*faultHost)) func(*faultHost) {
	return func(h *faultHost) {
		for _, do := range first {
			do(h)
		}
		h.kill("faultplugin", syscall.SIGKILL)
	}
}

// exchange has the host take another version of the plugin, and waits for what the log
// says then.
func exchange(f fault, says string) func(*faultHost) {
	return func(h *faultHost) {
		before := len(h.log.String())
		h.configure(f, "2")
		if err := h.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			h.Error(err)
		}
		h.eventually("the exchange has", func() bool { return strings.Contains(h.log.String()[before:], says) })
	}
}

// becomeZombie ends the first thread of a plugin, and then the others.
func becomeZombie(h *faultHost) {
	tell("first-thread-ends")(h)
	exchange(fault{}, "version=2")(h)
	all := regexp.MustCompile(`ready: plugin=fault pid=(\d+)`).FindAllStringSubmatch(h.log.String(), -1)
	pid, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		h.Fatal(err)
	}
	stat := filepath.Join("/proc", strconv.Itoa(pid), "stat")
	h.eventually("the plugin is a zombie has", func() bool {
		text, err := os.ReadFile(stat)
		return err == nil && strings.Contains(string(text), ") Z ")
	})
	if saw := h.signIn("good"); saw.what != "200" {
		h.Errorf("with a plugin whose first thread has ended: %v", saw)
	}
	tell("ok")(h)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		h.Error(err)
	}
	h.eventually("the zombie is gone has", func() bool { _, err := os.Stat(stat); return err != nil })
}

// signedIn is a person who signs in before.
func signedIn(who string) func(*faultHost) {
	return func(h *faultHost) {
		if saw := h.signIn(who); saw.what != "200" {
			h.Errorf("%s: %v", who, saw)
		}
	}
}

// remove removes what a pattern finds in the host's TMPDIR.
func remove(pattern string) func(*faultHost) {
	return func(h *faultHost) {
		found, err := filepath.Glob(filepath.Join(h.tmp, pattern))
		if err != nil || len(found) == 0 {
			h.Fatalf("nothing there is %s: %v", pattern, err)
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				h.Error(err)
			}
		}
	}
}

// summed puts the checksum of a file into the block, after a key.
func summed(format, file string) func(*faultHost) string {
	return func(h *faultHost) string {
		sum, err := pluginproc.Sum(filepath.Join(h.dir, file))
		if err != nil {
			h.Fatal(err)
		}
		return fmt.Sprintf(format, sum)
	}
}

// mode changes who may execute the plugin.
func mode(m os.FileMode) func(*faultHost) {
	return func(h *faultHost) {
		if err := os.Chmod(filepath.Join(h.dir, "faultplugin"), m); err != nil {
			h.Error(err)
		}
	}
}

const (
	unavailable = "503 dispenser_unavailable"
	contract    = "502 dispenser_contract"
)

// faults are the rows.
func faults() []fault {
	broken, stubborn := fault{start: "exit"}, fault{start: "ignores-stop"}
	rows := []fault{
		{name: "dies in one call", who: "once", sees: "200", says: `lost, will be started again`},
		{name: "dies in every call for a person", who: "kill", sees: unavailable, says: `the call failed`},
		{name: "dies between calls", do: die(), sees: "200", says: `lost, will be started again`},
		{name: "panics in a call", who: "panic", sees: unavailable, says: `panic: in a call`},
		{name: "deadlocks, and answers health checks", who: "hang", people: 3, sees: unavailable, says: `3 calls in a row ran out of time \(timeout = 3s\)`},
		{name: "says UNAVAILABLE in its own code", who: "says-unavailable", sees: unavailable, says: `chosen by the plugin`},
		{name: "changes what it may not", who: "ungranted", sees: contract, says: `which is not granted`},
		{name: "answers with 2 MiB", who: "oversized", sees: contract, says: `larger than 1048576 bytes`},
		{name: "answers with 100 KB of headers", who: "says-too-much", sees: unavailable, says: `more than 65536 bytes of headers and trailers, send less`},
		{name: "answers with escapes", who: "says-escapes", sees: unavailable, says: `the call failed.*red \\+u001b\[31m`},
		{name: "logs without end", start: "floods-stderr", sees: "200", says: `logs too fast`},
		{name: "loses its folder, and dies", do: die(remove("vestplug*")), sees: "200", says: `the directory of plugins was gone and is made anew`},
		{
			name: "loses the copy that runs, and dies", keys: summed("sha256 = %q", "faultplugin"), do: die(remove("vestplug*/bin*")),
			sees: "200", says: `the copy of its program was gone and is made anew`,
		},
		{
			name: "may not be executed any more, and dies", do: die(mode(0o600)), mend: mode(0o700),
			sees: unavailable, says: `chmod \+x`,
		},
		{
			name: "has a script that was exchanged, and dies", keys: summed(`checksums = { script = %q }`, "script"),
			do: die(func(h *faultHost) { h.write("script", "exchanged") }), mend: func(h *faultHost) { h.write("script", "as it was checked") },
			sees: unavailable, says: `script has the checksum`,
		},
		{name: "leaves a child that holds its pipes", do: die(signedIn("fork")), sees: "200", says: `lost, will be started again`},
		{name: "starts within 1.5 s, and dies", do: die(tell("slow")), sees: "200", says: `lost, will be started again`},
		{name: "ends at each start, and is mended", do: die(tell("exit")), mend: tell("ok"), sees: unavailable, says: `no licence found`},
		{name: "is exchanged for one that does not start", do: exchange(broken, "no licence found"), sees: "200", says: `no licence found`},
		{name: "takes no notice of being stopped, and is exchanged", start: stubborn.start, do: exchange(stubborn, "version=2"), sees: "200", says: `ready`},
		{name: "becomes a zombie, and dies", do: becomeZombie, sees: "200", says: `lost, will be started again`},
		{name: "eats memory up to a limit of prlimit", through: `"prlimit", "--data=536870912"`, who: "eats", sees: unavailable, says: `out of memory`},
		{
			name: "has its host killed, which is started again", sees: "no connection", mend: (*faultHost).serve,
			says: `a host was killed, and what it left is removed`,
			do: func(h *faultHost) {
				signedIn("fork")(h)
				_ = h.cmd.Process.Kill()
				_ = h.cmd.Wait()
				h.eventually("no plugin lives on has", func() bool { return len(h.pids("faultplugin")) == 0 })
			},
		},
		{name: "freezes between calls", long: true, do: func(h *faultHost) { h.kill("faultplugin", syscall.SIGSTOP) }, sees: unavailable, says: `does not answer health checks`},
		{name: "freezes in a call", long: true, who: "freeze", sees: unavailable, says: `does not answer health checks`},
		{name: "hangs at each start, and is mended", long: true, do: die(tell("hang")), mend: tell("ok"), sees: unavailable, says: `not ready in time`},
		{name: "listens and never answers, and is mended", long: true, do: die(tell("silent-socket")), mend: tell("ok"), sees: unavailable, says: `cannot be started again.*no connection to the socket`},
		{
			name: "ends at each start for a minute, and is mended", long: true, sees: unavailable, says: `cannot be started again`, mend: tell("ok"),
			do: func(h *faultHost) { die(tell("exit"))(h); time.Sleep(time.Minute) },
		},
	}
	for i := range rows {
		rows[i].who = cmp.Or(rows[i].who, "good")
	}
	return rows
}
