package pluginproc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	pluginrunner "github.com/hashicorp/go-plugin/runner"
	"github.com/vestibule-dev/vestibule/pluginsdk"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// A process is one running process of a plugin.
type process struct {
	spec    Spec
	image   *image
	runner  *runner
	client  *plugin.Client
	health  grpc_health_v1.HealthClient
	remote  *pluginsdk.Client
	about   pluginsdk.Description
	log     hclog.Logger
	started time.Time

	// The slot's lock guards these.
	calls    int
	answered bool
	draining bool
	idle     chan struct{} // closed when draining and without calls
}

// A launcher starts processes.
type launcher struct {
	options Options
	log     hclog.Logger
	guard   *guard
	runDir  string
}

// launch starts a process and returns it once it has answered Describe and
// Configure. When it does not get there in time, or ctx ends, nothing is left
// of it.
func (l *launcher) launch(ctx context.Context, s Spec, im *image) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.StartTimeout)
	defer cancel()
	p, err := l.prepare(s, im)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- l.connect(ctx, p) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = cause(ctx, p.giveUp(done))
	}
	if err == nil {
		return p, nil
	}
	_ = p.runner.Kill(ctx)
	tail := p.runner.out.summary()
	p.stop(time.Second)
	var config *ConfigError
	if errors.As(err, &config) {
		return nil, err
	}
	return nil, explainStart(err, tail)
}

// giveUp kills the process, which makes connect return: all that it waits for
// ends with the process.
func (p *process) giveUp(connected <-chan error) error {
	err := p.runner.Kill(context.Background())
	select {
	case err := <-connected:
		return err
	case <-time.After(time.Second):
		return err
	}
}

// cause replaces the error that a given up start ends with by the reason for
// giving it up.
func cause(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("timeout while waiting for the plugin to start")
	}
	return errors.Join(ctx.Err(), err)
}

// prepare sets go-plugin up for one process.
func (l *launcher) prepare(s Spec, im *image) (*process, error) {
	identity, certificate, err := newIdentity()
	if err != nil {
		return nil, err
	}
	instance := rand.Text()
	metrics, name := l.options.Metrics, s.Name
	p := &process{spec: s, image: im.retain(), idle: make(chan struct{})}
	p.log = l.log.With("plugin", name)
	out := newOutput(l.options.Logger.Named("plugin").Named(name), l.options.Now, func(n int) { metrics.LogDropped(name, n) })
	p.runner = newRunner(s, im, append(environment(s, instance), "PLUGIN_CLIENT_CERT="+certificate), instance, out)
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  pluginsdk.Handshake(),
		Plugins:          pluginsdk.PluginSet(),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		TLSConfig:        identity,
		StartTimeout:     l.options.StartTimeout,
		Logger:           hclog.NewNullLogger(), // ours says it better
		SyncStdout:       &lineWriter{line: out.stdout},
		SyncStderr:       &lineWriter{line: out.stderr},
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: l.runDir},
		GRPCDialOptions: []grpc.DialOption{
			p.runner.dialer(),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(pluginsdk.MaxAnswer)),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}),
		},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (pluginrunner.Runner, error) {
			p.runner.env = append(p.runner.env, cmd.Env...)
			p.runner.socketDir = dir
			return guarded{p.runner, l}, nil
		},
	})
	return p, nil
}

// guarded tells the guard of a process as soon as there is one.
type guarded struct {
	*runner
	launcher *launcher
}

// Start starts the process.
func (g guarded) Start(ctx context.Context) error {
	if err := g.runner.Start(ctx); err != nil {
		return err
	}
	if err := g.launcher.guard.add(g.pid, g.instance); err != nil {
		g.launcher.log.Debug("no guard", "error", err)
	}
	go func() {
		<-g.exited
		g.launcher.guard.remove(g.pid, g.instance)
	}()
	return nil
}

// connect runs the handshake and makes sure that the plugin is what the spec
// says. It ends when the process does.
func (l *launcher) connect(ctx context.Context, p *process) error {
	if _, err := p.client.Start(); err != nil {
		return err
	}
	if err := p.image.recheck(p.spec); err != nil {
		return err
	}
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(pluginsdk.PluginName)
	if err != nil {
		return err
	}
	p.remote = raw.(*pluginsdk.Client)
	p.health = grpc_health_v1.NewHealthClient(protocol.(*plugin.GRPCClient).Conn)
	if p.about, err = p.remote.Describe(ctx, l.options.HostVersion); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if err := p.hasRoles(); err != nil {
		return err
	}
	if err := p.configure(ctx); err != nil {
		return err
	}
	p.started = l.options.Now()
	return nil
}

func (p *process) hasRoles() error {
	for _, role := range p.spec.Roles {
		if !slices.Contains(p.about.Roles, role) {
			return fmt.Errorf("it does not have the role %q, only %s: correct roles, or command",
				role, clean(strings.Join(p.about.Roles, ", "), 100, false))
		}
	}
	return nil
}

func (p *process) configure(ctx context.Context) error {
	s := p.spec
	err := p.remote.Configure(ctx, pluginsdk.Setup{
		Name: s.Name, Config: s.Config, Roles: s.Roles,
		UserRead: s.UserRead, UserWrite: s.UserWrite, Headers: s.Headers,
	})
	var problems *pluginsdk.ConfigError
	if !errors.As(err, &problems) {
		if err != nil {
			return fmt.Errorf("configure: %w", err)
		}
		return nil
	}
	out := &ConfigError{}
	for _, problem := range problems.Problems {
		out.Problems = append(out.Problems, Problem{
			Plugin: s.Name, Path: clean(problem.Path, 200, false), Message: clean(problem.Message, 500, false),
		})
	}
	return out
}

// ping asks whether the process is alive.
func (p *process) ping(ctx context.Context) error {
	answer, err := p.health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName})
	if err != nil {
		return err
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says that it is %s", answer.GetStatus())
	}
	return nil
}

// stop asks the process to end, kills it when it has not done so after the
// grace, and removes what it left. go-plugin waits without a deadline for an
// answer; killing the process is what ends that wait.
func (p *process) stop(grace time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.client.Kill()
	}()
	select {
	case <-done:
	case <-time.After(grace):
		if err := p.runner.Kill(context.Background()); err != nil {
			p.log.Error("cannot stop it", "error", err)
		}
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			p.log.Error("go-plugin does not let go of it", "pid", p.runner.ID())
		}
	}
	if dir := p.runner.socketDir; dir != "" {
		_ = os.RemoveAll(dir)
	}
	p.image.release()
}
