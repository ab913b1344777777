package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The roles of the two processes that judge a new row: validator is a plugin of the host, judge one that was made by hand with the same
// library. Both refuse a stock below zero.
const validator, judge = "validator", "judge"

// serveRules serves a process that judges. It does not return.
func serveRules(role string) {
	if role == judge {
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: judging(), Plugins: plugin.PluginSet{judge: judgePlugin{}}, GRPCServer: plugin.DefaultGRPCServer})
		os.Exit(0)
	}
	pluginsdk.Serve(pluginsdk.Plugin{
		Name: validator, Version: "1.0.0", Description: "Refuses a stock below zero.",
		Validator: pluginsdk.ValidatorFunc(func(_ context.Context, _ pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
			v := pluginsdk.Accept()
			for i, c := range changes {
				if stock, ok := c.New.Int("stock"); !ok || stock < 0 {
					v = v.Refuse(i, "stock", "The stock is below zero.")
				}
			}
			return v, nil
		}),
	})
}

// validatorOf returns the plugin of the host.
func validatorOf() (host.Plugin, error) {
	self, err := os.Executable()
	return host.Plugin{Name: validator, Command: []string{self, "-role", validator}, Roles: []string{pluginsdk.RoleValidator}}, err
}

func judging() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "BENCH_JUDGE", MagicCookieValue: judge}
}

// judgePlugin is a service of one method, which takes a row as JSON and answers with what is wrong about it.
type judgePlugin struct{ plugin.NetRPCUnsupportedPlugin }

const judgeMethod = "/bench.Judge/Create"

// GRPCServer registers the service.
func (judgePlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error { //nolint:unparam // of plugin.GRPCPlugin
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Judge", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Create", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in, row := &wrapperspb.BytesValue{}, &noted{}
			if err := decode(in); err != nil {
				return nil, err
			}
			if err := json.Unmarshal(in.Value, row); err != nil || row.Stock >= 0 {
				return &wrapperspb.StringValue{}, err
			}
			return &wrapperspb.StringValue{Value: "The stock is below zero."}, nil
		}}},
	}, nil)
	return nil
}

// GRPCClient returns the connection.
func (judgePlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

// startJudge starts the process by hand. plugin.CleanupClients ends it.
func startJudge() (*grpc.ClientConn, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	started := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: judging(), Plugins: plugin.PluginSet{judge: judgePlugin{}}, Cmd: exec.Command(self, "-role", judge),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, AutoMTLS: true, Managed: true, Logger: hclog.NewNullLogger(),
	})
	client, err := started.Client()
	if err != nil {
		return nil, err
	}
	conn, err := client.Dispense(judge)
	if err != nil {
		return nil, err
	}
	return conn.(*grpc.ClientConn), nil
}

// judged asks a process about a row.
func judged(ctx context.Context, conn *grpc.ClientConn, row *noted) error {
	sent, err := json.Marshal(row)
	if err != nil {
		return err
	}
	answer := &wrapperspb.StringValue{}
	if err := conn.Invoke(ctx, judgeMethod, wrapperspb.Bytes(sent), answer); err != nil {
		return err
	}
	if answer.Value != "" {
		return errors.Join(errFormed, errors.New(answer.Value))
	}
	return nil
}
