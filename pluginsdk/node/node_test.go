package node_test

import (
	"os/exec"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/sdktest"
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
