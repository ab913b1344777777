package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A kit is the demo's programs and data in a folder, built from this checkout.
type kit struct{ root, dir, password string }

// newKit builds the programs and makes the data. root is that of the checkout.
func newKit(ctx context.Context, root, dir string) (*kit, error) {
	k := &kit{root: root, dir: dir}
	if _, err := k.run(ctx, "go", "build", "-o", dir+"/", "./host/cmd/vestibule", "./plugins/orgsetup", "./plugins/terms"); err != nil {
		return nil, err
	}
	said, err := k.run(ctx, "go", "run", "./examples/shop", "-db", k.database())
	if err != nil {
		return nil, err
	}
	found := regexp.MustCompile(`Password: +(\S+)`).FindStringSubmatch(said)
	if found == nil {
		return nil, fmt.Errorf("the shop names no password: %s", said)
	}
	k.password = found[1]
	return k, nil
}

func (k *kit) database() string { return filepath.Join(k.dir, "shop.db") }

func (k *kit) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = k.root, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out), nil
}

// A demo is the demo's host, which serves.
type demo struct {
	*contestant
	// log holds the lines of its log until it was ready.
	log []string
}

// start starts the host with a setting of server.memory, on a copy of the data: a commit of another process ends what a host
// remembers of a SQLite file.
func (k *kit) start(memory string) (*demo, error) {
	copied, err := k.copied()
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "-c", "config.hcl", "--set", "server.memory=" + memory, "--set", "server.drain=0s"}
	for key, value := range map[string]string{
		"server.address": "127.0.0.1:0", "database.dsn": copied, "mail.dir": k.dir, "server.log.format": "json",
		"plugin.orgs.command": filepath.Join(k.dir, "orgsetup"), "plugin.terms.command": filepath.Join(k.dir, "terms"),
	} {
		args = append(args, "--set", key+"="+value)
	}
	cmd := exec.Command(filepath.Join(k.dir, "vestibule"), args...)
	cmd.Dir = k.root
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	logged, err := os.Create(filepath.Join(k.dir, "log"))
	if err != nil {
		return nil, err
	}
	defer logged.Close() //nolint:errcheck // the host has it open
	cmd.Stderr = logged
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &demo{contestant: &contestant{cmd: cmd, stdin: out}}
	line, _ := bufio.NewReader(out).ReadString('\n') // what failed is in the log
	found := regexp.MustCompile(`http://\S+`).FindString(line)
	text, err := os.ReadFile(logged.Name())
	d.log = strings.Split(string(text), "\n")
	if err != nil || found == "" {
		return nil, errors.Join(err, fmt.Errorf("the demo does not start: %s", text), d.end())
	}
	d.base = found
	return d, nil
}

// copied returns the path of a new copy of the data.
func (k *kit) copied() (string, error) {
	data, err := os.ReadFile(k.database())
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(k.dir, "host-*.db")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Close())
}

// end ends the host and waits for it, and for its plugins by that.
func (d *demo) end() error {
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- d.cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		return errors.Join(errors.New("the demo does not end"), d.cmd.Process.Kill())
	}
}

// memoryOf returns a field of a process's status in MiB: VmRSS is its resident memory, VmHWM the peak of that.
func memoryOf(pid int, field string) int {
	kib, _, _ := strings.Cut(status(pid, field+":"), " ")
	n, _ := strconv.Atoi(kib)
	return n >> 10
}

// plugins returns the resident memory of the plugins in MiB.
func (d *demo) plugins() (sum int) {
	pid := d.cmd.Process.Pid
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // of the kernel
		for _, child := range strings.Fields(string(children)) {
			n, _ := strconv.Atoi(child)
			sum += memoryOf(n, "VmRSS")
		}
	}
	return sum
}
