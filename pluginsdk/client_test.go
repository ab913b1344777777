package pluginsdk_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// A refusing plugin answers every Dispense with one status.
type refusing struct {
	pluginpb.UnimplementedPluginServer
	with error
}

func (r refusing) Dispense(context.Context, *pluginpb.DispenseRequest) (*pluginpb.DispenseResponse, error) {
	return nil, r.with
}

// A plugin that says it is exhausted, in whatever words, has answered within its
// rights: only gRPC's own refusal of an answer that had begun breaks the contract.
func TestPluginMaySayThatItIsExhausted(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pluginpb.RegisterPluginServer(server, refusing{with: status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("unix:"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := conn.Close()
		server.Stop()
		if err := errors.Join(err, <-served); err != nil {
			t.Error(err)
		}
	})
	_, err = (&pluginsdk.Client{Conn: conn}).Dispense(t.Context(), pluginsdk.User{}, nil)
	if !errors.Is(err, pluginsdk.ErrUnavailable) || errors.Is(err, pluginsdk.ErrContract) || !strings.Contains(err.Error(), "5 vs. 4") {
		t.Errorf("got %v", err)
	}
}
