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
)

// guardScript reads process groups from its standard input, which ends when the
// host does, however that ends. Then it kills the groups and every process that
// carries their mark, and removes the directory.
const guardScript = `
trap '' INT TERM HUP
dir=$1 key=$2 groups=
while read -r op id mark; do
	case $op in
	add) groups="$groups $id:$mark" ;;
	del)
		left=
		for g in $groups; do [ "$g" = "$id:$mark" ] || left="$left $g"; done
		groups=$left
		;;
	esac
done
for g in $groups; do
	kill -9 "-${g%%:*}" 2>/dev/null
	for e in $(grep -ls "$key=${g#*:}" /proc/[0-9]*/environ 2>/dev/null); do
		p=${e#/proc/}
		kill -9 "${p%/environ}" 2>/dev/null
	done
done
rm -rf -- "$dir"
`

// A guard is a process that outlives the host for a moment, to end the plugins
// and remove the files of a host that was killed. A plugin that uses our SDK
// ends by itself then, but one that is frozen does not. The guard is a shell
// script, so that it needs no further program; where there is no shell, there
// is no guard.
type guard struct {
	dir string

	mu     sync.Mutex
	groups map[int]string // the marks of process groups that are alive
	in     io.WriteCloser
	pid    int
	exited chan struct{}
}

// add tells the guard of a process group. It starts the guard the first time, and
// again after it was killed.
func (g *guard) add(pgid int, instance string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[int]string{}
	}
	g.groups[pgid] = instance
	if g.in != nil && g.tell("add", pgid, instance) == nil {
		return nil
	}
	if err := g.start(); err != nil {
		return fmt.Errorf("start the process that ends plugins when this host is killed: %w", err)
	}
	for id, mark := range g.groups {
		if err := g.tell("add", id, mark); err != nil {
			return err
		}
	}
	return nil
}

// remove tells the guard that a process group has ended.
func (g *guard) remove(pgid int, instance string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, pgid)
	if g.in != nil {
		_ = g.tell("del", pgid, instance) // a guard that is gone needs not know
	}
}

func (g *guard) tell(op string, pgid int, instance string) error {
	_, err := fmt.Fprintf(g.in, "%s %d %s\n", op, pgid, instance)
	return err
}

func (g *guard) start() error {
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
		_ = cmd.Wait() // how it ended does not matter
		close(exited)
	}()
	return nil
}

// stop ends the guard, which removes the directory, and removes it if there was
// no guard.
func (g *guard) stop() error {
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
