package pluginsdk

import (
	"context"
	"io"

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
)

// Version is the version of this SDK, which plugins report to the host.
const Version = "2.0.0"

// Set is both sides of the connection, for those who serve the plugin with go-plugin
// themselves, as pluginsdk/plugintest does, and for hosts, whose go-plugin client
// dispenses its one entry as a [*Client], whatever p is; [Serve] is enough for all others. Log lines are written to log as JSON.
func (p Plugin) Set(log io.Writer) plugin.PluginSet {
	return plugin.PluginSet{handshake.Plugin: &wire{server: &server{plugin: p, log: newLogger(p.Name, log, true)}}}
}

// A wire connects the Go interfaces with go-plugin.
type wire struct {
	plugin.NetRPCUnsupportedPlugin
	server *server
}

func (w *wire) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	pluginpb.RegisterPluginServer(s, w.server)
	return nil
}

func (w *wire) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &Client{Conn: conn}, nil
}
