// Image writes a container image of one static program and nothing else: no shell, no
// libraries, no user but a number. It needs no daemon and no base image, and the same
// program makes the same image. `docker load` and `podman load` read the file.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nobody is the user of images without users, as others have it.
const nobody = 65532

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "the program, a `file`")
	flag.StringVar(&o.arch, "arch", "", "its processor, as Go calls it")
	flag.StringVar(&o.version, "version", "", "its version")
	flag.StringVar(&o.commit, "commit", "", "its commit")
	flag.StringVar(&o.out, "out", "", "the `file` to write")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

type options struct{ binary, arch, version, commit, out string }

func run(o options) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is to be the time of the commit, in seconds since 1970: %w", err)
	}
	made := time.Unix(seconds, 0).UTC()
	files, err := layer(o.binary, made)
	if err != nil {
		return err
	}
	image, err := build(files, o, made)
	if err != nil {
		return err
	}
	tag, err := name.NewTag("ghcr.io/vestibule-dev/vestibule:" + o.version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(o.out, tag, image)
}

// layer is the whole file system: the program, a folder for what it writes, and one
// for temporary files, where plugins have their sockets.
func layer(binary string, made time.Time) ([]byte, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "etc/vestibule/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: "usr/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "usr/bin/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "usr/bin/vestibule", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program))},
		{Name: "var/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "var/lib/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "var/lib/vestibule/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: nobody, Gid: nobody},
	} {
		h.ModTime = made
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(program); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func build(files []byte, o options, made time.Time) (v1.Image, error) {
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(empty.Image, mutate.Addendum{Layer: l, History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "make release"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", o.arch, v1.Time{Time: made}
	user := fmt.Sprintf("%d:%d", nobody, nobody)
	config.Config = v1.Config{
		User: user, WorkingDir: "/var/lib/vestibule", Env: []string{"PATH=/usr/bin"},
		Entrypoint: []string{"/usr/bin/vestibule"}, Cmd: []string{"serve", "-c", "/etc/vestibule/config.hcl"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, StopSignal: "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title": "Vestibule", "org.opencontainers.image.licenses": "MIT",
			"org.opencontainers.image.source":  "https://github.com/vestibule-dev/vestibule",
			"org.opencontainers.image.version": o.version, "org.opencontainers.image.revision": o.commit,
		},
	}
	return mutate.ConfigFile(image, config)
}
