package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	pluginrunner "github.com/hashicorp/go-plugin/runner"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// A Program is what to run.
type Program struct {
	// Name is what logs call the plugin.
	Name string
	// Command is the program, as an absolute path, and its arguments.
	Command []string
	// Dir is the working directory; empty means the host's.
	Dir string
	// SHA256 is the program's hexadecimal checksum; empty means unchecked.
	SHA256 string
	// Checksums are those of further files by absolute path.
	Checksums map[string]string
	// Env is added to the few variables that a plugin gets of the host's.
	Env map[string]string
}

// Options are what the processes of a launcher share. All are required.
type Options struct {
	// Logger receives what plugins log, each under a name of its own.
	Logger hclog.Logger
	// Now is the clock for log lines and uptimes.
	Now func() time.Time
	// HostVersion is told to plugins.
	HostVersion string
	// StartTimeout bounds a start, from the fork to the answer to Configure.
	StartTimeout time.Duration
	// Dropped is told of lines that were logged too fast to be kept.
	Dropped func(plugin string, lines int)
}

// A Launcher starts processes. Its methods may be called concurrently.
type Launcher struct {
	options Options
	base    string
	starts  chan func() // run on the thread that all plugins end with
	closed  chan struct{}

	mu      sync.Mutex
	folders map[string]folder // by base
}

// NewLauncher makes a private directory below base. An empty base means the system's
// temporary directory, and so does one that is too long for the path of a socket.
func NewLauncher(base string, o Options) (*Launcher, error) {
	if base == "" {
		base = os.TempDir()
	}
	if len(base) > 45 {
		base = "/tmp"
	}
	l := &Launcher{options: o, base: base, starts: make(chan func()), closed: make(chan struct{}), folders: map[string]folder{}}
	if _, err := l.home(base); err != nil {
		return nil, err
	}
	go l.work()
	if os.Getpid() == 1 {
		go reapOrphans(l.closed)
	}
	return l, nil
}

// work starts processes on a thread of its own until Close. Linux kills a plugin when the
// thread that started it ends, so that no plugin outlives the host.
func (l *Launcher) work() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for start := range l.starts {
		start()
	}
}

// start starts a command on the thread of work.
func (l *Launcher) start(cmd *exec.Cmd) error {
	done := make(chan error)
	l.starts <- func() { done <- cmd.Start() }
	return <-done
}

// home returns the private directory below base. One that is gone, as after somebody has
// cleaned up /tmp, is made anew under another name: the old one may be somebody else's by now.
func (l *Launcher) home(base string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, known := l.folders[base]
	if known && isOurs(old.path) {
		return old.path, nil
	}
	dir, err := newFolder(base, l.options.Logger)
	if err != nil {
		return "", err
	}
	if known {
		_ = old.lock.Close() // of what is gone
		l.options.Logger.Warn("the directory of plugins was gone and is made anew: keep what cleans up from it, or set server.run_dir",
			"gone", old.path, "new", dir.path)
	}
	l.folders[base] = dir
	return dir.path, nil
}

// Close removes the private directories. All processes must have been stopped.
func (l *Launcher) Close() error {
	close(l.starts)
	close(l.closed)
	var errs []error
	for _, f := range l.folders {
		errs = append(errs, f.remove())
	}
	return errors.Join(errs...)
}

// Launch starts a process and returns it once it has answered Describe and
// Configure. Its roles are those of setup, or, when there are none, all that it
// declares. When the process does not get there in time, or ctx ends, nothing is
// left of it. Mistakes in the config block are a [*pluginsdk.ConfigError].
func (l *Launcher) Launch(ctx context.Context, prog Program, im *Image, setup pluginsdk.Setup) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.StartTimeout)
	defer cancel()
	p, err := l.prepare(prog, im)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- p.connect(ctx, setup, l.options.HostVersion) }()
	select {
	case err = <-done:
		if end, ok := ctx.Deadline(); ok && err != nil && !time.Now().Before(end) {
			err = errTooSlow // the call noticed the end before this did
		}
	case <-ctx.Done():
		err = cause(ctx, p.giveUp(done))
	}
	if err == nil {
		p.Started = l.options.Now()
		return p, nil
	}
	_ = p.runner.Kill(ctx) // Stop logs it when that fails
	tail := p.runner.out.summary()
	p.Stop(time.Second)
	var config *pluginsdk.ConfigError
	if errors.As(err, &config) {
		return nil, err
	}
	return nil, withTail(err, tail)
}

// cause puts the reason for giving up a start in front of the error that it
// ended with.
func cause(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTooSlow
	}
	return errors.Join(ctx.Err(), err)
}

// prepare sets go-plugin up for one process.
func (l *Launcher) prepare(prog Program, im *Image) (*Process, error) {
	dir, err := l.home(l.base)
	if err != nil {
		return nil, err
	}
	identity, certificate, err := newIdentity()
	if err != nil {
		return nil, err
	}
	name := prog.Name
	out := newOutput(l.options.Logger.Named(name), l.options.Now, func(n int) { l.options.Dropped(name, n) })
	r := newRunner(prog, im, l.start, out)
	r.env = append(r.env, "PLUGIN_CLIENT_CERT="+certificate)
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake.Config(),
		Plugins:          pluginsdk.Plugin{}.Set(io.Discard), // it is both sides
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		TLSConfig:        identity,
		StartTimeout:     l.options.StartTimeout + time.Second, // the context ends first, with a better error
		Logger:           hclog.NewNullLogger(),                // the runner logs the same in more detail
		SyncStdout:       &pacedWriter{to: &lineWriter{line: out.stdout}},
		SyncStderr:       &pacedWriter{to: &lineWriter{line: out.stderr}},
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		GRPCDialOptions: append(handshake.DialOptions(), r.dialer(),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second})),
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (pluginrunner.Runner, error) {
			r.env, r.socketDir = append(r.env, cmd.Env...), dir
			return r, nil
		},
	})
	return &Process{program: prog, runner: r, client: client, image: im, log: l.options.Logger.Named(name)}, nil
}
