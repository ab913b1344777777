package pluginsdk

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// DialOptions are what a connection to a plugin needs beside its address and
// credentials: the limits of handshake on what is sent and received, and what tells a
// [Client] whether a status is the plugin's own or that of a broken connection.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(handshake.MaxAnswer), grpc.MaxCallSendMsgSize(handshake.MaxRequest)),
		grpc.WithMaxHeaderListSize(handshake.MaxHeaders),
		grpc.WithStatsHandler(endWatcher{}),
	}
}

// codecKey leads from the context of a call to its codec.
type codecKey struct{}

// An endWatcher sees how calls end. gRPC makes one and the same error of a connection
// that broke and of a status UNAVAILABLE that a plugin's own code returned, but only
// the latter comes with trailers.
type endWatcher struct{}

// HandleRPC notes that the plugin's side ended a call. It is called by the goroutine
// that reads the connection.
func (endWatcher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); !ok {
		return
	}
	if codec, ok := ctx.Value(codecKey{}).(*answerCodec); ok {
		codec.ended.Store(true)
	}
}

// TagRPC leaves the context as it is.
func (endWatcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn leaves the context as it is.
func (endWatcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (endWatcher) HandleConn(context.Context, stats.ConnStats) {}
