package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"google.golang.org/grpc"
)

// A runner starts one process for go-plugin and ends it together with all that
// it started. It satisfies go-plugin's runner.Runner.
type runner struct {
	program Program
	image   *Image
	env     []string              // of the host and of go-plugin
	start   func(*exec.Cmd) error // on the launcher's thread
	out     *output

	cmd       *exec.Cmd
	socketDir string
	pid       int
	address   string   // of the plugin's socket, once it was checked
	lifeline  *os.File // the end that we hold; it ends with us
	handshake *io.PipeReader
	dead      chan struct{} // closed when the process has ended, whatever it left
	exited    chan struct{} // closed when the process and its output are done with
	silent    chan struct{} // closed when standard output has ended
	reason    error         // how the process ended; to be read after exited

	mu      sync.Mutex
	killed  bool
	refused error // what is wrong with the handshake
}

func newRunner(prog Program, im *Image, start func(*exec.Cmd) error, out *output) *runner {
	return &runner{
		program: prog, image: im, env: environment(prog), start: start, out: out,
		dead: make(chan struct{}), exited: make(chan struct{}), silent: make(chan struct{}),
	}
}

// Start starts the process in a process group of its own.
func (r *runner) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		return errors.New("the start was given up")
	}
	var pipes [3][2]*os.File // read end, write end
	for i := range pipes {
		var err error
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closeAll(pipes)
			return fmt.Errorf("make a pipe: %w", err)
		}
	}
	r.cmd = &exec.Cmd{
		Path:        r.image.path,
		Args:        r.program.Command,
		Dir:         r.program.Dir,
		Env:         r.env,
		Stdin:       pipes[0][0],
		Stdout:      pipes[1][1],
		Stderr:      pipes[2][1],
		SysProcAttr: attributes(),
	}
	if err := r.start(r.cmd); err != nil {
		closeAll(pipes)
		return explainExec(r.program.Command[0], err)
	}
	r.pid = r.cmd.Process.Pid
	r.lifeline = pipes[0][1]
	_ = errors.Join(pipes[0][0].Close(), pipes[1][1].Close(), pipes[2][1].Close())
	beFirstToGo(r.pid)
	r.watch(pipes[1][0], pipes[2][0])
	return nil
}

func closeAll(pipes [3][2]*os.File) {
	for _, p := range pipes {
		_ = errors.Join(p[0].Close(), p[1].Close()) // closing a nil file only returns an error
	}
}

// watch drains the output and waits for the end of the process.
func (r *runner) watch(stdout, stderr *os.File) {
	toClient, fromScan := io.Pipe()
	r.handshake = toClient
	found := false
	lines := &lineWriter{line: func(text string, cut bool) {
		switch {
		case found || cut || !isHandshake(text):
			r.out.stdout(text, cut)
		default:
			found = true
			r.refuse(checkHandshake(text))
			_, _ = io.WriteString(fromScan, text+"\n") // go-plugin may have given up
		}
	}}
	var drained sync.WaitGroup
	drained.Go(func() { drain(stdout, lines); close(r.silent); _ = fromScan.Close() })
	drained.Go(func() { drain(stderr, &lineWriter{line: r.out.stderr}) })
	go func() {
		r.reason = r.reap()
		// A process that left the group may still hold the other end of a pipe: give
		// it half a second, then close ours.
		cut := time.AfterFunc(500*time.Millisecond, func() { _ = errors.Join(stdout.Close(), stderr.Close()) })
		drained.Wait()
		cut.Stop()
		_ = errors.Join(stdout.Close(), stderr.Close(), r.lifeline.Close(), toClient.Close())
		r.out.end()
		close(r.exited)
	}()
}

// isHandshake tells go-plugin's line from other output: core protocol, protocol,
// network and so on, separated by bars.
func isHandshake(line string) bool {
	parts := strings.Split(line, "|")
	if len(parts) < 4 {
		return false
	}
	_, err := strconv.Atoi(parts[0])
	_, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil
}

// checkHandshake finds what go-plugin would refuse about a handshake, with an error
// that can be told from others.
func checkHandshake(line string) error {
	parts := strings.Split(line, "|")
	switch {
	case parts[0] != strconv.Itoa(plugin.CoreProtocolVersion), parts[1] != strconv.Itoa(handshake.Protocol):
		return &protocolError{core: parts[0], protocol: parts[1]}
	case len(parts) < 5 || parts[4] != string(plugin.ProtocolGRPC):
		return errNetRPC // which is what go-plugin takes a handshake without a protocol for
	}
	return nil
}

func (r *runner) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = err
	}
}

// startFailure returns why go-plugin could not connect: what is wrong with the
// handshake or the address, or else that the process ended, or that it has closed
// its standard output. err is go-plugin's own error, for anything else.
func (r *runner) startFailure(err error) error {
	r.mu.Lock()
	refused := r.refused
	r.mu.Unlock()
	if refused != nil {
		return refused
	}
	select {
	case <-r.exited:
		return errEnded
	case <-r.silent:
	default:
		return err
	}
	// Its output ends a moment before the process is known to have ended.
	select {
	case <-r.exited:
		return errEnded
	case <-time.After(time.Second):
		return errNoHandshake
	}
}

func (r *runner) killGroup() {
	_ = syscall.Kill(-r.pid, syscall.SIGKILL) // the group may be gone
}

// Kill ends the process at once. It does not wait for longer than two seconds.
func (r *runner) Kill(context.Context) error {
	r.mu.Lock()
	r.killed = true
	started := r.pid != 0
	r.mu.Unlock()
	if !started {
		return nil
	}
	select {
	case <-r.exited:
		return nil
	default:
	}
	r.killGroup()
	select {
	case <-r.exited:
		return nil
	case <-time.After(2 * time.Second):
		return fmt.Errorf("process %d does not end although it was killed", r.pid)
	}
}

// Wait waits for the end of the process.
func (r *runner) Wait(context.Context) error {
	<-r.exited
	return r.reason
}

// Stdout gives go-plugin the handshake and nothing else.
func (r *runner) Stdout() io.ReadCloser { return r.handshake }

// Stderr gives go-plugin nothing: its reader panics on lines made for it.
func (r *runner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name returns the program.
func (r *runner) Name() string { return r.program.Command[0] }

// ID returns the process id.
func (r *runner) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pid == 0 {
		return ""
	}
	return strconv.Itoa(r.pid)
}

// Diagnose returns nothing: it would only be added to errors of go-plugin,
// which this package replaces.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost checks the address that the plugin announced: only a socket in
// its own private directory is one, so that a plugin can neither make the host
// talk to something else nor pass for another plugin.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	info, err := os.Lstat(address)
	switch {
	case network != "unix":
		err = fmt.Errorf("it announced the network %q: it must listen on a unix socket", words.Clean(network, 20))
	case filepath.Dir(filepath.Clean(address)) != r.socketDir || !filepath.IsAbs(address):
		err = fmt.Errorf("it announced the address %q outside of its own directory: it must listen in PLUGIN_UNIX_SOCKET_DIR",
			words.Clean(address, 200))
	case err != nil || info.Mode().Type() != os.ModeSocket:
		err = fmt.Errorf("it announced the address %q, where no socket is: it must listen before it prints the handshake",
			words.Clean(address, 200))
	default:
		r.address = address
	}
	r.refuse(err)
	return network, address, err
}

// HostToPlugin returns the address unchanged; the host offers none to plugins.
func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// dialer connects to the checked address, and gives up with the context.
func (r *runner) dialer() grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", r.address)
	})
}

// environment is what a process sees of the host's, and what config.hcl adds.
func environment(prog Program) []string {
	var env []string
	for _, key := range []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"} {
		if value, ok := os.LookupEnv(key); ok && prog.Env[key] == "" {
			env = append(env, key+"="+value)
		}
	}
	for key, value := range prog.Env {
		env = append(env, key+"="+value)
	}
	return append(env, handshake.Lifeline+"="+handshake.LifelineStdin)
}
