package pluginsdk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// ErrUnavailable is the error of a plugin that is down, late, restarting, or
// over its concurrency: it made no decision, and the caller may try again.
var ErrUnavailable = errors.New("plugin unavailable")

// ErrContract is the error of an answer that the contract forbids, such as no
// intent, an unknown kind, or an effect that is not granted.
var ErrContract = errors.New("plugin broke the contract")

// A Client is a host's view of a running plugin. It satisfies the interface of
// every role; errors wrap [ErrUnavailable] or [ErrContract], and have the methods
// NotSent() bool, which tells whether the plugin cannot have seen the call, and
// Answered() bool, which tells whether its own code chose the error. It does not
// know grants: it sends what it is given and returns what it gets. Its methods
// may be called from several goroutines at once.
type Client struct {
	// Conn is a connection to the plugin. Make it with the options of handshake.DialOptions.
	Conn grpc.ClientConnInterface
}

func (c *Client) rpc() pluginpb.PluginClient { return pluginpb.NewPluginClient(c.Conn) }

// Describe asks the plugin what it is.
func (c *Client) Describe(ctx context.Context, hostVersion string) (Description, error) {
	return callPlugin(ctx, c.rpc().Describe, &pluginpb.DescribeRequest{HostVersion: hostVersion}, fromDescription)
}

// Configure hands the plugin its setup. Mistakes in the config block are a
// [*ConfigError].
func (c *Client) Configure(ctx context.Context, s Setup) error {
	_, err := callPlugin(ctx, c.rpc().Configure, toSetup(s), fromProblems)
	return err
}

// callPlugin makes one call of a plugin and decodes its answer.
func callPlugin[Q, R, A any](
	ctx context.Context, rpc func(context.Context, *Q, ...grpc.CallOption) (*R, error), in *Q, decode func(*R) (A, error),
) (A, error) {
	codec := &answerCodec{CodecV2: encoding.GetCodecV2(proto.Name)}
	ctx, codec.ended = handshake.WatchEnd(ctx)
	answer, err := rpc(ctx, in, grpc.ForceCodecV2(codec), grpc.Header(&codec.header))
	if err := codec.failure(err); err != nil {
		var none A
		return none, err
	}
	return decode(answer)
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

// An answerCodec encodes and decodes one call and remembers what gRPC's status does
// not tell: whether the call was sent, and whether its answer could be decoded.
type answerCodec struct {
	encoding.CodecV2
	sent   bool        // gRPC encodes a call once it has a connection for it
	header metadata.MD // set once an answer has begun, and never by a bare status
	err    error
	ended  *atomic.Bool // the plugin's side ended the call; what does so else is the network
}

func (c *answerCodec) Marshal(v any) (mem.BufferSlice, error) {
	c.sent = true
	return c.CodecV2.Marshal(v)
}

func (c *answerCodec) Unmarshal(data mem.BufferSlice, v any) error {
	c.err = c.CodecV2.Unmarshal(data, v)
	return nil
}

// failure turns the outcome of a call into an error for the host, nil for an
// answer.
func (c *answerCodec) failure(err error) error {
	if c.err != nil {
		return &failure{kind: ErrContract, text: "its answer cannot be decoded: " + words.Clean(c.err.Error(), 200), cause: c.err}
	}
	if err == nil {
		return nil
	}
	f := &failure{kind: ErrUnavailable, text: words.Clean(status.Convert(err).Message(), 300), cause: err, unsent: !c.sent, own: c.ended.Load()}
	code := status.Code(err)
	if f.own && (code == codes.DeadlineExceeded || code == codes.Canceled) {
		return f // it gave up something of its own
	}
	switch code {
	case codes.FailedPrecondition:
		f.kind = ErrContract
	case codes.DeadlineExceeded:
		f.text, f.cause = "it did not answer in time", context.DeadlineExceeded
	case codes.Canceled:
		f.text, f.cause = "the call was given up", context.Canceled
	case codes.Unimplemented:
		f.text = "it does not implement the call: " + f.text
	case codes.Internal:
		if !f.own { // gRPC of a plugin breaks off an answer that is over the limit, and says no more
			f.text += fmt.Sprintf("; if it sends more than %d bytes of headers and trailers, send less", handshake.MaxHeaders)
		}
	case codes.ResourceExhausted:
		// gRPC reports an answer over its limit with the code that a plugin may also
		// return itself; only in the first case has an answer begun.
		if len(c.header) > 0 {
			f.kind, f.text = ErrContract, fmt.Sprintf("its answer is larger than %d bytes", handshake.MaxAnswer)
		}
	}
	return f
}

// A failure is a call without a usable answer. The kind is one of the two errors
// of this package; the cause, of which [status.Code] knows the code, is not part of
// the text.
type failure struct {
	kind   error
	text   string
	cause  error
	unsent bool
	own    bool
}

// Error says what went wrong.
func (f *failure) Error() string { return f.kind.Error() + ": " + f.text }

// Unwrap gives the kind and the cause.
func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }

// NotSent tells whether there was no connection to send the call on, so that the
// plugin has not seen it.
func (f *failure) NotSent() bool { return f.unsent }

// Answered tells whether the plugin's own code chose the error, as opposed to a
// connection that broke or a call that was given up.
func (f *failure) Answered() bool { return f.own }
