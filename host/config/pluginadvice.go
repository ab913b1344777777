package config

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// columnWait bounds how long commands that need no database wait for one, to learn
// the columns of users.
const columnWait = 5 * time.Second

// GrantColumns returns the plugins with the columns that they are granted under the
// names that the database has, as serving would, and what is to be said about them
// as warnings. Where the database cannot be asked the names stay as they are written.
func (c *Config) GrantColumns(ctx context.Context, plugins []host.Plugin) ([]host.Plugin, Findings) {
	if !slices.ContainsFunc(plugins, func(p host.Plugin) bool { return len(p.UserRead)+len(p.UserWrite) > 0 }) {
		return plugins, nil
	}
	ctx, cancel := context.WithTimeout(ctx, columnWait)
	defer cancel()
	r := &columnResolver{config: c}
	var err error
	unseen := c.look(ctx, func(db *store.DB, _ string) {
		var columns []store.Column
		columns, err = userColumns(ctx, db)
		r.names = columnNames(columns)
	})
	if err != nil {
		unseen = Findings{c.databaseFinding(err)}
	}
	if unseen != nil {
		unseen[0].What, unseen[0].Warning = "user_read and user_write were not compared with the table users: "+unseen[0].What, true
		return plugins, unseen
	}
	plugins = slices.Clone(plugins)
	for i := range plugins {
		p := &plugins[i]
		for key, grants := range map[string]*[]string{"user_read": &p.UserRead, "user_write": &p.UserWrite} {
			written := *grants
			*grants = r.grants(written, p.Name, key)
			if slices.Equal(written, *grants) {
				continue
			}
			r.found.Warn(c.at("plugin", p.Name, key), fmt.Sprintf("plugin %q: the table users has these columns in another case", p.Name), "write "+key+" = "+hclText(texts(*grants)))
		}
	}
	for i := range r.found {
		r.found[i].Warning = true
	}
	return plugins, r.found
}

// AdvisePlugin returns what the block of a plugin that passed its checks still lacks,
// as warnings.
func (c *Config) AdvisePlugin(p host.Plugin) (Findings, error) {
	var f Findings
	own, err := ownFiles(p)
	if err != nil {
		return nil, err
	}
	at := c.at("plugin", p.Name)
	if own.sha256 != "" && p.SHA256 == "" {
		f.Warn(at, fmt.Sprintf("plugin %q: whoever can write %s decides what runs", p.Name, p.Command[0]), fmt.Sprintf("add sha256 = %q", own.sha256))
	}
	for _, file := range own.files {
		if p.Checksums[file] != "" {
			continue
		}
		sum, err := host.PluginSum(file)
		if err != nil {
			return nil, err
		}
		f.Warn(at, fmt.Sprintf("plugin %q: whoever can write %s decides what runs", p.Name, file), fmt.Sprintf("add checksums = { %q = %q }", relative(p.Dir, file), sum))
	}
	return f, nil
}

// PluginBlock returns the block of config.hcl, in the folder dir, for a program that
// no configuration names yet, with the checksums of the bytes that were checked.
func PluginBlock(dir string, p host.Plugin, report host.PluginReport) (string, error) {
	own, err := ownFiles(p)
	if err != nil {
		return "", err
	}
	name := report.Name
	if !reserved.PluginName(name) {
		name = "plugin"
	}
	command := []string{relative(dir, p.Command[0])}
	for _, arg := range p.Command[1:] {
		if file, ok := regular(p.Dir, arg); ok {
			arg = relative(dir, file)
		}
		command = append(command, arg)
	}
	file := hclwrite.NewEmptyFile()
	body := file.Body().AppendNewBlock("plugin", []string{name}).Body()
	body.SetAttributeValue("command", texts(command))
	body.SetAttributeValue("roles", texts(report.Roles))
	if own.sha256 != "" {
		body.SetAttributeValue("sha256", cty.StringVal(own.sha256))
	}
	if len(own.files) > 0 {
		sums := map[string]cty.Value{}
		for _, one := range own.files {
			sum, err := host.PluginSum(one)
			if err != nil {
				return "", err
			}
			sums[relative(dir, one)] = cty.StringVal(sum)
		}
		body.SetAttributeValue("checksums", cty.MapVal(sums))
	}
	if err := writeConfigBlock(body, p.Config); err != nil {
		return "", err
	}
	hint := "  # user_read = [], user_write = []: columns of users that it may see and change\n"
	if slices.Contains(report.Roles, "identity_provider") {
		hint += fmt.Sprintf("  # identity %[1]q { plugin = %[1]q }: the block that puts its button on the sign-in page\n", name)
	}
	if slices.Contains(report.Roles, roleValidator) {
		hint += fmt.Sprintf("  # validator = %q: the line for the block write of each entity_set whose changes it judges\n", name)
	}
	return strings.TrimSuffix(string(hclwrite.Format(file.Bytes())), "}\n") + hint + "}\n", nil
}

// writeConfigBlock adds the config block that a plugin was checked with, if it has values.
func writeConfigBlock(body *hclwrite.Body, config json.RawMessage) error {
	if config == nil {
		return nil
	}
	kind, err := ctyjson.ImpliedType(config)
	if err != nil {
		return fmt.Errorf("read the config block: %w", err)
	}
	value, err := ctyjson.Unmarshal(config, kind)
	if err != nil {
		return fmt.Errorf("read the config block: %w", err)
	}
	if !kind.IsObjectType() || value.LengthInt() == 0 {
		return nil
	}
	block := body.AppendNewBlock("config", nil).Body()
	values := value.AsValueMap()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		block.SetAttributeValue(key, values[key])
	}
	return nil
}

// own are the files that are a plugin's code.
type own struct {
	// sha256 is that of the program, empty for an interpreter that was given a script.
	sha256 string
	// files are scripts, and SDKs beside them, and the folder of the modules that the SDK of
	// Node loads.
	files []string
}

func ownFiles(p host.Plugin) (own, error) {
	var out own
	scripts := []string{p.Command[0]}
	for _, arg := range p.Command[1:] {
		if file, ok := regular(p.Dir, arg); ok {
			scripts = append(scripts, file)
		}
	}
	out.files = scripts[1:]
	if len(out.files) == 0 {
		sum, err := host.PluginSum(p.Command[0])
		if err != nil {
			return out, err
		}
		out.sha256 = sum
	}
	for _, script := range scripts {
		sdk := map[string]string{".js": "vestibule.js", ".py": "vestibule.py"}[filepath.Ext(script)]
		if file, ok := regular(filepath.Dir(script), sdk); sdk != "" && ok {
			out.files = append(out.files, file)
		}
		if modules := modulesOf(filepath.Dir(script)); filepath.Ext(script) == ".js" && modules != "" {
			out.files = append(out.files, modules)
		}
	}
	return out, nil
}

// modulesOf returns the folder node_modules from which Node loads gRPC for a script in dir,
// as an absolute path; empty where there is none.
func modulesOf(dir string) string {
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		modules := filepath.Join(dir, "node_modules")
		if info, missing := os.Stat(filepath.Join(modules, "@grpc", "grpc-js")); missing == nil && info.IsDir() {
			return modules
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// regular returns the absolute path of a file that name leads to from dir.
func regular(dir, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	file, err := filepath.Abs(name)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(file)
	return file, err == nil && info.Mode().IsRegular()
}

// relative is the path of a file as config.hcl in dir writes it: from there where the
// file lies below it.
func relative(dir, file string) string {
	path, err := filepath.Rel(dir, file)
	if err != nil || path == ".." || strings.HasPrefix(path, "../") {
		return file
	}
	if !strings.Contains(path, "/") {
		return "./" + path // a bare name would be looked up in PATH
	}
	return path
}

func texts(list []string) cty.Value {
	values := make([]cty.Value, len(list))
	for i, s := range list {
		values[i] = cty.StringVal(s)
	}
	if len(values) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	return cty.ListVal(values)
}

func hclText(v cty.Value) string { return string(hclwrite.TokensForValue(v).Bytes()) }
