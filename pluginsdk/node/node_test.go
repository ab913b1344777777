package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/sdktest"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/node"
)

func TestNodeSDK(t *testing.T) {
	sdktest.Need(t, "REQUIRE_NODE", "Node with the package @grpc/grpc-js (run npm ci in pluginsdk/node)",
		"node", "-e", "require.resolve('@grpc/grpc-js')")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	sdktest.Suite(t, node, "testdata/echo.js")
}

// A plugin whose author has not run npm install yet says so.
func TestMissingGRPC(t *testing.T) {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: apt-get install nodejs")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"vestibule.js": node.SDK, "plugin.js": "require('./vestibule').serve({ name: 'bare', dispense: () => null })"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, filepath.Join(dir, "plugin.js"))
	cmd.Env = append(os.Environ(), "VESTIBULE_PLUGIN=vestibule.plugin.v1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "run npm install") {
		t.Errorf("it says %q (%v)", out, err)
	}
}
