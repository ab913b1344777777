package pluginsdk

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A local is a connection to a plugin of this process, for calls by hand. Calls and
// answers are encoded and decoded as between processes, with the same limits.
type local struct{ server *server }

// Invoke makes a call. A status that is an error is the plugin's own.
func (l local) Invoke(ctx context.Context, method string, in, out any, _ ...grpc.CallOption) error {
	defer handshake.NoteEnd(ctx)
	for _, m := range pluginpb.Plugin_ServiceDesc.Methods {
		if method != "/"+pluginpb.Plugin_ServiceDesc.ServiceName+"/"+m.MethodName {
			continue
		}
		limit := handshake.MaxRequest
		if _, ok := in.(*pluginpb.ValidateRequest); ok {
			limit = handshake.MaxChanges
		}
		answer, err := m.Handler(l.server, ctx, func(to any) error { return recode(in, to, limit) }, nil)
		if err != nil {
			return err
		}
		if err := recode(answer, out, handshake.MaxAnswer); err != nil {
			return status.Error(codes.FailedPrecondition, "its answer cannot be sent: "+err.Error())
		}
		return nil
	}
	return status.Error(codes.Unimplemented, method)
}

// NewStream refuses: the protocol has no streams.
func (local) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "there are no streams")
}

// recode encodes a message and decodes it into another.
func recode(from, to any, limit int) error {
	source, ok := from.(proto.Message)
	target, fits := to.(proto.Message)
	if !ok || !fits {
		return errors.New("this is no message")
	}
	data, err := proto.Marshal(source)
	if err != nil {
		return err
	}
	if len(data) > limit {
		return fmt.Errorf("it has %d bytes; %d are allowed", len(data), limit)
	}
	return proto.Unmarshal(data, target)
}

// overWire returns a plugin whose roles are those of p, with the encoding of the protocol
// between the caller and the functions of p.
func (p Plugin) overWire(s *server) Plugin {
	var out Plugin
	client := &Client{Conn: local{s}}
	for _, role := range roles() {
		if role.has(p) {
			role.connect(&out, client)
		}
	}
	return out
}
