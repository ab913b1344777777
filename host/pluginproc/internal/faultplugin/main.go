package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"google.golang.org/grpc"
)

// A fault is the plugin as it was told to be.
type fault struct {
	start   string
	config  config
	served  atomic.Int64
	version string
	apart   bool // the first thread ends, see apart
}

type config struct {
	Call   string `config:"call" doc:"How calls go, unless the user says so."`
	Number int    `config:"number" default:"3"`
	Rules  []rule `config:"rules"`
}

type rule struct {
	Target string `config:"target,required"`
}

func main() {
	f := &fault{start: arg(1, "ok"), version: arg(2, "1")}
	before, known := starts()[f.start]
	if !known {
		fmt.Fprintln(os.Stderr, "unknown start", f.start)
		os.Exit(2)
	}
	before(f)
	p := pluginsdk.Plugin{
		Name: "fault", Version: f.version, Config: &f.config, Configure: f.configure, Dispenser: f, OrgSetup: f,
		Listener: pluginsdk.ListenerFunc(f.notify), IdentityProvider: f, Validator: f,
	}
	if f.start == "lacks-role" {
		p.Dispenser = nil
	}
	if f.start == "offers-step" {
		p.Title, p.OffersStep = "Fault", true
	}
	if f.apart {
		go serve(f, p)
		_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) // of this thread alone
	}
	serve(f, p)
	if f.start == "ignores-stop" {
		hang()
	}
}

func arg(i int, preset string) string {
	if len(os.Args) > i {
		return os.Args[i]
	}
	return preset
}

// serve is pluginsdk.Serve, but for answers that no SDK would let pass.
func serve(f *fault, p pluginsdk.Plugin) {
	config := handshake.Config()
	if f.start == "wrong-protocol" {
		config.ProtocolVersion = 99
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: config,
		Plugins:         p.Set(os.Stderr),
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.UnaryInterceptor(intercept))...)
		},
	})
}

func (f *fault) configure(_ context.Context, setup pluginsdk.Setup) error {
	switch f.start {
	case "configure-repeats":
		return fmt.Errorf("it learned %s %v", setup.PublicURL, setup.Mails)
	case "configure-fails":
		return fmt.Errorf("the database of partners does not answer")
	case "configure-mistake":
		return pluginsdk.BadConfig("rules[1].target", "it must be a path")
	case "configure-hangs":
		hang()
	}
	return nil
}
