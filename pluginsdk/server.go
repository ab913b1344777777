package pluginsdk

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
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
	return toDescription(d), nil
}

func (s *server) Configure(ctx context.Context, in *pluginpb.ConfigureRequest) (r *pluginpb.ConfigureResponse, err error) {
	ctx = withLogger(ctx, s.log)
	defer recovered(ctx, &err)
	err = s.plugin.configure(ctx, fromSetup(in))
	if problems := configblock.ProblemsOf(err); len(problems) > 0 {
		return toProblems(problems), nil
	}
	if err != nil {
		return nil, status.Error(codes.Aborted, said(err))
	}
	return &pluginpb.ConfigureResponse{}, nil
}

// lacksRole is the answer to a call of a role that the plugin does not have.
func lacksRole(role string) error {
	return status.Error(codes.Unimplemented, "this plugin does not have the role "+role)
}

// call joins the author's log lines to the request.
func (s *server) call(ctx context.Context, name, requestID, intentID string) context.Context {
	return withLogger(ctx, s.log.With("call", name, "request_id", requestID, "intent_id", intentID))
}

// callFor is call for a request, which gets its trace of the call's metadata.
func (s *server) callFor(ctx context.Context, name string, req *Request) context.Context {
	req.readTrace(ctx)
	ctx = s.call(ctx, name, req.ID, req.IntentID)
	if id := req.traceID(); id != "" {
		ctx = withLogger(ctx, Logger(ctx).With("trace_id", id))
	}
	return ctx
}

// answerCall runs the author's function of a role and encodes what it returns.
func answerCall[A, M any](ctx context.Context, ask func(context.Context) (A, error), encode func(A) (*M, error)) (m *M, err error) {
	defer recovered(ctx, &err)
	answer, err := ask(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if m, err = encode(answer); err != nil {
		Logger(ctx).Error("the answer breaks the contract", "error", err)
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return m, nil
}

// failed turns the author's error into a status. The text goes to the host's
// log, never to a person. Unavailable is left to the network.
func failed(ctx context.Context, err error) error {
	if errors.Is(err, ErrContract) {
		Logger(ctx).Error("the answer breaks the contract", "error", err)
		return status.Error(codes.FailedPrecondition, strings.TrimPrefix(err.Error(), ErrContract.Error()+": "))
	}
	Logger(ctx).Error("no decision", "error", err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, said(err))
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, said(err))
	}
	return status.Error(codes.Aborted, said(err))
}

// recovered turns a panic into an error, so that one request cannot take the
// process and with it everybody's sign-in down.
func recovered(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		Logger(ctx).Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, words.Cut(fmt.Sprintf("panic: %v", p), maxSaid))
	}
}

// maxSaid is how many bytes of an error are told to the host, which has a limit for what
// stands in its place, the trailers of an answer. All of it is in the log.
const maxSaid = 4 << 10

func said(err error) string { return words.Cut(err.Error(), maxSaid) }
