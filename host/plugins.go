package host

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// PluginReport is the outcome of a plugin's conformance checks.
type PluginReport = pluginproc.Report

// The versions of the protocols that this host speaks.
const (
	// PluginProtocol is the version in the plugin handshake.
	PluginProtocol = pluginproc.Protocol
	// IntentVersion is the version in every intent envelope.
	IntentVersion = auth.Version
)

// pluginMetrics are the hooks that count what plugins do.
func pluginMetrics(m *telemetry.Metrics) pluginproc.Metrics {
	return pluginproc.Metrics{
		Call: m.PluginCall, Up: m.PluginUp,
		Event:      func(plugin, outcome string, n int) { m.PluginEvents(plugin, "event_"+outcome, n) },
		Restart:    m.PluginEvent("restart"),
		LogDropped: func(plugin string, lines int) { m.PluginEvents(plugin, "log_dropped", lines) },
	}
}

// refusedColumns counts values that the database has refused, for the plugins that may set
// these columns, and returns those.
func (h *Host) refusedColumns(columns []string) []string {
	plugins := h.plugins.MaySet(columns)
	for _, name := range plugins {
		h.metrics.PluginEvents(name, "value_refused", 1)
	}
	return plugins
}

// withPublicURL returns the plugins with the origin that people see, nil for none.
func withPublicURL(plugins []Plugin, origin *url.URL) []Plugin {
	plugins = slices.Clone(plugins)
	for i := range plugins {
		if origin != nil {
			plugins[i].PublicURL = origin.String()
		}
	}
	return plugins
}

// mailDropped counts a mail that a plugin asked for and the user does not get.
func (h *Host) mailDropped(mail string) {
	if plugin, _, ok := strings.Cut(mail, "/"); ok {
		h.metrics.PluginEvents(plugin, eventMailDropped, 1)
	}
}

// CheckPlugin starts a plugin, runs the conformance checks against it, and stops
// it. The error is about a plugin that cannot be started.
func CheckPlugin(ctx context.Context, p Plugin, log hclog.Logger) (PluginReport, error) {
	return pluginproc.Check(ctx, p, pluginproc.Options{Logger: log, Usable: usable})
}

// TryPlugin starts a plugin and stops it again, with its socket below runDir, or, where
// that is empty, below the directory for temporary files. The error is why it cannot be
// started. It needs no database.
func TryPlugin(ctx context.Context, p Plugin, runDir string, log hclog.Logger) error {
	m, err := pluginproc.New([]Plugin{p}, pluginproc.Options{Logger: log, RunDir: runDir})
	if err != nil {
		return err
	}
	return errors.Join(m.Start(ctx), m.Stop(ctx))
}

// CallPlugin starts a plugin, makes the one call that a JSON document describes,
// and returns the answer as JSON.
func CallPlugin(ctx context.Context, p Plugin, call []byte, log hclog.Logger) (json.RawMessage, error) {
	return pluginproc.Call(ctx, p, pluginproc.Options{Logger: log, Usable: usable}, call)
}

// usable returns an error if every site refuses the target of a redirect, whatever its origin.
func usable(redirect pluginsdk.Intent) error {
	return auth.Options{}.CheckRedirect(redirect, redirect.Target())
}

// PluginSum returns the hexadecimal SHA-256 of a file, for config.hcl.
func PluginSum(path string) (string, error) { return pluginproc.Sum(path) }
