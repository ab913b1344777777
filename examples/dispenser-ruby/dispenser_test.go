package dispenserruby_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A plugin without an SDK keeps the protocol as docs/plugins-reference.md describes it.
func TestExample(t *testing.T) {
	ruby := need(t)
	plugintest.Conformance(t, ruby, "dispenser.rb")
	program := conformance.Program{Command: []string{ruby, "dispenser.rb"}}
	p := plugintest.Run(t, program, plugintest.Config(`{"domain": "partner.example", "page": "/ü"}`))
	p.Dispense(pluginsdk.User{Email: "ada@Partner.example"}).Redirects("/ü").With(pluginsdk.ConsumeIntended())
	p.Dispense(pluginsdk.User{Email: "bob@example.com"}).IsDone()
	p.Dispense(pluginsdk.User{}).IsDone()
}

// Its mistakes in the config block have their places.
func TestConfig(t *testing.T) {
	running, err := conformance.Start(t.Context(), conformance.Program{Command: []string{need(t), "dispenser.rb"}})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	err = running.Client.Configure(t.Context(), plugintest.Config(`{"domian": "x", "page": 1, "domain": null}`))
	want := "config.domian: this key is unknown; known are: domain, page; config.page: a string is wanted here"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// need returns a Ruby with gRPC, or skips the test, or fails it with REQUIRE_RUBY=1,
// when there is none.
func need(t *testing.T) string {
	t.Helper()
	for _, ruby := range []string{"/usr/bin/ruby", "ruby"} {
		if exec.Command(ruby, "-e", "require 'grpc'").Run() == nil {
			return ruby
		}
	}
	if os.Getenv("REQUIRE_RUBY") == "1" {
		t.Fatal("Ruby with grpc is missing: apt-get install ruby-grpc")
	}
	t.Skip("Ruby with grpc is missing: apt-get install ruby-grpc")
	return ""
}
