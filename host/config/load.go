package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

type (
	// Position is where a setting was written: in a file, or in a variable or
	// flag.
	Position = layer.Position
	// Finding is one thing that is wrong, or odd, in the configuration.
	Finding = layer.Finding //nolint:errname // see there
	// Findings are all that a check found, in the order of their positions.
	Findings = layer.Findings //nolint:errname // see there
)

// A Source is where the configuration comes from. The zero value reads
// ./config.hcl and the environment of this process.
type Source struct {
	// File is the path of config.hcl.
	File string
	// Environ are the environment variables as NAME=value; nil means the
	// process's own.
	Environ []string
	// Set are the flags, each as block.key=value.
	Set []string
}

// Load reads all layers, low to high: defaults, the file, conf.d/*.hcl beside
// it in the order of their names, environment variables, flags. It reports every
// finding at once. The Config is nil only when the file cannot be read; where
// findings are errors it holds defaults in the places of what was wrong, good
// enough for further checks and for nothing else.
func Load(src Source) (*Config, Findings) {
	if src.File == "" {
		src.File = "config.hcl"
	}
	if src.Environ == nil {
		src.Environ = os.Environ()
	}
	dir, err := filepath.Abs(filepath.Dir(src.File))
	if err != nil {
		return nil, Findings{{At: Position{File: src.File}, What: "the directory is gone", Remedy: err.Error()}}
	}
	l := &loader{
		schema: Keys(), k: koanf.New(separator), values: map[string]any{}, origins: &layer.Origins{}, lookup: lookupIn(src.Environ), dir: dir,
		empty: map[string]bool{}, defaults: map[defaultKey]any{},
	}
	l.origins.Set(layer.Origin{Position: Position{File: src.File}, BaseDir: dir})
	if !l.file(src.File) {
		return nil, l.findings
	}
	for _, name := range l.confD(src.File) {
		l.file(name)
	}
	l.outside(src)
	return l.finish(src.File)
}

func lookupIn(environ []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range slices.Backward(environ) {
			if key, value, ok := strings.Cut(pair, "="); ok && key == name {
				return value, true
			}
		}
		return "", false
	}
}

// separator joins the steps of a path in koanf; nobody types it into a label by accident.
const separator = "\x1f"

// A loader gathers the layers.
type loader struct {
	schema   schema.Block
	k        *koanf.Koanf
	values   map[string]any // those of k, which would copy them
	origins  *layer.Origins
	lookup   func(string) (string, bool)
	dir      string
	broken   bool
	empty    map[string]bool // by file
	defaults map[defaultKey]any
	findings Findings
}

// defaultKey holds all on which the value of a default depends.
type defaultKey struct {
	name, def string
	kind      schema.Kind
}

// emptyFile is what is odd about a file without a setting or a block.
const emptyFile = "the file is empty"

// file reads one file as the next layer and reports whether it could be read.
func (l *loader) file(name string) bool {
	at := Position{File: name}
	src, err := os.ReadFile(name)
	if err != nil {
		l.unreadable(at, err)
		return false
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		l.findings.Add(at, "the directory is gone", err.Error())
		return false
	}
	p := &layer.Parser{File: name, Dir: dir, Schema: l.schema, Lookup: l.lookup}
	if err := l.k.Load(rawbytes.Provider(src), p, koanf.WithMergeFunc(l.merge)); err != nil {
		l.findings.Add(at, "cannot be read", err.Error())
		return false
	}
	l.origins.Cover(p.Origins)
	l.findings = append(l.findings, p.Findings...)
	l.broken = l.broken || p.Broken
	if l.empty[name] = p.Empty; p.Empty {
		l.findings.Warn(at, emptyFile, "every setting has its default or comes from another layer; put your settings back, or write a sample with `vestibule init`")
	}
	return true
}

func (l *loader) unreadable(at Position, err error) {
	what, remedy := "cannot be read", "give it to this user, or name another file with -c"
	if errors.Is(err, fs.ErrNotExist) {
		what, remedy = "there is no such file", "write one with `vestibule init`, or name another with -c"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) && !errors.Is(err, fs.ErrNotExist) {
		what += " (" + pathErr.Err.Error() + ")"
	}
	l.findings.Add(at, what, remedy)
}

// confD lists the files of conf.d beside the file, in the order of their names.
func (l *loader) confD(file string) []string {
	names, err := filepath.Glob(filepath.Join(globEscape(filepath.Dir(file)), "conf.d", "*.hcl"))
	if err != nil {
		l.findings.Add(Position{File: file}, "conf.d cannot be listed", err.Error())
	}
	return names
}

// globEscape takes the meaning from the signs that patterns are made of.
func globEscape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// outside adds the settings of environment and flags, in this order, so that
// flags win. Each is laid over the values directly: koanf goes through all values for
// each layer.
func (l *loader) outside(src Source) {
	settings := layer.Environment(src.Environ, l.schema, &l.findings)
	for _, s := range append(settings, layer.Flags(src.Set, &l.findings)...) {
		p := &layer.Parser{Dir: l.dir, Schema: l.schema, Lookup: l.lookup}
		schema.Merge(l.values, p.Apply(s, l.values))
		l.origins.Cover(p.Origins)
		l.findings = append(l.findings, p.Findings...)
	}
}

// merge lays a layer over the others, as koanf's own merge does, and takes the result without a copy.
func (l *loader) merge(higher, lower map[string]any) error {
	schema.Merge(lower, higher)
	l.values = lower
	return nil
}

// finish completes the settings, checks what concerns several keys, and decodes the
// result.
func (l *loader) finish(file string) (*Config, Findings) {
	cfg := &Config{values: l.values, origins: l.origins, empty: l.empty, file: file, dir: l.dir}
	l.schema.Walk(cfg.values, nil, l.complete)
	if err := cfg.decode(); err != nil {
		l.findings.Add(l.origins.At(), "cannot be decoded", err.Error())
		return nil, l.findings.Sorted()
	}
	cfg.checkRules(&l.findings)
	cfg.refused = l.findings.Sorted()
	return cfg, slices.Clone(cfg.refused)
}

// complete sets the keys of a block that no layer sets, and makes paths absolute, each
// from where it was written.
func (l *loader) complete(b schema.Block, values map[string]any, path []string) {
	below := func(k schema.Key) []string { return append(path[:len(path):len(path)], k.Name) }
	for _, k := range b.Keys {
		if _, set := values[k.Name]; !set && k.Def != "" {
			values[k.Name] = l.defaultOf(k)
		} else if k.Required && !l.broken && !l.origins.Has(below(k)...) {
			l.findings.Add(l.origins.At(path...), fmt.Sprintf("%s has no %s", describePath(b, path), k.Name), fmt.Sprintf("add %s = …: %s", k.Name, k.Doc))
		}
		if s, ok := values[k.Name].(string); ok && k.Path {
			values[k.Name] = layer.Absolute(l.origins.Dir(below(k)...), s)
		}
	}
}

func describePath(b schema.Block, path []string) string {
	if b.Label == "" {
		return strings.Join(path, ".")
	}
	return fmt.Sprintf("%s %q", b.Name, path[len(path)-1])
}

// defaultOf returns the value of a key's default, which blocks share. TestDefaults holds the
// defaults; one that reads the environment is a finding when the variable does not fit.
func (l *loader) defaultOf(k schema.Key) any {
	key := defaultKey{k.Name, k.Def, k.Kind}
	value, known := l.defaults[key]
	if !known {
		value = l.evaluated(k)
		l.defaults[key] = value
	}
	return value
}

func (l *loader) evaluated(k schema.Key) any {
	var v cty.Value
	expr, diags := hclsyntax.ParseExpression([]byte(k.Def), k.Name, hcl.InitialPos)
	if !diags.HasErrors() {
		v, diags = expr.Value(layer.EvalContext(l.dir, l.lookup))
	}
	if diags.HasErrors() {
		l.findings.Add(l.origins.At(), "default of "+k.Name, diags.Error())
		return nil
	}
	value, _ := k.Convert(v, func(f Finding) { l.findings.Add(l.origins.At(), "default of "+f.What, f.Remedy) })
	return value
}
