package pluginsdk

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A server answers the host's calls with the author's functions.
type server struct {
	pluginpb.UnimplementedPluginServer
	plugin Plugin
	log    hclog.Logger
}

func (s *server) Describe(context.Context, *pluginpb.DescribeRequest) (*pluginpb.DescribeResponse, error) {
	d, err := s.plugin.Describe()
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	r := &pluginpb.DescribeResponse{
		Name: d.Name, Version: d.Version, Description: d.Description, Roles: d.Roles, Sdk: d.SDK,
	}
	for _, k := range d.Config {
		r.Config = append(r.Config, &pluginpb.ConfigKey{
			Path: k.Path, Type: k.Type, Required: k.Required, Default: k.Default, Description: k.Doc,
		})
	}
	return r, nil
}

func (s *server) Configure(ctx context.Context, in *pluginpb.ConfigureRequest) (r *pluginpb.ConfigureResponse, err error) {
	ctx = withLogger(ctx, s.log)
	defer s.recovered(ctx, &err)
	err = s.plugin.configure(ctx, Setup{
		Name: in.GetName(), Config: in.GetConfig(), Roles: in.GetRoles(),
		UserRead: in.GetUserRead(), UserWrite: in.GetUserWrite(), Headers: in.GetHeaders(),
	})
	if problems := configblock.ProblemsOf(err); len(problems) > 0 {
		r = &pluginpb.ConfigureResponse{}
		for _, p := range problems {
			r.Problems = append(r.Problems, &pluginpb.Problem{Path: p.Path, Message: p.Message})
		}
		return r, nil
	}
	if err != nil {
		return nil, status.Error(codes.Aborted, err.Error())
	}
	return &pluginpb.ConfigureResponse{}, nil
}

func (s *server) Dispense(ctx context.Context, in *pluginpb.DispenseRequest) (r *pluginpb.DispenseResponse, err error) {
	if s.plugin.Dispenser == nil {
		return nil, status.Error(codes.Unimplemented, "this plugin is no dispenser")
	}
	req := fromRequest(in.GetRequest(), nil)
	ctx = s.call(ctx, "dispense", req)
	defer s.recovered(ctx, &err)
	intent, err := s.plugin.Dispenser.Dispense(ctx, fromUser(in.GetUser()), req)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if r, err = toIntent(intent); err != nil {
		return nil, s.broken(ctx, err)
	}
	return r, nil
}

func (s *server) Handle(ctx context.Context, in *pluginpb.HandleRequest) (r *pluginpb.HandleResponse, err error) {
	if s.plugin.OrgSetup == nil {
		return nil, status.Error(codes.Unimplemented, "this plugin does not handle org_setup")
	}
	req := fromRequest(in.GetRequest(), in.GetForm())
	ctx = s.call(ctx, "handle", req)
	defer s.recovered(ctx, &err)
	result, err := s.plugin.OrgSetup.Handle(ctx, fromUser(in.GetUser()), req)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if r, err = toResult(result); err != nil {
		return nil, s.broken(ctx, err)
	}
	return r, nil
}

// call joins the author's log lines to the request.
func (s *server) call(ctx context.Context, name string, req *Request) context.Context {
	return withLogger(ctx, s.log.With("call", name, "request_id", req.ID, "intent_id", req.IntentID))
}

// failed turns the author's error into a status. The text goes to the host's
// log, never to a person.
func (s *server) failed(ctx context.Context, err error) error {
	Logger(ctx).Error("no decision", "error", err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, err.Error())
	}
	return status.Error(codes.Aborted, err.Error()) // Unavailable is the network's
}

func (s *server) broken(ctx context.Context, err error) error {
	Logger(ctx).Error("the answer breaks the contract", "error", err)
	return status.Error(codes.FailedPrecondition, err.Error())
}

// recovered turns a panic into an error, so that one request cannot take the
// process and with it everybody's sign-in down.
func (s *server) recovered(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		Logger(ctx).Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, fmt.Sprintf("panic: %v", p))
	}
}
