package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/magiconair/properties"
	"golang.org/x/text/language"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// textsName is how the files of odata.i18n begin, as those of OpenUI5 do.
const textsName = "i18n"

// texts reads the files of odata.i18n, i18n.properties first, which all languages fall
// back on. It returns nil where there is no such setting.
func (c *Config) texts() (*edm.Texts, Findings) {
	if c.OData.I18n == nil {
		return nil, nil
	}
	var f Findings
	dir, at := *c.OData.I18n, c.at("odata", "i18n")
	files, _ := filepath.Glob(filepath.Join(globEscape(dir), textsName+"_*.properties")) // the pattern is well formed
	t := &edm.Texts{}
	for _, file := range append([]string{filepath.Join(dir, textsName+".properties")}, files...) {
		tag := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".properties"), textsName)
		tag = strings.ReplaceAll(strings.TrimPrefix(tag, "_"), "_", "-")
		if _, err := language.Parse(tag); err != nil && tag != "" {
			f.Add(at, fmt.Sprintf("odata.i18n: %s is of no language", c.shown(file)), "name it "+textsName+"_de.properties, with the BCP 47 tag of a language")
			continue
		}
		bundle, err := bundle(file)
		switch {
		case errors.Is(err, os.ErrNotExist):
			f.Add(at, fmt.Sprintf("odata.i18n: there is no file %s", c.shown(file)), "make it, or correct the path: it has the texts for all languages without a file of their own")
		case err != nil:
			f.Add(at, fmt.Sprintf("odata.i18n: %s cannot be read: %s", c.shown(file), oneLine(err)), "correct it: lines of key = text, in UTF-8")
		default:
			t.Languages, t.Bundles = append(t.Languages, tag), append(t.Bundles, bundle)
		}
	}
	if f.Failed() {
		return nil, f
	}
	c.checkTexts(&f, t)
	return t, f
}

// bundle reads the texts of a file.
func bundle(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	p, err := loader.LoadBytes(text)
	if err != nil {
		return nil, err
	}
	return p.Map(), nil
}

// checkTexts warns of keys that a file lacks. What has a blank is a text itself.
func (c *Config) checkTexts(f *Findings, t *edm.Texts) {
	told := map[string]bool{}
	check := func(text *string, path ...string) {
		if text == nil || strings.ContainsAny(*text, " \t\n\u00a0") {
			return
		}
		for i, bundle := range t.Bundles {
			name := textsName + ".properties"
			if tag := t.Languages[i]; tag != "" {
				name = textsName + "_" + strings.ReplaceAll(tag, "-", "_") + ".properties"
			}
			if _, ok := bundle[*text]; ok || told[name+" "+*text] {
				continue
			}
			told[name+" "+*text] = true
			f.Warn(c.at(append([]string{"odata"}, path...)...), fmt.Sprintf("%s: %s has no key %q", strings.Join(path, "."), c.shown(filepath.Join(*c.OData.I18n, name)), *text),
				fmt.Sprintf("add the line %s = … to it; a text with a blank in it is none", *text))
		}
	}
	for _, kind := range []string{"entity_set", "singleton"} {
		blocks := c.OData.EntitySets
		if kind == "singleton" {
			blocks = c.OData.Singletons
		}
		for _, name := range labels(c, blocks, "odata", kind) {
			s := blocks[name]
			check(s.Title, kind, name, "title")
			check(s.TitlePlural, kind, name, "title_plural")
			check(s.Description, kind, name, "description")
			for _, column := range labels(c, s.Properties, "odata", kind, name, "property") {
				p := s.Properties[column]
				check(p.Label, kind, name, "property", column, "label")
				check(p.Description, kind, name, "property", column, "description")
			}
		}
	}
	for _, name := range labels(c, c.OData.Enums, "odata", "enum") {
		shown := c.OData.Enums[name].Labels
		for _, member := range slices.Sorted(maps.Keys(shown)) {
			label := shown[member]
			check(&label, "enum", name, "labels", member)
		}
	}
}
