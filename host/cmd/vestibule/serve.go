package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func serveCommand() command {
	return command{
		name: "serve", short: "start the host",
		long: "Waits up to database.start_wait for a database that is away, migrates its own tables, creates the stock\n" +
			"tables where they are missing, starts the plugins, listens, and prints one line with the address when it\n" +
			"is ready, which it also tells systemd (Type=notify). SIGTERM drains: for server.drain it\n" +
			"goes on serving while /readyz says 503, and then it lets requests under way finish. SIGINT skips the first.\n" +
			"A second signal ends it at once. SIGHUP reloads plugins, the front-end app, the TLS files and the log level.",
		run: serve,
	}
}

func serve(ctx context.Context, in *invocation) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
	cfg, findings := config.Load(in.source)
	if findings.Failed() {
		report(in.err, findings)
		return errReported
	}
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(stops)
	logger := newLogger(in, cfg)
	for _, f := range findings {
		logger.Warn("configuration", "finding", f.String())
	}
	manager := newNotifier()
	starting, cancel := endedBy(ctx, stops)
	h, opts, err := build(starting, in, cfg, logger, manager)
	stopEarly := starting.Err() != nil
	cancel()
	if err != nil && stopEarly {
		logger.Info("stopped before it was ready", "cause", oneLine(err))
		return nil
	}
	if err != nil {
		return err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- h.Run(running) }()
	alive, end := context.WithCancel(ctx)
	defer end()
	go manager.watchdog(alive)
	for {
		select {
		case err := <-done:
			return located(in, cfg, err)
		case first := <-stops:
			manager.tell("STOPPING=1")
			stop()
			return located(in, cfg, stopped(h, first, stops, done))
		case <-hup:
			reload(ctx, in, h, opts, logger)
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

func newLogger(in *invocation, cfg *config.Config) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "vestibule", Output: in.err, Level: hclog.LevelFromString(cfg.Server.Log.Level), JSONFormat: cfg.Server.Log.Format == "json",
	})
}

// build makes a host that is ready to run. Nothing stays open after an error.
func build(ctx context.Context, in *invocation, cfg *config.Config, logger hclog.Logger, manager notifier) (*host.Host, host.Options, error) {
	opts, err := cfg.Options(ctx, logger)
	if err != nil {
		return nil, opts, err
	}
	opts.Server.OnReady = func(base string) {
		fmt.Fprintf(in.out, "vestibule %s is ready at %s\n", host.Version(), base)
		manager.tell("READY=1")
	}
	h, err := host.New(opts)
	if err != nil {
		return nil, opts, errors.Join(err, opts.Store.Close())
	}
	return h, opts, nil
}

// reload reads the configuration again and applies it. After an error, which is
// logged, the host keeps the old one.
func reload(ctx context.Context, in *invocation, h *host.Host, opts host.Options, logger hclog.Logger) {
	cfg, findings := config.Load(in.source)
	if findings.Failed() {
		h.ReloadRefused(findings.Err())
		for _, f := range findings {
			logger.Error("reload: the configuration is wrong, nothing was changed", "finding", f.String())
		}
		return
	}
	next, err := cfg.Reloaded(ctx, opts)
	if err != nil {
		h.ReloadRefused(err)
		logger.Error("reload: nothing was changed", "error", oneLine(err))
		return
	}
	logger.SetLevel(hclog.LevelFromString(cfg.Server.Log.Level))
	if err := h.Reload(ctx, next); err != nil {
		if found, ok := cfg.Locate(err); ok {
			err = found.Err()
		}
		logger.Error("reload: what could not be replaced stays as it was", "error", oneLine(err))
		return
	}
	logger.Info("reloaded")
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
