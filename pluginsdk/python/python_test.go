package python_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/sdktest"
)

func TestPythonSDK(t *testing.T) {
	python := sdktest.Python(t)
	sdktest.Suite(t, python, "testdata/echo.py")
}
