package cluster

import (
	"context"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// guardian ends whatever runs in a folder once the test is over, however it ends, and
// removes the folder.
const guardian = `
dir=$1
cat <&3 > /dev/null
for round in 1 2 3; do
	for p in /proc/[0-9]*; do
		case "$(readlink "$p/cwd")" in "$dir"|"$dir"/*) [ "${p#/proc/}" = $$ ] || kill -s KILL "${p#/proc/}" ;; esac
	done
	sleep 0.3
done 2> /dev/null
cd /
umount "$dir"/*/disk 2> /dev/null
rm -rf "$dir"
`

// A scene is a folder in which all programs of a test run, each in a folder of its own.
// What runs where is told by the working directory, which all children of a program
// share.
type scene struct{ dir string }

func newScene(t *testing.T) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "vcl") // short, because of unix sockets
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", guardian, "guardian", dir)
	cmd.Dir, cmd.ExtraFiles = "/", []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() {
		_ = w.Close()
		_ = cmd.Wait()
	})
	return &scene{dir: dir}
}

// A program runs in the scene under a name, with an account of its own where the test
// runs as root.
type program struct {
	dir, account string
	env          []string
	args         []string
}

// folder makes the folder of a program.
func (s *scene) folder(t *testing.T, name, account string) string {
	t.Helper()
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	own(t, dir, account)
	return dir
}

// own gives a file to an account.
func own(t *testing.T, path, account string) {
	t.Helper()
	if c := credential(t, account); c != nil {
		if err := os.Chown(path, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// write writes a file that the account owns.
func write(t *testing.T, path, text, account string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own(t, path, account)
}

// credential is nil unless the test runs as root, whom servers refuse.
func credential(t *testing.T, account string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 || account == "" {
		return nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// start runs the program in the background; its output goes to the file log.
func (p program) start(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := p.command(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }()
	return cmd
}

// run runs the program to its end.
func (p program) run(t *testing.T) {
	t.Helper()
	if err := p.command(t).Run(); err != nil {
		t.Fatalf("%s: %v\n%s", p.args[0], err, p.log())
	}
}

func (p program) command(t *testing.T) *exec.Cmd {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin", "HOME=" + p.dir, "LC_ALL=C.UTF-8", "TZ=UTC"}, p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential(t, p.account)}
	return cmd
}

// log is the end of what the program has written.
func (p program) log() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return string(text[max(0, len(text)-3000):])
}

// signal sends a signal to all that runs in a folder, and returns how many these are.
func signal(dir string, s syscall.Signal) int {
	found, _ := filepath.Glob("/proc/[0-9]*")
	n := 0
	for _, p := range found {
		cwd, err := os.Readlink(filepath.Join(p, "cwd"))
		if err != nil || cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(p)); err == nil && syscall.Kill(pid, s) == nil && s != 0 || err == nil && s == 0 {
			n++
		}
	}
	return n
}

// kill ends all that runs in a folder at once.
func kill(dir string) {
	for signal(dir, syscall.SIGKILL) > 0 {
		time.Sleep(20 * time.Millisecond)
	}
}

// unused returns a loopback address that nobody listens on.
func unused(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// within calls f until it returns nil, and gives up after so long.
func within(t *testing.T, limit time.Duration, what string, f func() error) {
	t.Helper()
	err := f()
	for end := time.Now().Add(limit); err != nil && time.Now().Before(end); err = f() {
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("%s: not within %v: %v", what, limit, err)
	}
}

// find returns where a program is.
func find(t *testing.T, name string, patterns ...string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil && len(patterns) == 0 {
		return path
	}
	for _, p := range append(patterns, "/usr/sbin/"+name) {
		if found, _ := filepath.Glob(p); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Fatalf("no %s: `make -C internal cluster` needs it", name)
	return ""
}
