package frontend

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/static"
)

// HelperPrefix is where the files of the UI5 helper are served.
const HelperPrefix = "/ui/vestibule/"

// A Helper is the library for UI5 applications: modules that they load by name. It is
// safe for concurrent use.
type Helper struct {
	module Module
	files  fs.FS
}

// OpenHelper reads a helper with manifest.json at the root of files, for the core
// version that the manifest must name.
func OpenHelper(files fs.FS, core string) (*Helper, error) {
	h := &Helper{files: files}
	raw, err := fs.ReadFile(files, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("UI5 helper: %w", err)
	}
	if err := json.Unmarshal(raw, &h.module); err != nil {
		return nil, fmt.Errorf("UI5 helper: manifest.json: %w", err)
	}
	if h.module.Core != core {
		return nil, fmt.Errorf("UI5 helper: manifest.json names core %q, and this host is %q: take the helper that was built with it", h.module.Core, core)
	}
	h.module.URL = HelperPrefix
	return h, nil
}

// Module describes the helper for a shell.
func (h *Helper) Module() Module { return h.module }

// serve answers with one of the helper's files, or returns an error.
func (h *Helper) serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, HelperPrefix)
	return static.Serve(w, r, h.files, name, "no-cache") // their names hold no hash, since applications know them
}
