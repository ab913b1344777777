package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// callLimit bounds each call, as a host does.
const callLimit = 10 * time.Second

// A Plugin is a plugin that is being served to a test.
type Plugin struct {
	// Client is the host's side of the connection, for what the methods of Plugin
	// do not do.
	Client *pluginsdk.Client

	t     testing.TB
	about pluginsdk.Description
}

// Config is a setup with a config block, given as JSON, and all columns and mails granted.
func Config(block string) pluginsdk.Setup {
	return pluginsdk.Setup{Config: json.RawMessage(block), UserRead: []string{"*"}, UserWrite: []string{"*"}, Mails: []string{"*"}}
}

// Serve serves p until the test ends, and configures it, by default with
// Config("{}"). It fails the test when the plugin refuses the setup.
func Serve(t testing.TB, p pluginsdk.Plugin, setup ...pluginsdk.Setup) *Plugin {
	t.Helper()
	s := connect(t, p)
	s.mustConfigure(setup)
	return s
}

func (p *Plugin) mustConfigure(setup []pluginsdk.Setup) {
	p.t.Helper()
	if len(setup) == 0 {
		setup = []pluginsdk.Setup{Config("{}")}
	}
	if err := p.configure(setup[0]); err != nil {
		p.t.Fatalf("the plugin refuses the config block %s: %v", setup[0].Config, err)
	}
}

// ConfigProblems returns what p finds wrong with a setup: none when it accepts
// it. It fails the test on errors of another kind.
func ConfigProblems(t testing.TB, p pluginsdk.Plugin, setup pluginsdk.Setup) []configblock.Problem {
	t.Helper()
	err := connect(t, p).configure(setup)
	var problems *pluginsdk.ConfigError
	switch {
	case errors.As(err, &problems):
		return problems.Problems
	case err != nil:
		t.Fatalf("the plugin cannot be configured with %s: %v", setup.Config, err)
	}
	return nil
}

func connect(t testing.TB, p pluginsdk.Plugin) *Plugin {
	t.Helper()
	about, err := p.Describe()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "vt") // short, as a socket's path must be
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	if err := p.Set(outputOf(t))[handshake.Plugin].(plugin.GRPCPlugin).GRPCServer(nil, server); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("unix:"+socket,
		append(handshake.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := conn.Close()
		server.Stop()
		if err := errors.Join(err, <-served, os.RemoveAll(dir)); err != nil {
			t.Error("stop serving:", err)
		}
	})
	return &Plugin{Client: &pluginsdk.Client{Conn: conn}, t: t, about: about}
}

func (p *Plugin) configure(setup pluginsdk.Setup) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	setup.Name = cmp.Or(setup.Name, p.about.Name)
	if setup.Roles == nil {
		setup.Roles = p.about.Roles
	}
	return p.Client.Configure(ctx, setup)
}

func request(path string, edit []func(*pluginsdk.Request)) *pluginsdk.Request {
	req := &pluginsdk.Request{
		ID: "test", IntentID: "test", Method: "POST", Path: path, RemoteAddr: "127.0.0.1", Locale: "en",
		Routes: map[string]string{"home": "/", "dashboard": "/dashboard", "login": "/login"},
	}
	for _, f := range edit {
		f(req)
	}
	return req
}

// output is that of a test. What a goroutine of the plugin says after its end is
// dropped: package testing panics for it.
type output struct {
	mu   sync.Mutex
	to   io.Writer
	over bool
}

func outputOf(t testing.TB) io.Writer {
	o := &output{to: t.Output()}
	t.Cleanup(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.over = true
	})
	return o
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return len(p), nil
	}
	return o.to.Write(p)
}
