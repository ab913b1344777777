package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func serveCommand() command {
	return command{
		name: "serve", short: "start the host",
		long: "Migrates its own tables, creates missing users and password_reset_tokens, starts the plugins, and prints its address\n" +
			"when it is ready. SIGTERM drains for server.drain, then stops. SIGINT does not drain. SIGHUP reads the configuration\n" +
			"again, all or nothing. A second SIGTERM or SIGINT ends requests under way.",
		run: serve,
	}
}

func serve(ctx context.Context, in *invocation) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
	usual := config.CollectSeldom()
	defer usual()
	cfg, findings := config.Load(in.source)
	if findings.Failed() {
		report(in.err, findings)
		return errReported
	}
	defer survivePipes()()
	out, lines := newLineWriter(in.out, nil), newLineWriter(in.err, func(lost int64) []byte { return lostLines(cfg, lost) })
	defer func() { out.Close(); lines.Close() }()
	lasting := *in
	lasting.out, lasting.err = out, lines
	for _, f := range findings {
		newLogger(lines, cfg).Warn("configuration", "finding", f.Error())
	}
	if err := serving(ctx, &lasting, cfg, lines.Lost, usual); err != nil {
		tellError(lines, err) // while the standard error output may stand still
		return errReported
	}
	return nil
}

// survivePipes keeps a closed pipe as standard output from ending the process, until it is
// undone. Ignoring the signal would be passed on to plugins.
func survivePipes() (undo func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}

// catchLibraries sends what libraries write to the standard logger, such as a proxy about
// an answer that broke off, to the log, until it is undone. The standard logger waits for
// its reader.
func catchLibraries(logger hclog.Logger) (undo func()) {
	to, flags := log.Writer(), log.Flags()
	log.SetOutput(logger.Named("library").StandardWriter(&hclog.StandardLoggerOptions{}))
	log.SetFlags(0)
	return func() { log.SetOutput(to); log.SetFlags(flags) }
}

// lostLines returns the line of the log which says that lines were lost.
func lostLines(cfg *config.Config, lost int64) []byte {
	var line bytes.Buffer
	newLogger(&line, cfg).Warn("lines of the log were lost: its reader stood still or was away", "lines", lost)
	return line.Bytes()
}

// serving is serve with a configuration and outputs that never block. lost returns how many
// lines of the log were lost. It calls usual once the host is built.
func serving(ctx context.Context, in *invocation, cfg *config.Config, lost func() int64, usual func()) error {
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(stops)
	hup, ready := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	logger := newLogger(in.err, cfg)
	defer catchLibraries(logger)()
	manager := newNotifier()
	starting, cancel := endedBy(ctx, stops)
	h, opts, err := build(starting, in, cfg, logger, lost, func() { manager.tell("READY=1"); close(ready) })
	stopEarly := starting.Err() != nil
	cancel()
	if err != nil && stopEarly {
		logger.Info("stopped before it was ready", "cause", oneLine(err))
		return nil
	}
	if err != nil {
		return err
	}
	usual()
	debug.FreeOSMemory() // reading a wide configuration and catalogue takes twice what is kept of them
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- h.Run(running) }()
	r := reloader{in: in, host: h, opts: opts, running: cfg, log: logger}
	alive, end := context.WithCancel(ctx)
	defer end()
	var stopping atomic.Bool
	go manager.watchdog(alive, func(ctx context.Context) error {
		if stopping.Load() {
			return nil // nobody listens at the end, and the manager has a limit of its own for that
		}
		return h.Alive(ctx)
	})
	var reloads <-chan os.Signal // none before the host is ready: what starts is not replaced
	for {
		select {
		case err := <-done:
			return located(in, cfg, err)
		case <-ready:
			ready, reloads = nil, hup
		case first := <-stops:
			stopping.Store(true)
			manager.tell("STOPPING=1")
			stop()
			return located(in, cfg, stopped(h, first, stops, done))
		case <-reloads:
			reloading, done := endedBy(ctx, stops)
			r.reload(reloading)
			done()
		}
	}
}

// endedBy returns a context that the first signal ends, which is left for whoever
// reads signals next.
func endedBy(ctx context.Context, signals chan os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case s := <-signals:
			select {
			case signals <- s:
			default: // it is full of others
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// abortLimit is how long a second signal waits for plugins to be killed and files
// to be closed.
const abortLimit = 2 * time.Second

// stopped waits until a host has stopped that was told so by the first signal. An
// interrupt comes from somebody at a terminal, who wants no draining.
func stopped(h *host.Host, first os.Signal, more <-chan os.Signal, done <-chan error) error {
	if first == os.Interrupt {
		h.Hurry()
	}
	select {
	case err := <-done:
		return err
	case <-more:
		h.Abort()
	}
	select {
	case err := <-done:
		return err
	case <-time.After(abortLimit):
		return host.ErrAborted
	}
}

func newLogger(to io.Writer, cfg *config.Config) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "vestibule", Output: to, Level: hclog.LevelFromString(cfg.Server.Log.Level), JSONFormat: cfg.Server.Log.Format == "json",
	})
}

// build makes a host that is ready to run, and calls ready when it serves. Nothing stays
// open after an error.
func build(ctx context.Context, in *invocation, cfg *config.Config, logger hclog.Logger, lost func() int64, ready func()) (*host.Host, host.Options, error) {
	tell := cfg.LimitMemory()
	opts, err := cfg.Options(ctx, logger)
	if err != nil {
		return nil, opts, err
	}
	tell(logger)
	opts.LogLinesLost = lost
	opts.Server.OnReady = func(listening, public string) {
		elsewhere := ""
		if public != listening {
			elsewhere = fmt.Sprintf(" (public_url %s)", public)
		}
		fmt.Fprintf(in.out, "vestibule %s is ready at %s%s\n", host.Version(), listening, elsewhere)
		ready()
	}
	h, err := host.New(opts)
	if err != nil {
		return nil, opts, errors.Join(err, opts.Store.Close())
	}
	return h, opts, nil
}

// located gives an error about a plugin's config block its place in the file.
func located(in *invocation, cfg *config.Config, err error) error {
	if cfg == nil {
		return err
	}
	if found, ok := cfg.Locate(err); ok {
		report(in.err, found)
		return errReported
	}
	return err
}
