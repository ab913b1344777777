package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	installTimeout = 2 * time.Minute
	startTimeout   = time.Minute
	pollInterval   = 20 * time.Millisecond
)

// guardian runs the server as its child and stops it when file descriptor 3,
// the pipe from the test binary, closes. The directory is the server's own.
// The file "server" holds the server's process number. While there is a file
// "again" the guardian starts a server that ended anew: the processes that a
// killed PostgreSQL leaves behind keep the next one from starting for a moment.
// The file "ended" tells the test binary that the server gave up by itself.
const guardian = `
dir=$1 signal=$2; shift 2
{ cat <&3; : >"$dir/over"; [ -e "$dir/ended" ] || kill -s "$signal" "$(cat "$dir/server")"; } >/dev/null 2>&1 & lifeline=$!
exec 3<&-
while :; do
	"$@" </dev/null & server=$!
	echo $server >"$dir/server"
	[ ! -e "$dir/over" ] || kill -s "$signal" $server
	wait $server
	[ -e "$dir/again" ] && [ ! -e "$dir/over" ] || break
	sleep 0.1
done
: >"$dir/ended"
wait $lifeline
cd /; rm -rf "$dir"
`

// server is a running server and what keeps it alive.
type server struct {
	dir      string
	lifeline *os.File // never closed by us: the kernel does it when the process ends
}

// start makes a data directory and runs a server on it until this process ends.
func start(e engine, bin []string) (*server, error) {
	cred, err := unprivileged(e.account)
	if err != nil {
		return nil, err
	}
	// Not t.TempDir: the path of a unix socket has room for about 100 bytes,
	// and the unprivileged user must be able to reach it.
	dir, err := os.MkdirTemp("/tmp", "vdb")
	if err != nil {
		return nil, err
	}
	srv, err := startIn(e, bin, dir, cred)
	if err != nil {
		err = errors.Join(err, logTail(dir))
		if srv == nil {
			_ = os.RemoveAll(dir)
		} else {
			_ = srv.lifeline.Close() // the guardian removes the directory
		}
		return nil, err
	}
	return srv, nil
}

// startIn returns a server together with an error when the guardian runs but
// the server did not answer.
func startIn(e engine, bin []string, dir string, cred *syscall.Credential) (*server, error) {
	if cred != nil {
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()

	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	if err := command(ctx, e.install(bin, dir), dir, log, cred).Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(bin[0]), err)
	}

	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	args := append([]string{"/bin/sh", "-c", guardian, "guardian", dir, e.signal}, e.serve(bin, dir)...)
	cmd := command(context.Background(), args, dir, log, cred)
	cmd.ExtraFiles = []*os.File{r} // descriptor 3
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, err
	}
	go func() { _ = cmd.Wait() }() // reaps a guardian that ended before us
	srv := &server{dir: dir, lifeline: w}
	return srv, e.wait(dir)
}

// command runs args in dir, in a process group of its own, so that a Ctrl-C at
// the terminal reaches the guardian through the pipe and in the right order.
func command(ctx context.Context, args []string, dir string, log *os.File, cred *syscall.Credential) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: cred}
	return cmd
}

// wait returns when the server answers.
func (e engine) wait(dir string) error {
	db, err := sql.Open(e.driver, e.ready(dir))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		if _, statErr := os.Stat(filepath.Join(dir, "ended")); statErr == nil {
			return errors.New("the server ended during its start")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer within %s: %w", startTimeout, err)
		case <-time.After(pollInterval):
		}
	}
}

// unprivileged returns whom to run the server as: nil, this user, unless this
// user is root, whom both servers refuse.
func unprivileged(account string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("find an unprivileged user: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// logTail returns the end of the server's log as an error, or nil.
func logTail(dir string) error {
	const most = 2000
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || len(text) == 0 {
		return nil
	}
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return errors.New(string(text))
}
