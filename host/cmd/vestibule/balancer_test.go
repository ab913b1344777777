package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A balancer is started with the configuration of its page in docs/operations.
type balancer struct {
	name, program, listen string
	trusted               *x509.CertPool // its certificate
	done                  context.Context
	finish                context.CancelFunc

	mu     sync.Mutex
	asked  int
	failed []string
}

func newBalancer(t *testing.T, name string) *balancer {
	t.Helper()
	b := &balancer{name: name, listen: unusedAddress(t)}
	for _, place := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if found, err := exec.LookPath(place); err == nil {
			b.program = found
		}
	}
	if b.program == "" && os.Getenv("REQUIRE_PROXIES") != "" {
		t.Fatalf("no %s: apt-get install %s", name, name)
	}
	if b.program == "" {
		t.Skipf("no %s: apt-get install %s", name, name)
	}
	b.done, b.finish = context.WithCancel(context.Background())
	t.Cleanup(b.finish)
	return b
}

// start fills two hosts, and how often they are asked, into the configuration, and
// returns when the balancer listens.
func (b *balancer) start(t *testing.T, every string, hosts ...string) {
	t.Helper()
	// Not below t.TempDir(), whose path may be too long for a configuration.
	dir, err := os.MkdirTemp("", "balancer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b.trusted = newCertificate(t, dir)
	text, args := b.settings(t, dir, every)
	for i, address := range hosts {
		text = fill(t, text, []string{fmt.Sprintf("10.0.0.%d:8080", i+1), address})
	}
	path := filepath.Join(dir, "settings")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	cmd := exec.Command(b.program, append(args, path)...)
	cmd.Env, cmd.Dir = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir), dir
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", b.name, output.String())
		}
	})
	for range 1200 {
		if conn, err := net.Dial("tcp", b.listen); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", b.name)
}

// settings returns the page's configuration for this machine, and the arguments before
// the name of its file.
func (b *balancer) settings(t *testing.T, dir, every string) (text string, args []string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(b.listen)
	both, cert, key := filepath.Join(dir, "both"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	switch b.name {
	case "nginx":
		text = fill(t, pageBlock(t, "nginx.md", "nginx"), []string{"listen 443 ssl", "listen " + b.listen + " ssl", "/etc/nginx/app.crt", cert, "/etc/nginx/app.key", key})
		head := ""
		if os.Getuid() == 0 {
			head = "user root;\n"
		}
		head += "daemon off;\nmaster_process off;\npid " + filepath.Join(dir, "pid") + ";\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			head += kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
		}
		return head + text + "\n}", []string{"-e", "stderr", "-p", dir, "-c"}
	case "caddy":
		site := "{\n\tadmin off\n\tauto_https off\n}\nhttps://app.example.com:" + port + " {\n\tbind 127.0.0.1\n\ttls " + cert + " " + key
		return fill(t, pageBlock(t, "caddy.md", "caddyfile"), []string{"app.example.com {", site, "health_interval 2s", "health_interval " + every}),
			[]string{"run", "--adapter", "caddyfile", "--config"}
	default:
		return fill(t, pageBlock(t, "haproxy.md", "haproxy"), []string{"bind :443", "bind " + b.listen, "/etc/haproxy/app.pem", both, "inter 2s", "inter " + every}),
			[]string{"-db", "-f"}
	}
}

// pageBlock returns the text of the first block in a language on a page of
// docs/operations.
func pageBlock(t *testing.T, page, language string) string {
	t.Helper()
	_, block, found := strings.Cut(document(t, "operations/"+page), "\n```"+language+"\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		t.Fatalf("docs/operations/%s has no text in %s", page, language)
	}
	return block
}

// fill replaces what must be in the text.
func fill(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the configuration does not say %s", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// client returns one that knows the way to app.example.com, where the balancer is.
func (b *balancer) client(keepAlive bool) *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: !keepAlive, TLSClientConfig: &tls.Config{RootCAs: b.trusted},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", b.listen)
		},
	}}
}

// newCertificate writes one for app.example.com, its key, and both in one file.
func newCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"app.example.com"}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, text := range map[string][]byte{"cert": certPEM, "key": keyPEM, "both": append(certPEM[:len(certPEM):len(certPEM)], keyPEM...)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return pool
}

// unusedAddress returns a loopback address that nobody listens on.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
