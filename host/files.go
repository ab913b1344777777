package host

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/vestibule-dev/vestibule/host/auth/fault"
)

// routeHandler returns what answers a configured route.
func (h *Host) routeHandler(route Route) (http.Handler, error) {
	switch {
	case route.File != "":
		return h.only("GET", h.fileHandler(route.File)), nil
	case route.Dir != "":
		// A root cannot be left through a symbolic link.
		root, err := os.OpenRoot(route.Dir)
		if err != nil {
			return nil, err
		}
		return h.only("GET", h.orNotFound(dirHandler(root.FS(), strings.TrimSuffix(route.Path, "/")+"/"))), nil
	case route.Proxy != nil:
		return h.proxy(route.Proxy), nil
	case route.Redirect != "":
		return http.RedirectHandler(route.Redirect, http.StatusFound), nil
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
		return serveFile(w, r, f)
	})
}

// serveFile answers with an opened file, and closes it.
func serveFile(w http.ResponseWriter, r *http.Request, f fs.File) error {
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		return err
	}
	content, ok := f.(io.ReadSeeker)
	if !ok || info.IsDir() {
		return errNoFile
	}
	http.ServeContent(w, r, info.Name(), info.ModTime(), content)
	return nil
}

// errNoFile is returned by a file server for what it does not serve.
var errNoFile = errors.New("no such file")

// A fileServer answers, or returns errNoFile and has written nothing.
type fileServer func(w http.ResponseWriter, r *http.Request) error

// orNotFound turns errNoFile into a fault.
func (h *Host) orNotFound(serve fileServer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: err})
		}
	})
}

// dirHandler serves files at prefix, a directory by its index.html and never as a
// listing. Names that begin with a dot are not served.
func dirHandler(files fs.FS, prefix string) fileServer {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, ok := strings.CutPrefix(r.URL.Path, prefix)
		if !ok && r.URL.Path+"/" == prefix {
			http.Redirect(w, r, prefix, http.StatusMovedPermanently)
			return nil
		}
		return serveFrom(files, w, r, name)
	}
}

func serveFrom(files fs.FS, w http.ResponseWriter, r *http.Request, name string) error {
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	if !fs.ValidPath(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return errNoFile
	}
	info, err := fs.Stat(files, name)
	if err != nil {
		return errNoFile
	}
	if info.IsDir() {
		if _, err := fs.Stat(files, path.Join(name, "index.html")); err != nil {
			return errNoFile
		}
		http.Redirect(w, r, path.Base(name)+"/", http.StatusMovedPermanently)
		return nil
	}
	f, err := files.Open(name)
	if err != nil {
		return errNoFile
	}
	return serveFile(w, r, f)
}
