package pluginsdk

import (
	"context"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
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
		return &failure{kind: ErrContract, text: "its answer cannot be decoded: " + shorten(c.err.Error(), 200), cause: c.err}
	}
	if err == nil {
		return nil
	}
	f := &failure{kind: ErrUnavailable, text: shorten(status.Convert(err).Message(), 300), cause: err}
	switch status.Code(err) {
	case codes.FailedPrecondition:
		f.kind = ErrContract
	case codes.DeadlineExceeded:
		f.text, f.cause = "it did not answer in time", context.DeadlineExceeded
	case codes.Canceled:
		f.text, f.cause = "the call was given up", context.Canceled
	case codes.Unimplemented:
		f.text = "it does not implement the call: " + f.text
	case codes.ResourceExhausted:
		if strings.Contains(f.text, "received message larger than max") {
			f.kind, f.text = ErrContract, fmt.Sprintf("its answer is larger than %d bytes", MaxAnswer)
		}
	}
	return f
}

// A failure is a call without a usable answer. The kind is one of the two errors
// of this package; the cause, of which [status.Code] knows the code, is not part
// of the text.
type failure struct {
	kind  error
	text  string
	cause error
}

// Error says what went wrong.
func (f *failure) Error() string { return f.kind.Error() + ": " + f.text }

// Unwrap gives both the kind and the cause.
func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }
