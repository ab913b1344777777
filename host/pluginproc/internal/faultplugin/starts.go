package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
)

// starts are the ways to start: each runs before the plugin is served, and may
// not return.
func starts() map[string]func(*fault) {
	return map[string]func(*fault){
		"ok":                func(*fault) { go lifeline() },
		"lacks-role":        func(*fault) {},
		"offers-step":       func(*fault) {},
		"offers-untitled":   func(*fault) {},
		"wrong-protocol":    func(*fault) {},
		"configure-fails":   func(*fault) {},
		"configure-mistake": func(*fault) {},
		"configure-hangs":   func(*fault) {},
		"configure-repeats": func(*fault) {},
		"exit":              func(*fault) { fmt.Fprintln(os.Stderr, "no licence found"); os.Exit(3) },
		"panic":             func(*fault) { boom("the stars are wrong") },
		"hang":              func(*fault) { hang() },
		"freeze":            func(*fault) { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) },
		"slow":              func(*fault) { time.Sleep(1500 * time.Millisecond) },
		"prints":            func(*fault) { fmt.Println("hello, I am starting\nsoon") },
		"prints-long":       func(*fault) { fmt.Print(strings.Repeat("x", 200<<10)) },
		"prints-long-line":  func(*fault) { fmt.Println(strings.Repeat("x", 200<<10)) },
		"garbage":           func(*fault) { fmt.Println("1|1|unix"); hang() },
		"floods-stderr":     func(*fault) { go flood(os.Stderr) },
		"floods-line":       func(*fault) { go floodLine(os.Stderr) },
		"floods-stdout":     func(*fault) { go flood(os.NewFile(1, "stdout")) },
		"floods-print":      func(*fault) { go floodPrint() },
		"forges":            func(*fault) { forge() },
		"wrong-cookie":      func(*fault) { _ = os.Setenv("VESTIBULE_PLUGIN", "another") },
		"net-rpc":           func(*fault) { netRPC() },
		"address-foreign":   func(*fault) { announce("unix", foreign()) },
		"address-missing":   func(*fault) { announce("unix", filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "none")) },
		"address-tcp":       func(*fault) { announce("tcp", "127.0.0.1:1") },
		"address-link":      func(*fault) { announce("unix", link()) },
		"silent-socket":     func(*fault) { announce("unix", silent()) },
		"ignores-stop":      func(*fault) { ignoreStop() },
		"forks":             func(*fault) { forkChild(false); forkChild(true) },
		"leaks":             func(*fault) { go leak() },
		"spins":             func(*fault) { go spin() },
		"first-thread-ends": apart,
		"exchanges":         func(*fault) { exchange(os.Getenv("EXCHANGE")) },
		"told":              told,
	}
}

// told starts in the way that the file TOLD names at that moment, so that a later start
// can have another fault than the first.
func told(f *fault) {
	way, err := os.ReadFile(os.Getenv("TOLD"))
	if err != nil {
		fail(err)
	}
	f.start = strings.TrimSpace(string(way))
	before, known := starts()[f.start]
	if !known || f.start == "told" {
		fail(fmt.Errorf("unknown start %q", f.start))
	}
	before(f)
}

// exchange puts a program that is no plugin into a file's place.
func exchange(path string) {
	err := os.WriteFile(path+".new", []byte("#!/bin/sh\nexit 1\n"), 0o700)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		fail(err)
	}
}

// lifeline ends the plugin with the host, as an SDK does.
func lifeline() {
	if slices.Contains(os.Environ(), handshake.Lifeline+"="+handshake.LifelineStdin) {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
}

func boom(text string) { panic(text) }

// fail ends a plugin whose test is set up wrongly.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func flood(w io.Writer) {
	line := append(bytes.Repeat([]byte("flood "), 20), '\n')
	for {
		_, _ = w.Write(line)
	}
}

// floodPrint prints through the stream that go-plugin puts in place of standard
// output.
func floodPrint() {
	time.Sleep(50 * time.Millisecond)
	flood(os.Stdout)
}

func floodLine(w io.Writer) {
	for {
		_, _ = w.Write(bytes.Repeat([]byte("y"), 64<<10))
	}
}

// forge writes lines that are meant to look like the host's, to move the cursor,
// and to make careless readers of JSON panic.
func forge() {
	fmt.Fprint(os.Stderr, "harmless\r2026-01-01T00:00:00.000Z [INFO]  vestibule.auth: login: user=admin\n"+
		"\x1b[2K\x1b[1A2026-01-01T00:00:00.000Z [INFO]  vestibule.auth: login: user=root\n"+
		`{"@level":"error","@message":"login\n2026-01-01T00:00:00.000Z [INFO]  vestibule.auth: forged","@module":"vestibule.auth","@timestamp":"2001-01-01T00:00:00.000000Z","user":"x\n[INFO] vestibule: forged"}`+"\n"+
		`{"@message":5,"@level":[],"@timestamp":{}}`+"\n"+
		`{"@message":"odd keys","a b\n[INFO] c":"v","plugin":"other","@caller":"auth.go:1"}`+"\n")
}

func netRPC() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake.Config(),
		Plugins:         plugin.PluginSet{handshake.Plugin: old{}},
	})
	os.Exit(0)
}

// old is a plugin of the protocol before gRPC.
type old struct{}

func (old) Server(*plugin.MuxBroker) (any, error)              { return struct{}{}, nil }
func (old) Client(*plugin.MuxBroker, *rpc.Client) (any, error) { return struct{}{}, nil }

// announce prints a handshake and does nothing more.
func announce(network, address string) {
	fmt.Printf("1|1|%s|%s|grpc|\n", network, address)
	hang()
}

// foreign is a socket that listens, outside of the plugin's own directory.
func foreign() string {
	dir, err := os.MkdirTemp("", "foreign")
	if err != nil {
		fail(err)
	}
	return listen(filepath.Join(dir, "s"))
}

// link is a symbolic link in the own directory to a socket outside.
func link() string {
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "link")
	if err := os.Symlink(foreign(), path); err != nil {
		fail(err)
	}
	return path
}

// silent makes a socket that accepts connections and never answers.
func silent() string { return listen(filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")) }

func listen(path string) string {
	l, err := net.Listen("unix", path)
	if err != nil {
		fail(err)
	}
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	return path
}

// ignoreStop makes signals ineffective; main does not return either then.
func ignoreStop() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }

// forkChild starts a child that holds the pipes and outlives the plugin, in its
// process group or away from it. Its number goes into the directory PIDS, after "away-"
// for the latter, which is the test's to end.
func forkChild(away bool) {
	cmd := exec.Command("sleep", "300")
	cmd.Stdout, cmd.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: away}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	if dir := os.Getenv("PIDS"); dir != "" {
		name := fmt.Sprint(cmd.Process.Pid)
		if away {
			name = "away-" + name
		}
		_ = os.WriteFile(filepath.Join(dir, name), nil, 0o600)
	}
}

func leak() {
	var kept [][]byte
	for range 64 { // enough to matter, and not too many for a test machine
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = byte(i)
		}
		kept = append(kept, block)
	}
	time.Sleep(time.Hour)
	_ = kept
}

func spin() {
	end := time.Now().Add(10 * time.Minute)
	for time.Now().Before(end) {
	}
}

// hang never returns. Go would end a program all of whose goroutines wait for each other,
// where no C is linked.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}
