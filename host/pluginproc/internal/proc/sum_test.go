package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The checksum of a folder is another one after every change below it, and the same for a copy.
func TestSumOfAFolder(t *testing.T) {
	folder := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "node_modules")
		for name, text := range map[string]string{"@grpc/grpc-js/index.js": "1", "@grpc/grpc-js/package.json": "{}", "b.js": "2"} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, ".bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../b.js", filepath.Join(dir, ".bin", "b")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	sum := func(t *testing.T, dir string) string {
		t.Helper()
		text, err := Sum(dir)
		if err != nil || len(text) != 64 {
			t.Fatalf("%q, %v", text, err)
		}
		return text
	}
	good := sum(t, folder(t))
	for name, change := range map[string]func(dir string) error{
		"nothing":              func(string) error { return nil },
		"an empty folder more": func(dir string) error { return os.Mkdir(filepath.Join(dir, "empty"), 0o700) },
		"another content": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "@grpc/grpc-js/index.js"), []byte("2"), 0o600)
		},
		"a file more":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "c.js"), nil, 0o600) },
		"a file less":  func(dir string) error { return os.Remove(filepath.Join(dir, "@grpc/grpc-js/package.json")) },
		"another name": func(dir string) error { return os.Rename(filepath.Join(dir, "b.js"), filepath.Join(dir, "a.js")) },
		"a link that leads out": func(dir string) error {
			return os.Rename(filepath.Join(dir, ".bin", "b"), filepath.Join(dir, "b"))
		},
		"a file for a link": func(dir string) error {
			path := filepath.Join(dir, ".bin", "b")
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("2"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if name == "a link that leads out" {
				if _, err := Sum(dir); err == nil || !strings.Contains(err.Error(), "copy its target there") {
					t.Errorf("a link out of the folder: %v", err)
				}
				return
			}
			same := name == "nothing" || name == "an empty folder more"
			if got := sum(t, dir); (got == good) != same {
				t.Errorf("the checksum is %s, before it was %s", got, good)
			}
		})
	}
	if _, err := Sum(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there has a checksum")
	}
}
