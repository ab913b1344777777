package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/sdktest"
)

func TestPythonSDK(t *testing.T) {
	python := sdktest.Python(t)
	sdktest.Suite(t, python, "testdata/echo.py")
}

// What a plugin without gRPC says is what to install, which is not named as what is missing.
func TestMissingGRPC(t *testing.T) {
	dir := t.TempDir()
	text := `raise ModuleNotFoundError("No module named 'grpc'", name="grpc")`
	if err := os.WriteFile(filepath.Join(dir, "grpc.py"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sdktest.Python(t), "testdata/echo.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "VESTIBULE_PLUGIN=vestibule.plugin.v1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "apt-get install python3-grpcio") || strings.Contains(string(out), "Traceback") {
		t.Errorf("it says %q (%v)", out, err)
	}
}
