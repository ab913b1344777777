package mail

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

//go:embed templates/*.txt templates/*.html
var builtin embed.FS

// maxTemplate bounds a template file, in bytes.
const maxTemplate = 256 << 10

// LoadTemplates reads the templates: the built-in ones when dir is empty, and
// otherwise those with the files of dir laid over them, so that a directory may
// replace one file or all of them. mails are those that plugins send; dir must have them.
//
// The files are named <purpose>.txt and <purpose>.html for the default language,
// and <purpose>_<language>.txt and .html for another, with those of
// [Purposes] and the names of mails. A language beyond the built-in en and
// de needs both files. The first line of a .txt file is "Subject: …", followed by
// an empty line. All is parsed and tried with sample data here; the error lists
// every fault with its file, and how to mend it. Files other than .txt and .html
// are ignored.
func LoadTemplates(dir string, mails ...string) (*Templates, error) {
	base, err := fs.Sub(builtin, "templates")
	if err != nil {
		return nil, err
	}
	t := &Templates{texts: map[string]text{}, purposes: Purposes()}
	var faults []error
	for _, name := range mails {
		switch {
		case !reserved.MailName(name):
			faults = append(faults, fmt.Errorf("%q is no name of a mail: %s", name, reserved.MailNameRule))
		case !slices.Contains(t.purposes, name):
			t.purposes = append(t.purposes, name)
		}
	}
	layers := overlay{base}
	if dir != "" {
		own, err := os.OpenRoot(dir)
		if err != nil {
			return nil, fmt.Errorf("mail templates: %w: create the directory, or set mail.templates to null for the built-in ones", err)
		}
		defer func() { _ = own.Close() }()
		layers = overlay{own.FS(), base}
		faults = append(faults, t.unknown(own.FS())...)
	}
	names, err := layers.names()
	if err != nil {
		return nil, fmt.Errorf("mail templates: %w", err)
	}
	for _, purpose := range t.purposes {
		faults = append(faults, t.load(layers, names, purpose)...)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("mail templates: %w", errors.Join(faults...))
	}
	return t, nil
}

// load reads all languages of one purpose and tries them.
func (t *Templates) load(fsys overlay, names []string, purpose string) []error {
	var faults []error
	langs := t.languages(names, purpose)
	if !slices.Contains(langs, "") {
		langs = append(langs, "")
	}
	for _, lang := range langs {
		name := key(purpose, lang)
		txt, err := parse(fsys, name+".txt", name+".html")
		if err == nil {
			t.texts[name] = txt
			err = t.try(purpose, lang)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s.txt and %s.html belong together: add the missing one", name, name)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// languages lists the languages that names has files of the purpose for; the
// default one is "".
func (t *Templates) languages(names []string, purpose string) []string {
	var langs []string
	for _, name := range names {
		p, lang, ok := t.splitName(name)
		if ok && p == purpose && !slices.Contains(langs, lang) {
			langs = append(langs, lang)
		}
	}
	slices.Sort(langs)
	return langs
}

// splitName takes the name of a template file apart.
func (t *Templates) splitName(name string) (purpose, lang string, ok bool) {
	stem, isTemplate := trimExt(name)
	if !isTemplate {
		return "", "", false
	}
	if slices.Contains(t.purposes, stem) {
		return stem, "", true
	}
	for _, p := range t.purposes {
		if lang, found := strings.CutPrefix(stem, p+"_"); found && lang != "" && lang == strings.ToLower(lang) {
			return p, lang, true
		}
	}
	return "", "", false
}

func trimExt(name string) (stem string, isTemplate bool) {
	ext := path.Ext(name)
	stem = strings.TrimSuffix(name, ext)
	return stem, (ext == ".txt" || ext == ".html") && !strings.HasPrefix(name, ".")
}

// unknown finds files that look like templates and would silently do nothing.
func (t *Templates) unknown(fsys fs.FS) []error {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return []error{err}
	}
	var faults []error
	for _, e := range entries {
		_, isTemplate := trimExt(e.Name())
		if _, _, ok := t.splitName(e.Name()); isTemplate && !ok {
			faults = append(faults, fmt.Errorf("%s: no mail is named so: use %s, or those with a lower-case language such as _de, or name it in mails of a plugin",
				e.Name(), strings.Join(t.purposes, " or ")))
		}
	}
	return faults
}

// overlay opens a name in the first file system that has it.
type overlay []fs.FS

func (o overlay) Open(name string) (fs.File, error) {
	var err error
	for _, fsys := range o {
		var f fs.File
		if f, err = fsys.Open(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}

func (o overlay) names() ([]string, error) {
	var names []string
	for _, fsys := range o {
		entries, err := fs.ReadDir(fsys, ".")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func read(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxTemplate+1))
	if err == nil && len(b) > maxTemplate {
		err = fmt.Errorf("%s: larger than %d bytes", name, maxTemplate)
	}
	return string(b), err
}
