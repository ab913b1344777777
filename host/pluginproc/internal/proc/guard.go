package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// guardScript reads process groups from its standard input, which ends when the
// host does, however that ends. Then it kills the groups and every process that
// carries their mark or tag, and removes the directory. It looks twice, because what
// it kills may be starting another process at that moment.
const guardScript = `
trap '' INT TERM HUP
dir=$1 key=$2 groups=
while IFS= read -r line; do
	op=${line%% *} what=${line#* }
	case $op in
	add) groups="$groups $what" ;;
	del)
		left=
		for g in $groups; do [ "$g" = "$what" ] || left="$left $g"; done
		groups=$left
		;;
	dir) dir=$what ;;
	esac
done
end() {
	for f in "$@"; do
		p=${f#/proc/}
		kill -9 "${p%%/*}" 2>/dev/null
	done
}
for pass in 1 2; do
	for g in $groups; do
		id=${g%%:*} marks=${g#*:}
		kill -9 "-$id" 2>/dev/null
		end $(grep -ls "$key=${marks%%:*}" /proc/[0-9]*/environ 2>/dev/null)
		[ "${marks#*:}" = 0 ] || end $(grep -ls " ${marks#*:} " /proc/[0-9]*/limits 2>/dev/null)
	done
done
rm -rf -- "$dir"
`

// A ward is a process group that the guard ends, with what left it.
type ward struct {
	pgid int
	mark string // in the environment of its processes
	tag  uint64 // see tagged; 0 is none
}

// String is how the guard's script is told of it.
func (w ward) String() string { return fmt.Sprintf("%d:%s:%d", w.pgid, w.mark, w.tag) }

// A guard is a process that outlives the host for a moment, to end the plugins
// and remove the files of a host that was killed. A plugin that uses our SDK
// ends by itself then, but one that is frozen does not. The guard is a shell
// script, so that it needs no further program; where there is no shell, there
// is no guard. It is watched itself: when something ends it, another takes its place.
type guard struct {
	log hclog.Logger

	mu      sync.Mutex
	dir     string
	wards   map[ward]bool // that are alive
	in      io.WriteCloser
	pid     int
	exited  chan struct{}
	stopped chan struct{} // closed by stop
}

func newGuard(dir string, log hclog.Logger) *guard {
	return &guard{dir: dir, log: log, wards: map[ward]bool{}, stopped: make(chan struct{})}
}

// add tells the guard of a process group. It starts the guard the first time.
func (g *guard) add(w ward) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wards[w] = true
	if g.in != nil && g.tell("add", w) == nil {
		return nil
	}
	return g.start()
}

// remove tells the guard that a process group has ended.
func (g *guard) remove(w ward) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.wards, w)
	if g.in != nil {
		_ = g.tell("del", w) // a guard that is gone needs not know
	}
}

// moveTo tells the guard of another directory to remove in place of the one before.
func (g *guard) moveTo(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dir = dir
	if g.in != nil {
		_ = g.tell("dir", dir) // its successor is told when it starts
	}
}

func (g *guard) tell(op string, what any) error {
	_, err := fmt.Fprintf(g.in, "%s %v\n", op, what)
	return err
}

// start starts the script and tells it of all wards. It is called with the lock held.
func (g *guard) start() error {
	if err := g.execute(); err != nil {
		return fmt.Errorf("start the process that ends plugins when this host is killed: %w", err)
	}
	for w := range g.wards {
		if err := g.tell("add", w); err != nil {
			return err
		}
	}
	return nil
}

func (g *guard) execute() error {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "vestibule-guard", g.dir, instanceKey)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, in.Close())
	}
	exited := make(chan struct{})
	g.in, g.pid, g.exited = in, cmd.Process.Pid, exited
	go func() {
		err := cmd.Wait()
		close(exited)
		g.replace(exited, err)
	}()
	return nil
}

// replacePause is the pause before another guard is started, so that one which cannot
// live does not keep a processor busy.
const replacePause = time.Second

// replace starts another guard in place of one that ended, unless the host is stopping
// or there is another already.
func (g *guard) replace(exited chan struct{}, reason error) {
	select {
	case <-g.stopped:
		return
	case <-time.After(replacePause):
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in == nil || g.exited != exited {
		return
	}
	g.log.Warn("the process that ends plugins when this host is killed has ended and is started again", "reason", reason)
	if err := g.start(); err != nil {
		g.log.Error("a host that is killed may leave plugins behind until the next plugin starts", "error", err)
	}
}

// stop ends the guard, which removes the directory, and removes it if there was
// no guard. It is called once.
func (g *guard) stop() error {
	close(g.stopped)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in != nil {
		_ = g.in.Close()
		select {
		case <-g.exited:
		case <-time.After(2 * time.Second):
		}
		g.in = nil
	}
	if err := os.RemoveAll(g.dir); err != nil {
		return fmt.Errorf("remove what plugins left: %w", err)
	}
	return nil
}
