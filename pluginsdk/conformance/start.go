package conformance

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// An Instance is a program that is running and connected, but not configured.
type Instance struct {
	// Client talks to it.
	Client *pluginsdk.Client

	conn   *grpc.ClientConn
	socket string

	dir      string
	cmd      *exec.Cmd
	lifeline io.Closer
	exited   chan struct{}

	mu     sync.Mutex
	stdout []string // lines after the handshake
	stderr tail
}

// Start starts the program and connects to it, as a host does. The caller must
// call Stop.
func Start(ctx context.Context, p Program) (*Instance, error) {
	dir, err := os.MkdirTemp("/tmp", "vc") // short, as a socket's path must be
	if err != nil {
		return nil, err
	}
	in := &Instance{dir: dir, exited: make(chan struct{})}
	config, certificate, err := identity()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	handshake, err := in.execute(p, append(environment(p),
		handshake.Cookie+"="+handshake.CookieValue,
		handshake.Lifeline+"="+handshake.LifelineStdin,
		"PLUGIN_PROTOCOL_VERSIONS="+strconv.Itoa(handshake.Protocol),
		"PLUGIN_UNIX_SOCKET_DIR="+dir,
		"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000",
		"PLUGIN_CLIENT_CERT="+certificate))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	select {
	case line, ok := <-handshake:
		if !ok {
			err = errors.New("it ended without a handshake")
		} else {
			err = in.connect(line, config)
		}
	case <-time.After(startLimit):
		err = fmt.Errorf("it printed no handshake within %s", startLimit)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		in.Stop()
		return nil, fmt.Errorf("%w%s", err, in.printed())
	}
	return in, nil
}

// execute starts the process. The channel gives the handshake line, or is closed
// when there is none.
func (in *Instance) execute(p Program, env []string) (<-chan string, error) {
	if len(p.Command) == 0 {
		return nil, errors.New("there is no command")
	}
	in.cmd = exec.Command(p.Command[0], p.Command[1:]...)
	in.cmd.Dir, in.cmd.Env, in.cmd.Stderr = p.Dir, env, &in.stderr
	in.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in.cmd.WaitDelay = time.Second
	lifeline, err := in.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, w := io.Pipe()
	in.lifeline, in.cmd.Stdout = lifeline, w
	if err := in.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Command[0], err)
	}
	go func() {
		_ = in.cmd.Wait() // how it ended is told by what it printed
		_ = w.Close()
		close(in.exited)
	}()
	lines := make(chan string, 1)
	go in.read(stdout, lines)
	return lines, nil
}

func (in *Instance) read(stdout io.Reader, handshake chan<- string) {
	defer close(handshake)
	r, found := bufio.NewReader(stdout), false
	for {
		line, err := r.ReadString('\n')
		switch {
		case !found && strings.Count(line, "|") >= 4:
			found = true
			handshake <- strings.TrimSpace(line)
		case line != "":
			in.mu.Lock()
			in.stdout = append(in.stdout, line[:min(len(line), 80)])
			in.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// connect checks the handshake, part by part, and dials.
func (in *Instance) connect(line string, config *tls.Config) error {
	parts := strings.Split(line, "|")
	if len(parts) < 6 {
		return fmt.Errorf("the handshake %q has %d parts, not 6", line, len(parts))
	}
	in.socket = parts[3]
	info, err := os.Lstat(in.socket)
	switch {
	case parts[0] != "1":
		return fmt.Errorf("the handshake's core protocol is %q, not 1", parts[0])
	case parts[1] != strconv.Itoa(handshake.Protocol):
		return fmt.Errorf("the handshake's protocol is %q, not %d", parts[1], handshake.Protocol)
	case parts[2] != "unix":
		return fmt.Errorf("the handshake's network is %q, not unix", parts[2])
	case filepath.Dir(in.socket) != in.dir:
		return fmt.Errorf("the handshake's address %q is not in PLUGIN_UNIX_SOCKET_DIR", in.socket)
	case err != nil || info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("at the handshake's address %q is no socket", in.socket)
	case parts[4] != "grpc":
		return fmt.Errorf("the handshake's kind is %q, not grpc", parts[4])
	}
	der, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(parts[5], "="))
	if err != nil {
		return fmt.Errorf("the handshake's certificate is not base64: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return fmt.Errorf("the handshake's certificate: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AddCert(certificate)
	in.conn, err = dial(in.socket, config)
	if err != nil {
		return err
	}
	in.Client = &pluginsdk.Client{Conn: in.conn}
	return nil
}

func dial(socket string, config *tls.Config) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///localhost", append(handshake.DialOptions(),
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}))...)
}

// ended waits for the end of the process.
func (in *Instance) ended(limit time.Duration) bool {
	select {
	case <-in.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

// Signal sends the process a signal.
func (in *Instance) Signal(s os.Signal) error { return in.cmd.Process.Signal(s) }

// Stop ends the process at once and removes what it left. It may be called twice.
func (in *Instance) Stop() {
	if in.conn != nil {
		_ = in.conn.Close()
	}
	_ = in.lifeline.Close()
	_ = syscall.Kill(-in.cmd.Process.Pid, syscall.SIGKILL) // it may be gone
	<-in.exited
	_ = os.RemoveAll(in.dir)
}

// printed is the end of what the process wrote on standard error.
func (in *Instance) printed() string {
	text := strings.TrimSpace(in.stderr.String())
	if text == "" {
		return ""
	}
	return "; it printed: " + text
}

// A tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of p and of what was written before.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 2000; over > 0 {
		t.text = slices.Clone(t.text[over:])
	}
	return len(p), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

func environment(p Program) []string {
	var env []string
	for _, key := range []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"} {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	for key, value := range p.Env {
		env = append(env, key+"="+value)
	}
	return env
}

// identity is the client's side of AutoMTLS: a certificate, and its PEM text.
func identity() (*tls.Config, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, "", err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ServerName:   "localhost",
		MinVersion:   tls.VersionTLS12,
	}, string(text), nil
}
