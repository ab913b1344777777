package dispensernode_test

import (
	"os"
	"os/exec"
	"testing"
)

// need returns Node, or skips the test, or fails it with REQUIRE_NODE=1, when Node
// or its packages are missing.
func need(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		err = exec.Command(node, "-e", "require.resolve('@grpc/grpc-js')").Run()
	}
	switch {
	case err == nil:
		return node
	case os.Getenv("REQUIRE_NODE") == "1":
		t.Fatal("Node or @grpc/grpc-js is missing: run npm ci in examples/dispenser-node")
	default:
		t.Skip("Node or @grpc/grpc-js is missing: run npm ci in examples/dispenser-node")
	}
	return ""
}
