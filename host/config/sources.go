package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/ui"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// maxManifest bounds what is read of it, in bytes.
const maxManifest = 1 << 20

// A sourcesFile is .ui5-sources.hcl.
type sourcesFile struct {
	Source map[string]source `koanf:"source" label:"module" check:"module" doc:"Replaces a front-end module."`
}

type source struct {
	Dir string `koanf:"dir" is:"path" check:"filled" doc:"compiled app with index.html and a manifest.json"`
}

func sourceKeys() schema.Block { return schema.Of(reflect.TypeFor[sourcesFile]()) }

// app is the front-end app: the embedded one, or the directory that
// .ui5-sources.hcl names. own tells which.
func (c *Config) app() (app fs.FS, own bool, findings Findings) {
	name := c.UI.Sources
	src, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.origins.Has("ui", "sources"):
		return ui.FS(), false, nil
	case err != nil:
		findings.Add(c.at("ui", "sources"), fmt.Sprintf("%s cannot be read", name), "write the file, or take sources out for the built-in app")
		return ui.FS(), false, findings
	}
	dir := filepath.Dir(name)
	p := &layer.Parser{File: c.shown(name), Dir: dir, Schema: sourceKeys(), Lookup: os.LookupEnv}
	values, err := p.Unmarshal(src)
	if err != nil {
		p.Findings.Add(Position{File: p.File}, "cannot be read", err.Error())
	}
	source := schema.Sub(schema.Sub(values, "source"), "auth")
	path, ok := source["dir"].(string)
	if !ok {
		if source != nil && !p.Broken && !p.Origins.Has("source", "auth", "dir") {
			p.Findings.Add(p.Origins.At("source", "auth"), `source "auth" has no dir`, `add dir = "my-login/dist"`)
		}
		return ui.FS(), false, p.Findings
	}
	root, err := os.OpenRoot(layer.Absolute(dir, path))
	at := p.Origins.At("source", "auth", "dir")
	if err != nil {
		p.Findings.Add(at, fmt.Sprintf("the directory %s cannot be opened", path), "build the app there, or name its directory")
		return ui.FS(), false, p.Findings
	}
	checkApp(root.FS(), path, at, &p.Findings)
	if err := (host.UIOptions{App: root.FS()}).Check(); err != nil && !p.Findings.Failed() {
		p.Findings.Add(at, fmt.Sprintf("%s cannot be served: %s", path, oneLine(err)), "correct the file, or build the app anew")
	}
	return root.FS(), true, p.Findings
}

// checkApp looks for what the host needs of a front-end app.
func checkApp(app fs.FS, dir string, at Position, f *Findings) {
	if info, err := fs.Stat(app, "index.html"); err != nil || !info.Mode().IsRegular() {
		f.Add(at, dir+" has no index.html", "name the directory with the compiled app, which is often called dist")
	}
	src, err := readSmall(app, "manifest.json")
	if err != nil {
		f.Add(at, dir+" has no manifest.json", fmt.Sprintf(`add one with {"name": "…", "version": "1.0.0", "core": %q}`, host.CoreVersion()))
		return
	}
	var manifest struct {
		Core any `json:"core"`
	}
	if err := json.NewDecoder(bytes.NewReader(src)).Decode(&manifest); err != nil {
		f.Add(at, filepath.Join(dir, "manifest.json")+" is no JSON object", err.Error())
		return
	}
	if core := host.CoreVersion(); manifest.Core != core {
		f.Add(at, fmt.Sprintf("%s names %s", filepath.Join(dir, "manifest.json"), named(manifest.Core)),
			fmt.Sprintf(`write "core": %q, a text, in an app that is made for this host`, core))
	}
}

// named is the core that a manifest names, as it stands there.
func named(core any) string {
	if core == nil {
		return "no core"
	}
	text, err := json.Marshal(core)
	if err != nil {
		return "a core that is no JSON"
	}
	return "core " + string(text)
}

func readSmall(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// shown is the path as a person would write it, from where config.hcl was named.
func (c *Config) shown(path string) string {
	if rel, err := filepath.Rel(c.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(filepath.Dir(c.file), rel)
	}
	return path
}
