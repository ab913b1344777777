//go:build !linux

package proc

import (
	"fmt"
	"os"
	"path/filepath"
)

func (im *Image) inMemory(*os.File) error {
	return fmt.Errorf("programs cannot be executed in %s: set TMPDIR to a directory where they can",
		filepath.Dir(filepath.Dir(im.path)))
}
