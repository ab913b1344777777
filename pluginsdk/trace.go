package pluginsdk

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"
)

// The names of W3C Trace Context as metadata of a call. They are no part of its message,
// so that libraries for tracing find them.
const (
	traceparent = "traceparent"
	tracestate  = "tracestate"
)

// withTrace adds the trace of a request to the metadata of a call.
func withTrace(ctx context.Context, req *Request) context.Context {
	if req == nil || req.Traceparent == "" {
		return ctx
	}
	ctx = metadata.AppendToOutgoingContext(ctx, traceparent, req.Traceparent)
	if req.Tracestate != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, tracestate, req.Tracestate)
	}
	return ctx
}

// readTrace sets the trace of a request from the metadata of the call.
func (r *Request) readTrace(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	if parent := md.Get(traceparent); len(parent) == 1 {
		r.Traceparent, r.Tracestate = parent[0], strings.Join(md.Get(tracestate), ",")
	}
}

// traceID is the part of Traceparent that names the trace; empty when there is none.
func (r *Request) traceID() string {
	parts := strings.Split(r.Traceparent, "-")
	if len(parts) < 4 {
		return ""
	}
	return parts[1]
}
