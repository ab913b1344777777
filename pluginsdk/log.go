package pluginsdk

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
)

func newLogger(name string, to io.Writer, asJSON bool) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Debug, Output: to, JSONFormat: asJSON})
}

type loggerKey struct{}

func withLogger(ctx context.Context, log hclog.Logger) context.Context {
	return context.WithValue(ctx, loggerKey{}, log)
}

// Logger returns the logger of a call: its lines reach the host's log, joined
// to the request by request_id. Outside of a call it discards.
func Logger(ctx context.Context) hclog.Logger {
	if log, ok := ctx.Value(loggerKey{}).(hclog.Logger); ok {
		return log
	}
	return hclog.NewNullLogger()
}

// Go runs f in a goroutine of its own. A panic in f is logged and ends f only;
// in a goroutine started otherwise it would end the process. The context keeps
// the values of ctx but not its deadline, since f outlives the call.
func Go(ctx context.Context, f func(context.Context)) {
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				Logger(ctx).Error("panic in a goroutine", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
		f(ctx)
	}()
}
