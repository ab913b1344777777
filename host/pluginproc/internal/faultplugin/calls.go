package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// way returns the name of the fault that a call shows. Several people may have one, as hang
// and hang+2. A name that begins with
// "handle-" is for the handler; the dispenser then asks for the organisation.
func (f *fault) way(user pluginsdk.User, handler bool) string {
	way, _, _ := strings.Cut(user.Email, "@")
	way, _, _ = strings.Cut(way, "+")
	if later, ok := strings.CutPrefix(way, "handle-"); ok {
		if way = later; !handler {
			return "setup"
		}
	}
	_, known := intents(way)
	if known || acts()[way] != nil || raws()[way] != nil || way == "not-a-result" || way == "setup" || way == "echo" {
		return way
	}
	return f.config.Call
}

// Dispense does what it is told.
func (f *fault) Dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	f.served.Add(1)
	way := f.way(user, false)
	if act := acts()[way]; act != nil {
		if err := act(ctx); err != nil {
			return pluginsdk.Intent{}, err
		}
	}
	if raw := raws()[way]; raw != nil {
		setRaw(ctx, raw())
		return pluginsdk.Done(), nil
	}
	if intent, ok := intents(way); ok {
		return intent, nil
	}
	if way == "echo" {
		text, err := json.Marshal(map[string]any{"User": user, "Request": req})
		return pluginsdk.Redirect("/" + string(text)), err
	}
	if !user.Columns.Has("partner_id") && way == "setup" {
		return pluginsdk.OrgSetup(user.Name), nil
	}
	return pluginsdk.Redirect("/dashboard?version="+f.version).With(
		pluginsdk.SetSession("pid", os.Getpid()), pluginsdk.SetSession("request", req.ID)), nil
}

// Handle does what it is told.
func (f *fault) Handle(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	f.served.Add(1)
	way := f.way(user, true)
	if act := acts()[way]; act != nil {
		if err := act(ctx); err != nil {
			return pluginsdk.Result{}, err
		}
	}
	if raw := raws()[way]; raw != nil {
		setRaw(ctx, raw())
		return pluginsdk.Satisfied(), nil
	}
	name, _ := req.Form.Text("org_name")
	switch {
	case way == "ungranted":
		return pluginsdk.Satisfied().With(pluginsdk.SetUser("is_admin", true)), nil
	case way == "not-a-result":
		return pluginsdk.Result{}, nil
	case name == "more":
		return pluginsdk.NeedsMoreInput(map[string]any{"big": int64(math.MaxInt64)}), nil
	case name == "no":
		return pluginsdk.Failed("no"), nil
	}
	return pluginsdk.Satisfied().With(pluginsdk.SetUser("partner_id", int64(math.MaxInt64))), nil
}

// notify does what it is told.
func (f *fault) notify(ctx context.Context, e pluginsdk.Event) ([]pluginsdk.Effect, error) {
	f.served.Add(1)
	pluginsdk.Logger(ctx).Info("told", "event", e.ID, "kind", e.Kind, "user", e.User.ID, "at", e.At)
	way, _, _ := strings.Cut(e.User.Email, "@")
	if act := acts()[f.way(e.User, false)]; act != nil {
		return nil, act(ctx)
	}
	if strings.HasPrefix(way, "counts+") { // the events of a person, each once
		heard, _ := e.User.Columns.Int("heard")
		return []pluginsdk.Effect{
			pluginsdk.SetUser("heard", heard+1).Replacing(e.User.Columns.Raw("heard")),
			pluginsdk.Mail("changed", map[string]string{"link": "/account?event=" + e.ID}),
		}, nil
	}
	return effects()[way], nil
}

// effects are those of a listener, by what the user's address begins with.
func effects() map[string][]pluginsdk.Effect {
	return map[string][]pluginsdk.Effect{
		"sets":         {pluginsdk.SetUser("must_change", true), pluginsdk.Mail("changed", map[string]string{"link": "/account"})},
		"sets-another": {pluginsdk.SetUser("is_admin", true)},
		"sets-badly":   {pluginsdk.SetUser("must_change", "often")},
		"sets-session": {pluginsdk.SetSession("x", 1)},
		"mails":        {pluginsdk.Mail("another", nil)},
	}
}

// intents are answers that the SDK lets pass.
func intents(way string) (pluginsdk.Intent, bool) {
	switch way {
	case "no-intent":
		return pluginsdk.Intent{}, true
	case "script-target":
		return pluginsdk.Redirect("javascript:alert(1)"), true
	case "foreign-target":
		return pluginsdk.Redirect("https://evil.example.net/"), true
	case "control-target":
		return pluginsdk.Redirect("/a\r\nSet-Cookie: x=1"), true
	case "long-target":
		return pluginsdk.Redirect("/" + strings.Repeat("a", 9<<10)), true
	case "held-sign-in":
		return pluginsdk.Redirect("/login").Hold(), true
	case "held-site":
		return pluginsdk.Redirect("/terms").Hold("/"), true
	case "no-target":
		return pluginsdk.Redirect(""), true
	case "ungranted":
		return pluginsdk.Done().With(pluginsdk.SetUser("is_admin", true)), true
	case "credential":
		return pluginsdk.Done().With(pluginsdk.SetUser("password", "x")), true
	case "big-value":
		return pluginsdk.Done().With(pluginsdk.SetSession("x", strings.Repeat("x", 64<<10))), true
	case "bad-utf8":
		return pluginsdk.Redirect("/\xff\xfe"), true
	case "oversized":
		return pluginsdk.Redirect("/" + strings.Repeat("a", 2<<20)), true
	case "column-word":
		return pluginsdk.Done().With(pluginsdk.SetUser("note", "half"), pluginsdk.SetUser("number", "abc")), true
	case "column-nul":
		return pluginsdk.Done().With(pluginsdk.SetUser("note", "a\x00b")), true
	case "column-long":
		return pluginsdk.Done().With(pluginsdk.SetUser("brief", strings.Repeat("x", 6))), true
	case "column-range":
		return pluginsdk.Done().With(pluginsdk.SetUser("small", int64(math.MaxInt32))), true
	case "column-check":
		return pluginsdk.Done().With(pluginsdk.SetUser("note", "half"), pluginsdk.SetUser("checked", -1)), true
	case "column-day":
		return pluginsdk.Done().With(pluginsdk.SetUser("seen", "yesterday")), true
	case "column-fits":
		return pluginsdk.Done().With(pluginsdk.SetUser("note", "ok"), pluginsdk.SetUser("brief", "xxxxx"), pluginsdk.SetUser("number", "7"),
			pluginsdk.SetUser("seen", time.Date(2026, 1, 31, 13, 0, 0, 0, time.FixedZone("", 3600)))), true
	case "loop":
		return pluginsdk.OrgSetup("again"), true
	case "done":
		return pluginsdk.Done(), true
	}
	return pluginsdk.Intent{}, false
}

// acts are what happens in a call before there is an answer.
func acts() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"error":           func(context.Context) error { return errors.New("secret detail of the plugin") },
		"panic":           func(context.Context) error { boom("in a call"); return nil },
		"panic-goroutine": func(context.Context) error { go boom("in a goroutine"); time.Sleep(time.Second); return nil },
		"exit":            func(context.Context) error { os.Exit(7); return nil },
		"kill":            func(context.Context) error { return raise(syscall.SIGKILL) },
		"freeze":          func(ctx context.Context) error { arrived(ctx); return raise(syscall.SIGSTOP) },
		"hang":            func(ctx context.Context) error { arrived(ctx); hang(); return nil },
		"slow":            func(ctx context.Context) error { arrived(ctx); time.Sleep(300 * time.Millisecond); return nil },
		"fork":            func(context.Context) error { forkChild(false); return nil },
		"fork-away":       func(context.Context) error { forkChild(true); return nil },
		"eats":            func(context.Context) error { eat(1 << 30); return nil },
		"prints-long": func(context.Context) error {
			_, err := os.NewFile(1, "").WriteString(strings.Repeat("z", 200<<10))
			return err
		},
		"once": once,
		"work": func(context.Context) error { time.Sleep(150 * time.Millisecond); return nil },
		// What the plugin's own code says with codes that a broken connection has too.
		"says-unavailable": func(ctx context.Context) error { return setStatus(ctx, codes.Unavailable) },
		"says-canceled":    func(ctx context.Context) error { return setStatus(ctx, codes.Canceled) },
		"says-much":        func(context.Context) error { return errors.New(strings.Repeat("no! ", 100_000)) },
		"says-too-much": func(ctx context.Context) error {
			_ = setStatus(ctx, codes.Aborted)
			return grpc.SetTrailer(ctx, metadata.Pairs("much", strings.Repeat("x", 100_000)))
		},
		"says-escapes": func(context.Context) error { return errors.New("red \x1b[31m\r\n[INFO] \u202eforged") },
		"says-late":    func(ctx context.Context) error { return setStatus(ctx, codes.DeadlineExceeded) },
	}
}

// eat takes memory, and fills it.
func eat(size int) {
	var kept [][]byte
	for range size >> 24 {
		kept = append(kept, bytes.Repeat([]byte{1}, 1<<24))
	}
	runtime.KeepAlive(kept)
}

// arrived tells a test that waits for it that the call is under way.
func arrived(ctx context.Context) { pluginsdk.Logger(ctx).Info("the call has arrived") }

// raise sends a signal to the process. It takes a moment to arrive, in which there
// must be no answer.
func raise(s syscall.Signal) error {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		return err
	}
	hang()
	return nil
}

// once dies in the first call that any process gets: the file ONCE remembers.
func once(context.Context) error {
	f, err := os.OpenFile(os.Getenv("ONCE"), os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return errors.Join(err, f.Close(), raise(syscall.SIGKILL))
}

// raws are answers as bytes that the SDK would not send.
func raws() map[string]func() []byte {
	intent := func(kind string) []byte {
		inner := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), kind)
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
	}
	return map[string]func() []byte{
		"unknown-kind": func() []byte { return intent("teleport") },
		"raw-utf8":     func() []byte { return intent("\xff\xfe") },
		"not-protobuf": func() []byte { return []byte{0x0a, 0xff} },
		"no-effect": func() []byte {
			return protowire.AppendBytes(protowire.AppendTag(intent("done"), 2, protowire.BytesType), nil)
		},
		"not-a-number": func() []byte {
			value := protowire.AppendFixed64(protowire.AppendTag(nil, 3, protowire.Fixed64Type), math.Float64bits(math.NaN()))
			set := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "x")
			set = protowire.AppendBytes(protowire.AppendTag(set, 2, protowire.BytesType), value)
			effect := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), set)
			return protowire.AppendBytes(protowire.AppendTag(intent("done"), 2, protowire.BytesType), effect)
		},
		"raw-status": func() []byte {
			return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "maybe")
		},
	}
}

type rawKey struct{}

func setRaw(ctx context.Context, answer []byte) {
	if to, ok := ctx.Value(rawKey{}).(*[]byte); ok {
		*to = answer
	}
}

type statusKey struct{}

// setStatus makes the call end with a status that the SDK would replace.
func setStatus(ctx context.Context, code codes.Code) error {
	err := status.Error(code, "chosen by the plugin")
	if to, ok := ctx.Value(statusKey{}).(*error); ok {
		*to = err
	}
	return err
}

// intercept replaces an answer by bytes, or by a status.
func intercept(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	var raw []byte
	var own error
	ctx = context.WithValue(context.WithValue(ctx, rawKey{}, &raw), statusKey{}, &own)
	answer, err := handler(ctx, req)
	if own != nil {
		return nil, own
	}
	if description, ok := answer.(proto.Message); ok && arg(1, "") == "offers-untitled" && strings.HasSuffix(call.FullMethod, "/Describe") {
		description.ProtoReflect().SetUnknown([]byte{8 << 3, 1}) // offers_step, which the SDK wants a title for
	}
	if raw == nil || err != nil {
		return answer, err
	}
	out := &emptypb.Empty{}
	out.ProtoReflect().SetUnknown(raw) // which protobuf sends unchanged
	return out, nil
}
