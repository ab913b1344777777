package pluginsdk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// A Client is a host's view of a running plugin. It satisfies [Dispenser] and
// [OrgSetupHandler]; errors wrap [ErrUnavailable] or [ErrContract]. It does not
// know grants: it sends what it is given and returns what it gets. Its methods
// may be called from several goroutines at once.
type Client struct {
	rpc pluginpb.PluginClient
}

// NewClient returns a Client that talks over conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginpb.NewPluginClient(conn)}
}

// Describe asks the plugin what it is.
func (c *Client) Describe(ctx context.Context, hostVersion string) (Description, error) {
	call := newAnswerCodec()
	r, err := c.rpc.Describe(ctx, &pluginpb.DescribeRequest{HostVersion: hostVersion}, call.option())
	if err := call.failure(err); err != nil {
		return Description{}, err
	}
	d := Description{
		Name:        r.GetName(),
		Version:     r.GetVersion(),
		Description: r.GetDescription(),
		Roles:       r.GetRoles(),
		SDK:         r.GetSdk(),
	}
	for _, k := range r.GetConfig() {
		d.Config = append(d.Config, ConfigKey{
			Path: k.GetPath(), Type: k.GetType(), Required: k.GetRequired(),
			Default: k.GetDefault(), Doc: k.GetDescription(),
		})
	}
	return d, nil
}

// Configure hands the plugin its setup. Mistakes in the config block are a
// [*ConfigError].
func (c *Client) Configure(ctx context.Context, s Setup) error {
	config := []byte(s.Config)
	if len(config) == 0 {
		config = []byte("{}")
	}
	call := newAnswerCodec()
	r, err := c.rpc.Configure(ctx, &pluginpb.ConfigureRequest{
		Name: s.Name, Config: config, Roles: s.Roles,
		UserRead: s.UserRead, UserWrite: s.UserWrite, Headers: s.Headers,
	}, call.option())
	if err := call.failure(err); err != nil {
		return err
	}
	if len(r.GetProblems()) == 0 {
		return nil
	}
	problems := &ConfigError{}
	for _, p := range r.GetProblems() {
		problems.Problems = append(problems.Problems, ConfigProblem{
			Path: shorten(p.GetPath(), 200), Message: shorten(p.GetMessage(), 500),
		})
	}
	return problems
}

// Dispense asks the plugin for the next step.
func (c *Client) Dispense(ctx context.Context, user User, req *Request) (Intent, error) {
	u, r, err := toSubject(user, req)
	if err != nil {
		return Intent{}, err
	}
	call := newAnswerCodec()
	answer, err := c.rpc.Dispense(ctx, &pluginpb.DispenseRequest{User: u, Request: r}, call.option())
	if err := call.failure(err); err != nil {
		return Intent{}, err
	}
	return fromIntent(answer)
}

// Handle asks the plugin to judge the form in req.
func (c *Client) Handle(ctx context.Context, user User, req *Request) (Result, error) {
	u, r, err := toSubject(user, req)
	if err != nil {
		return Result{}, err
	}
	in := &pluginpb.HandleRequest{User: u, Request: r}
	if req != nil {
		if in.Form, err = toValues(req.Form); err != nil {
			return Result{}, fmt.Errorf("%w: form field %w", ErrUnavailable, err)
		}
	}
	call := newAnswerCodec()
	answer, err := c.rpc.Handle(ctx, in, call.option())
	if err := call.failure(err); err != nil {
		return Result{}, err
	}
	return fromResult(answer)
}

func toSubject(user User, req *Request) (*pluginpb.User, *pluginpb.Request, error) {
	u, err := toUser(user)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	r, err := toRequest(req)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return u, r, nil
}

// An answerCodec decodes the answer of one call and remembers that it could
// not, because gRPC reports that with the same status as a plugin's own error.
type answerCodec struct {
	encoding.CodecV2
	err error
}

func newAnswerCodec() *answerCodec {
	return &answerCodec{CodecV2: encoding.GetCodecV2(proto.Name)}
}

func (c *answerCodec) option() grpc.CallOption { return grpc.ForceCodecV2(c) }

func (c *answerCodec) Unmarshal(data mem.BufferSlice, v any) error {
	c.err = c.CodecV2.Unmarshal(data, v)
	return nil
}

// failure says what a call's outcome means to the host.
func (c *answerCodec) failure(err error) error {
	if c.err != nil {
		return fmt.Errorf("%w: its answer cannot be decoded: %s", ErrContract, shorten(c.err.Error(), 200))
	}
	if err == nil {
		return nil
	}
	text := shorten(status.Convert(err).Message(), 300)
	switch status.Code(err) {
	case codes.FailedPrecondition:
		return fmt.Errorf("%w: %s", ErrContract, text)
	case codes.DeadlineExceeded:
		return fmt.Errorf("%w: it did not answer in time: %w", ErrUnavailable, context.DeadlineExceeded)
	case codes.Canceled:
		return fmt.Errorf("%w: the call was given up: %w", ErrUnavailable, context.Canceled)
	case codes.ResourceExhausted:
		if strings.Contains(text, "received message larger than max") {
			return fmt.Errorf("%w: its answer is larger than %d bytes", ErrContract, MaxAnswer)
		}
	case codes.Unimplemented:
		return fmt.Errorf("%w: it does not implement the call: %w", ErrUnavailable, errors.New(text))
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
