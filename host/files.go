package host

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/route"
)

// routeHandler returns what answers a configured route.
func (h *Host) routeHandler(to Route) (http.Handler, error) {
	switch {
	case to.File != "":
		return h.only("GET", h.fileHandler(to.File)), nil
	case to.Dir != "":
		// A root cannot be left through a symbolic link.
		root, err := os.OpenRoot(to.Dir)
		if err != nil {
			return nil, err
		}
		return h.only("GET", h.dirHandler(root.FS(), strings.TrimSuffix(to.Path, "/")+"/")), nil
	case to.Proxy != nil:
		return h.proxy(to.Proxy), nil
	case to.Redirect != "":
		return http.RedirectHandler(to.Redirect, http.StatusFound), nil
	}
	return nil, errors.New("has none of file, dir, proxy and redirect")
}

// fileHandler serves one file, opened anew for each request so that it can be
// edited while the host runs.
func (h *Host) fileHandler(name string) http.Handler {
	return h.orNotFound(func(w http.ResponseWriter, r *http.Request) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return route.ServeFile(w, r, f)
	})
}

// dirHandler serves the files below a directory.
func (h *Host) dirHandler(files fs.FS, prefix string) http.Handler {
	return h.orNotFound(func(w http.ResponseWriter, r *http.Request) error {
		return route.ServeDir(files, prefix, w, r)
	})
}

// orNotFound turns the error of a file that is not there into a fault.
func (h *Host) orNotFound(serve func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: err})
		}
	})
}

// publicFile serves the public files. A path without one is not found whatever
// the method.
func (h *Host) publicFile() http.Handler {
	serve := h.dirHandler(h.public, "/")
	only := h.only("GET", serve)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := fs.Stat(h.public, strings.Trim(r.URL.Path, "/")); err != nil {
			serve.ServeHTTP(w, r)
			return
		}
		only.ServeHTTP(w, r)
	})
}
