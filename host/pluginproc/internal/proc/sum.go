package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

// Sum returns the hexadecimal SHA-256 of a file, as config.hcl wants it. That of a folder
// is of a list of everything below it, in the order of the names: of each file and each
// link the name and a checksum, for a link that of the name of its target. A link out
// of the folder is an error, because nothing vouches for its target.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("checksum: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return sumFolder(path)
	}
	return sumOf(f, io.Discard)
}

func sumFolder(path string) (string, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return "", fmt.Errorf("checksum: %w", err)
	}
	defer func() { _ = root.Close() }()
	list := sha256.New()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, err := sumEntry(root, name, d)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = fmt.Fprintf(list, "%s %s %q\n", d.Type(), sum, name)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("checksum of %s: %w", path, err)
	}
	return hex.EncodeToString(list.Sum(nil)), nil
}

// sumEntry returns the checksum of a file, or of the name of the target of a link.
func sumEntry(root *os.Root, name string, d fs.DirEntry) (string, error) {
	switch d.Type() {
	case fs.ModeSymlink:
		if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", finding.Finding{What: fmt.Sprintf("this link cannot be followed within the folder: %v", err), Remedy: "copy its target there"}
		}
		target, err := root.Readlink(name)
		sum := sha256.Sum256([]byte(target))
		return hex.EncodeToString(sum[:]), err
	case 0:
		f, err := root.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		return sumOf(f, io.Discard)
	}
	return "", finding.Finding{What: "this is neither a file nor a folder nor a link", Remedy: "take it away"}
}
