package frontend

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/static"
)

// Where the files of helpers are served: of the library for UI5 applications, and of the module and the style sheet for
// steps on pages of applications.
const (
	HelperPrefix = "/ui/vestibule/"
	StepsPrefix  = "/ui/steps/"
)

// A Helper is a library for applications: files that they load by name. It is safe for concurrent use.
type Helper struct {
	module Module
	files  fs.FS
}

// OpenHelper reads a helper with manifest.json at the root of files, for the core
// version that the manifest must name. Its files are served below prefix.
func OpenHelper(files fs.FS, prefix, core string) (*Helper, error) {
	h := &Helper{files: files}
	raw, err := fs.ReadFile(files, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", prefix, err)
	}
	if err := json.Unmarshal(raw, &h.module); err != nil {
		return nil, fmt.Errorf("%s: manifest.json: %w", prefix, err)
	}
	if h.module.Core != core {
		return nil, fmt.Errorf("%s: manifest.json names core %q, and this host is %q: take the helper that was built with it", prefix, h.module.Core, core)
	}
	h.module.URL = prefix
	return h, nil
}

// Module describes the helper for a shell.
func (h *Helper) Module() Module { return h.module }

// serve answers with one of the helper's files, or returns an error.
func (h *Helper) serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, h.module.URL)
	return static.Serve(w, r, h.files, name, "no-cache") // their names hold no hash, since applications know them
}
