package uitest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if runs := axeTally.runs.Load(); runs > 0 {
		line := fmt.Sprintf("axe-core: %d runs, %d violations\n", runs, axeTally.violations.Load())
		fmt.Print(line)
		if dir := os.Getenv("SCREENS_DIR"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, "axe.txt"), []byte(line), 0o644)
		}
	}
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	browsertest.Stop()
	os.Exit(code)
}

// tab is a page of the browser, with what these tests do to it.
type tab struct{ *browsertest.Tab }

func open(t *testing.T) *tab {
	t.Helper()
	return &tab{browsertest.Open(t, nil)}
}
