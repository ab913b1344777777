package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/static"
)

// File serves one file, opened anew for each request so that it can be edited
// while the host runs.
func File(name string, fail Fail) http.Handler {
	files, base := os.DirFS(filepath.Dir(name)), filepath.Base(name)
	return read(fail, func(w http.ResponseWriter, r *http.Request) error {
		if err := static.Serve(w, r, files, base, ""); err != nil {
			return notFound(fmt.Errorf("%s: %w", name, err))
		}
		return nil
	})
}

// Dir serves the files below a directory under the paths that begin with prefix:
// a directory by its index.html and never as a listing, and no names that begin
// with a dot.
func Dir(files fs.FS, prefix string, fail Fail) http.Handler {
	return read(fail, func(w http.ResponseWriter, r *http.Request) error { return serveDir(files, prefix, w, r) })
}

// Public is [Dir] at "/", except that a path without a file is 404 for every method.
func Public(files fs.FS, fail Fail) http.Handler {
	dir := Dir(files, "/", fail)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := fs.Stat(files, strings.Trim(r.URL.Path, "/")); err != nil {
			if err := serveDir(files, "/", w, r); err != nil {
				fail(w, r, err)
			}
			return
		}
		dir.ServeHTTP(w, r)
	})
}

// read answers GET and HEAD by serve.
func read(fail Fail, serve func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := checkMethod(w.Header(), http.MethodGet, r)
		if err == nil {
			err = serve(w, r)
		}
		if err != nil {
			fail(w, r, err)
		}
	})
}

// NotFound answers that there is nothing.
func NotFound(fail Fail) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fail(w, r, notFound(nil)) })
}

func notFound(cause error) error { return &fault.Fault{Code: fault.NotFound, Cause: cause} }

// serveDir answers with the file below files that the request's path names after
// prefix. A fault is returned for what is not served; nothing was written then.
func serveDir(files fs.FS, prefix string, w http.ResponseWriter, r *http.Request) error {
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok && r.URL.Path+"/" == prefix {
		http.Redirect(w, r, prefix, http.StatusMovedPermanently)
		return nil
	}
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	if !fs.ValidPath(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return notFound(fs.ErrNotExist)
	}
	if info, err := fs.Stat(files, name); err == nil && info.IsDir() {
		if _, err := fs.Stat(files, path.Join(name, "index.html")); err != nil {
			return notFound(fs.ErrNotExist)
		}
		http.Redirect(w, r, r.URL.EscapedPath()+"/", http.StatusMovedPermanently)
		return nil
	}
	if err := static.Serve(w, r, files, name, ""); err != nil {
		return notFound(err)
	}
	return nil
}
