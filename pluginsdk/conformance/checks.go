package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// byHand runs the program without the cookie: it must say what it is and end.
func (s *subject) byHand() error {
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	command := s.program.Command
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.program.Dir, environment(s.program), time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has started
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("without the cookie VESTIBULE_PLUGIN it must not serve, but say that the host starts it, and end")
	case err == nil:
		return errors.New("without the cookie VESTIBULE_PLUGIN it must end with another exit code than 0")
	case out.Len()+errOut.Len() == 0:
		return errors.New("without the cookie VESTIBULE_PLUGIN it must say what it is; it printed nothing")
	case strings.Contains(out.String(), "|unix|"):
		return errors.New("without the cookie VESTIBULE_PLUGIN it printed a handshake")
	}
	return nil
}

func (s *subject) describes() error {
	if s.about.Name == "" {
		return errors.New("it must name itself in Describe")
	}
	if len(s.about.Roles) == 0 {
		return errors.New("it must name a role in Describe")
	}
	for _, role := range s.about.Roles {
		if !slices.Contains(pluginsdk.Roles(), role) {
			return fmt.Errorf("it names the role %q in Describe, which does not exist", role)
		}
	}
	if s.about.OffersStep && !slices.Contains(s.about.Roles, pluginsdk.RoleDispenser) {
		return errors.New("it offers a step in Describe without the role dispenser")
	}
	if s.about.OffersStep && s.about.Title == "" {
		return errors.New("it offers a step in Describe, and has no title by which people could find it")
	}
	ctx, cancel := s.call()
	defer cancel()
	again, err := s.instance.Client.Describe(ctx, "conformance")
	if err != nil {
		return fmt.Errorf("a second Describe: %w", err)
	}
	if again.Name != s.about.Name || again.Version != s.about.Version || again.Title != s.about.Title || again.OffersStep != s.about.OffersStep || !slices.Equal(again.Roles, s.about.Roles) {
		return errors.New("it describes itself differently each time")
	}
	return nil
}

func (s *subject) healthy() error {
	ctx, cancel := s.call()
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(s.instance.conn).
		Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "plugin"})
	if err != nil {
		return fmt.Errorf("grpc.health.v1.Health must know the service \"plugin\": %w", err)
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the health of \"plugin\" is %s, not SERVING", answer.GetStatus())
	}
	return nil
}

// guarded connects with a certificate that the host did not announce.
func (s *subject) guarded() error {
	config, _, err := identity()
	if err != nil {
		return err
	}
	config.InsecureSkipVerify = true // it is the plugin's check that matters here
	conn, err := dial(s.instance.socket, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := s.call()
	defer cancel()
	if _, err = (&pluginsdk.Client{Conn: conn}).Describe(ctx, "stranger"); err == nil {
		return errors.New("it answered a client whose certificate is not that of PLUGIN_CLIENT_CERT")
	}
	return nil
}

// keepsToItsRoles makes a call of each role that the plugin does not have.
func (s *subject) keepsToItsRoles() error {
	for _, role := range pluginsdk.Roles() {
		if slices.Contains(s.about.Roles, role) {
			continue
		}
		ctx, cancel := s.call()
		err := s.try(ctx, ordinary(role))
		cancel()
		if err == nil || errors.Is(err, pluginsdk.ErrContract) {
			return errors.New("a call of a role that it does not have must fail with the status UNIMPLEMENTED")
		}
	}
	return s.healthy()
}

// survivesCancelling gives up calls of every role before they can be answered.
func (s *subject) survivesCancelling() error {
	for range 5 {
		ctx, cancel := context.WithTimeout(s.ctx, time.Millisecond)
		for _, role := range pluginsdk.Roles() {
			_ = s.try(ctx, ordinary(role)) // it has no time to succeed
		}
		cancel()
	}
	return s.healthy()
}

func (s *subject) quiet() error {
	s.instance.mu.Lock()
	defer s.instance.mu.Unlock()
	if len(s.instance.stdout) > 0 {
		return fmt.Errorf("standard output is for the handshake alone; it also printed %q: log on standard error", s.instance.stdout[0])
	}
	return nil
}

// stops tells the plugin to end as go-plugin does.
func (s *subject) stops() error {
	ctx, cancel := s.call()
	defer cancel()
	err := s.instance.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	if status.Code(err) == codes.Unimplemented {
		return errors.New("plugin.GRPCController/Shutdown must be implemented, and end the process")
	}
	if !s.instance.ended(endLimit) {
		return fmt.Errorf("it did not end within %s after plugin.GRPCController/Shutdown", endLimit)
	}
	if _, err := os.Lstat(s.instance.socket); err == nil {
		return errors.New("it left its socket behind: remove it before ending")
	}
	return nil
}

// endsWithHost starts the program anew and lets go of the lifeline.
func (s *subject) endsWithHost() error {
	in, err := Start(s.ctx, s.program)
	if err != nil {
		return err
	}
	defer in.Stop()
	if err := in.lifeline.Close(); err != nil {
		return err
	}
	if !in.ended(endLimit) {
		return fmt.Errorf("it did not end within %s after its standard input did, which is how it learns that the host is gone", endLimit)
	}
	return nil
}
