package pluginsdk

import (
	"context"
	"errors"
	"io"

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
)

const (
	// Version is the version of this SDK, which plugins report to the host.
	Version = "2.0.0"
	// ProtocolVersion is the version of the protocol that the handshake names.
	ProtocolVersion = 1
	// PluginName is the one entry of [PluginSet].
	PluginName = "vestibule"
	// MaxAnswer is the size in bytes beyond which a host refuses an answer.
	MaxAnswer = 1 << 20
)

// Lifeline is the environment entry by which a host says that the standard input of
// a plugin is a pipe that ends when the host does, in whatever way. The plugin must
// end then too.
const Lifeline = lifelineKey + "=" + lifelineStdin

const (
	lifelineKey   = "VESTIBULE_LIFELINE"
	lifelineStdin = "stdin"
)

// The environment variable, and its value, by which a plugin sees that a host
// started it rather than a person.
const (
	cookieKey   = "VESTIBULE_PLUGIN"
	cookieValue = "vestibule.plugin.v1"
)

// Handshake is what host and plugin must agree on before they talk.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   cookieKey,
		MagicCookieValue: cookieValue,
	}
}

// PluginSet is the host's side of the connection: a go-plugin client dispenses
// [PluginName] as a [*Client].
func PluginSet() plugin.PluginSet { return plugin.PluginSet{PluginName: &wire{}} }

// Set is the plugin's side of the connection, for those who serve it with
// go-plugin themselves, as pluginsdk/plugintest does; [Serve] is enough for all
// others. Log lines are written to log as JSON.
func (p Plugin) Set(log io.Writer) plugin.PluginSet {
	return plugin.PluginSet{PluginName: &wire{server: &server{plugin: p, log: newLogger(p.Name, log, true)}}}
}

// A wire connects the Go interfaces with go-plugin.
type wire struct {
	plugin.NetRPCUnsupportedPlugin
	server *server
}

func (w *wire) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	if w.server == nil {
		return errors.New("this side of the connection has no plugin to serve")
	}
	pluginpb.RegisterPluginServer(s, w.server)
	return nil
}

func (w *wire) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return NewClient(conn), nil
}
