package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// A Process is a plugin that is running and configured.
type Process struct {
	// Client talks to it.
	Client *pluginsdk.Client
	// About is its answer to Describe.
	About pluginsdk.Description
	// Started is when it became ready.
	Started time.Time

	program Program
	runner  *runner
	client  *plugin.Client
	health  grpc_health_v1.HealthClient
	image   *Image
	log     hclog.Logger
}

// PID returns the process id.
func (p *Process) PID() int { return p.runner.pid }

// Sum returns the hexadecimal checksum of the program.
func (p *Process) Sum() string { return p.image.Sum }

// Memory returns the resident memory of the process in bytes, and 0 if the process has ended
// or the system keeps no count.
func (p *Process) Memory() int64 { return residentMemory(p.runner.pid) }

// Dead is closed at the moment when the process has ended.
func (p *Process) Dead() <-chan struct{} { return p.runner.dead }

// Exited is closed when the process has ended, what it started has been killed, and
// its output is read, which takes up to half a second longer than [Process.Dead].
func (p *Process) Exited() <-chan struct{} { return p.runner.exited }

// lastWords is how long the summary waits for the output of a process that has ended.
const lastWords = 100 * time.Millisecond

// ExitSummary returns how the process ended and what it printed last. Call it
// after Dead is closed. It takes no longer than lastWords.
func (p *Process) ExitSummary() string {
	select {
	case <-p.runner.exited:
	case <-time.After(lastWords):
		return "it ended; why is not known yet, because this machine is busy or something that it started holds its output open"
	}
	text := "it ended by itself"
	if p.runner.reason != nil {
		text = "it ended: " + p.runner.reason.Error()
	}
	if tail := p.runner.out.summary(); tail != "" {
		text += "; it printed: " + tail
	}
	return text
}

// giveUp kills the process, which makes connect return: all that it waits for
// ends with the process.
func (p *Process) giveUp(connected <-chan error) error {
	err := p.runner.Kill(context.Background())
	select {
	case err := <-connected:
		return err
	case <-time.After(time.Second):
		return err
	}
}

// connect runs the handshake and makes sure that the plugin is what setup says.
// It ends when the process does.
func (p *Process) connect(ctx context.Context, setup pluginsdk.Setup, hostVersion string) error {
	if _, err := p.client.Start(); err != nil {
		return p.runner.startFailure(err)
	}
	if err := p.image.Recheck(p.program); err != nil {
		return err
	}
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(handshake.Plugin)
	if err != nil {
		return err
	}
	p.Client = raw.(*pluginsdk.Client)
	p.health = grpc_health_v1.NewHealthClient(protocol.(*plugin.GRPCClient).Conn)
	if p.About, err = p.Client.Describe(ctx, hostVersion); err != nil {
		return fmt.Errorf("describe: %w", p.connectFailure(err))
	}
	if len(setup.Roles) == 0 {
		setup.Roles = p.About.Roles
	}
	for _, role := range setup.Roles {
		if !slices.Contains(p.About.Roles, role) {
			return fmt.Errorf("it does not have the role %q, only %s: correct roles, or command",
				role, strings.Join(p.About.Roles, ", "))
		}
	}
	if err := p.Client.Configure(ctx, setup); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

// connectFailure returns why the first call failed: when nobody has seen it, there never
// was a connection, which gRPC gives up before the start runs out of time.
func (p *Process) connectFailure(err error) error {
	var sending interface{ NotSent() bool }
	if !errors.As(err, &sending) || !sending.NotSent() {
		return err
	}
	select {
	case <-p.runner.dead:
		return errEnded
	default:
		return errNoConnection
	}
}

// Ping asks whether the process is alive.
func (p *Process) Ping(ctx context.Context) error {
	answer, err := p.health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName})
	if err != nil {
		return err
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says that it is %s", answer.GetStatus())
	}
	return nil
}

// Stop asks the process to end, kills it when it has not done so after the
// grace, and removes what it left. go-plugin waits without a deadline for an
// answer; killing the process is what ends that wait.
func (p *Process) Stop(grace time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.client.Kill()
	}()
	select {
	case <-done:
	case <-time.After(grace):
		if err := p.runner.Kill(context.Background()); err != nil {
			p.log.Error("it cannot be stopped", "error", err)
		}
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			p.log.Error("go-plugin does not let go of it", "pid", p.PID())
		}
	}
	if dir := p.runner.socketDir; dir != "" {
		_ = os.RemoveAll(dir)
	}
}

// Kill ends the process at once. Stop must still be called.
func (p *Process) Kill() {
	_ = p.runner.Kill(context.Background()) // Stop logs it when that fails
}
