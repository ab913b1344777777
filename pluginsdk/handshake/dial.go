package handshake

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// DialOptions are what a connection to a plugin needs beside its address and
// credentials: the limits on what is sent and received, and what tells a client of
// pluginsdk whether a status is the plugin's own or that of a broken connection.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxAnswer), grpc.MaxCallSendMsgSize(MaxRequest)),
		grpc.WithMaxHeaderListSize(MaxHeaders),
		grpc.WithStatsHandler(endWatcher{}),
	}
}

// endKey leads from the context of a call to what notes its end.
type endKey struct{}

// WatchEnd returns a context for one call on a connection with [DialOptions]. ended
// becomes true when the plugin's side ends the call, in whatever way, and stays false
// when the connection breaks. It is set by another goroutine, before the call returns.
func WatchEnd(ctx context.Context) (_ context.Context, ended *atomic.Bool) {
	ended = &atomic.Bool{}
	return context.WithValue(ctx, endKey{}, ended), ended
}

// NoteEnd notes that the plugin's side ended the call of a context of [WatchEnd].
func NoteEnd(ctx context.Context) {
	if ended, ok := ctx.Value(endKey{}).(*atomic.Bool); ok {
		ended.Store(true)
	}
}

// An endWatcher sees how calls end. gRPC makes one and the same error of a connection
// that broke and of a status UNAVAILABLE that a plugin's own code returned, but only
// the latter comes with trailers.
type endWatcher struct{}

// HandleRPC notes that the plugin's side ended a call.
func (endWatcher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); !ok {
		return
	}
	NoteEnd(ctx)
}

// TagRPC leaves the context as it is.
func (endWatcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn leaves the context as it is.
func (endWatcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (endWatcher) HandleConn(context.Context, stats.ConnStats) {}
