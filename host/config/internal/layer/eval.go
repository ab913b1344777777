package layer

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// maxFile bounds what file() reads.
const maxFile = 1 << 20

// EvalContext holds what expressions in a configuration file may use: the
// functions env and file, and no variables.
func EvalContext(dir string, lookup func(string) (string, bool)) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: map[string]function.Function{
		"env":  envFunction(lookup),
		"file": fileFunction(dir),
	}}
}

// envFunction is env(name, default). Without a default the variable must be set.
func envFunction(lookup func(string) (string, bool)) function.Function {
	return function.New(&function.Spec{
		Description: "env(name, default) is the environment variable name, or default where it is not set",
		Params:      []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam:    &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowMarked: true, AllowDynamicType: true},
		Type:        function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) > 2 {
				return cty.NilVal, fmt.Errorf("env takes a name and a default")
			}
			name := args[0].AsString()
			if value, ok := lookup(name); ok {
				return cty.StringVal(value).Mark(schema.FromEnv), nil
			}
			if len(args) == 1 {
				return cty.NilVal, function.NewArgErrorf(0, "the environment variable %s is not set: set it, or give a default as the second argument", name)
			}
			return args[1], nil
		},
	})
}

// fileFunction is file(path): the content of a text file, without the line end
// at its end.
func fileFunction(dir string) function.Function {
	return function.New(&function.Spec{
		Description: "file(path) is the content of a text file",
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			content, err := readText(Absolute(dir, args[0].AsString()))
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.StringVal(content).Mark(schema.FromFile), nil
		},
	})
}

// Absolute is path seen from dir; an empty path stays empty.
func Absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", fmt.Errorf("%s is no file of at most %d bytes", path, maxFile)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return trimLineEnd(string(content)), nil
}

func trimLineEnd(s string) string {
	for _, end := range []string{"\n", "\r"} {
		if n := len(s); n > 0 && s[n-1:] == end {
			s = s[:n-1]
		}
	}
	return s
}
