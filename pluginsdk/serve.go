package pluginsdk

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"

	"github.com/hashicorp/go-plugin"
)

// Serve is the main function of a plugin: it serves p to the host that started
// the process and ends the process when the host is gone. It does not return.
//
// Started by a person it does nothing but explain itself, or what the flags
// -describe (print what the plugin is) and -call FILE (make one call, "-" reads
// standard input) ask for.
func Serve(p Plugin) {
	if os.Getenv(handshake.Cookie) != handshake.CookieValue {
		os.Exit(byHand(p, os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	if _, err := p.Describe(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mistake in the plugin:", err)
		os.Exit(2)
	}
	if os.Getenv(handshake.Lifeline) == handshake.LifelineStdin {
		outliveSignals()
		go endWithHost(os.Stdin)
	}
	stderr := os.Stderr // go-plugin replaces it below
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake.Config(),
		Plugins:         p.Set(stderr),
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          newLogger(p.Name, stderr, true),
	})
	os.Exit(0)
}

// outliveSignals keeps the process alive when somebody ends the whole service: systemd
// sends SIGTERM to the plugins, too, while the host still answers requests and needs them.
// They end when the host says so, or with the lifeline. The signals are caught and not
// ignored, because programs that the plugin starts would inherit that.
func outliveSignals() { signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, os.Interrupt) }

// endWithHost waits for the end of the lifeline, a pipe that the host holds open
// and never writes to. When the host dies in whatever way, the whole process
// group goes, so that no child of ours is left either.
func endWithHost(lifeline io.Reader) {
	_, _ = io.Copy(io.Discard, lifeline)
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(0)
}

// byHand is what a plugin does when a person starts it. It returns the exit code.
func byHand(p Plugin, args []string, in io.Reader, out, errOut io.Writer) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(errOut)
	describe := flags.Bool("describe", false, "print what the plugin is, as JSON")
	call := flags.String("call", "", "make the call that the JSON `file` describes, and print the answer")
	flags.Usage = func() { explain(p, args[0], errOut, flags) }
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	description, err := p.Describe()
	if err == nil {
		switch {
		case *describe:
			err = writeJSON(out, description)
		case *call != "":
			err = callByHand(p, description, *call, in, out, errOut)
		default:
			flags.Usage()
			return 1
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

func explain(p Plugin, program string, out io.Writer, flags *flag.FlagSet) {
	d, _ := p.Describe() // a mistake is reported once a flag asks for something
	_, _ = fmt.Fprintf(out, `This is %q, a plugin of Vestibule. The host starts it; by itself it does nothing.
To use it, put this into config.hcl and run "vestibule plugin check":

plugin %q {
  command = [%q]
  roles   = %s
}

To look at it without a host:
`, d.Name, d.Name, program, listOf(d.Roles))
	flags.PrintDefaults()
}

func listOf(roles []string) string {
	if roles == nil {
		return "[]"
	}
	text, _ := json.Marshal(roles) // strings always marshal
	return string(text)
}

func callByHand(p Plugin, d Description, file string, in io.Reader, out, errOut io.Writer) error {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read the call: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the call: %w", err)
	}
	var c Call
	if err := c.Parse(data); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := newLogger(p.Name, errOut, false)
	ctx = withLogger(ctx, log.With("request_id", c.Request.ID))
	all := []string{"*"}
	if err := p.configure(ctx, Setup{Name: p.Name, Config: c.Config, Roles: d.Roles, UserRead: all, UserWrite: all, Mails: all}); err != nil {
		return err
	}
	answer, err := c.Run(ctx, p.overWire(&server{plugin: p, log: log}))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(answer))
	return err
}

func writeJSON(out io.Writer, v any) error {
	text, err := indent(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(text))
	return err
}
