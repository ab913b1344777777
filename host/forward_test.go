package host_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A certificate of app.example.com, as files and for clients.
type certificate struct {
	cert, key, both string
	pool            *x509.CertPool
	pair            tls.Certificate
}

func newCertificate(t *testing.T, dir string) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "app.example.com"}, DNSNames: []string{"app.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	c := certificate{filepath.Join(dir, "app.crt"), filepath.Join(dir, "app.key"), filepath.Join(dir, "app.pem"), x509.NewCertPool(), tls.Certificate{}}
	c.pool.AppendCertsFromPEM(certPEM)
	for name, data := range map[string][]byte{c.cert: certPEM, c.key: keyPEM, c.both: append(bytes.Clone(certPEM), keyPEM...)} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c.pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return c
}

// recipe returns the text of a file for a proxy, to which the documentation links.
func recipe(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/forward-auth.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../examples/forward-auth/" + name)
	if err != nil || !strings.Contains(string(page), "](../examples/forward-auth/"+name+")") {
		t.Fatalf("docs/forward-auth.md links to no recipe %s: %v", name, err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// A recipe's names of what differs in a test.
type places struct {
	dir, host, app, listen string
	cert                   certificate
	query                  string // more to ask for
}

// fill puts the test's addresses into a recipe; every one must be in it.
func (p places) fill(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	pairs = append(pairs, "127.0.0.1:8080", p.host)
	if strings.Contains(text, "127.0.0.1:3000") {
		pairs = append(pairs, "127.0.0.1:3000", p.app)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the recipe does not say %s", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	if p.query != "" {
		text = strings.ReplaceAll(text, "/auth/verify?", "/auth/verify?"+p.query+"&")
	}
	return text
}

func (p places) write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A forwarder is a proxy that asks the host: it starts one by the documentation's
// recipe.
type forwarder struct {
	name  string
	start func(t *testing.T, p places)
}

func forwarders() []forwarder {
	return []forwarder{{"nginx", startNginx}, {"caddy", startCaddy}, {"haproxy", startHAProxy}, {"traefik", startTraefik}}
}

// program returns the path of a proxy's program, or skips the test by name.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/usr/local/sbin/"} {
		if file, err := exec.LookPath(dir + name); err == nil {
			return file
		}
	}
	if os.Getenv("REQUIRE_PROXIES") != "" {
		t.Fatalf("no %s: apt-get install %s", name, name)
	}
	t.Skipf("no %s: apt-get install %s", name, name)
	return ""
}

// run starts a proxy and waits until it listens.
func (p places) run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	var output lockedBuffer
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), p.dir, &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("%s: %s", name, output.String())
		}
	})
	for range 600 {
		conn, err := net.Dial("tcp", p.listen)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", name, output.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not listen: %s", name, output.String())
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func startNginx(t *testing.T, p places) {
	binary := program(t, "nginx")
	site := p.fill(t, recipe(t, "nginx.conf"), "listen 443 ssl", "listen "+p.listen+" ssl", "/etc/nginx/app.crt", p.cert.cert, "/etc/nginx/app.key", p.cert.key)
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(p.dir, kind))
	}
	file := p.write(t, "nginx.conf", user+"daemon off;\nmaster_process off;\npid "+filepath.Join(p.dir, "pid")+";\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+temporary+site+"\n}\n")
	p.run(t, nil, binary, "-e", "stderr", "-p", p.dir, "-c", file)
}

func startCaddy(t *testing.T, p places) {
	binary := program(t, "caddy")
	_, port, _ := net.SplitHostPort(p.listen)
	site := p.fill(t, recipe(t, "Caddyfile"), "app.example.com {", "https://app.example.com:"+port+" {\n\tbind 127.0.0.1\n\ttls "+p.cert.cert+" "+p.cert.key)
	file := p.write(t, "Caddyfile", "{\n\tadmin off\n\tauto_https off\n}\n"+site+"\n")
	p.run(t, []string{"HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir, "XDG_CONFIG_HOME=" + p.dir}, binary, "run", "--adapter", "caddyfile", "--config", file)
}

func startHAProxy(t *testing.T, p places) {
	binary := program(t, "haproxy")
	script := p.write(t, "vestibule.lua", p.fill(t, recipe(t, "vestibule.lua")))
	file := p.write(t, "haproxy.cfg", p.fill(t, recipe(t, "haproxy.cfg"), "/etc/haproxy/vestibule.lua", script, "bind :443", "bind "+p.listen, "/etc/haproxy/app.pem", p.cert.both)+"\n")
	p.run(t, nil, binary, "-db", "-f", file)
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A front is what people reach as https://app.example.com: a proxy, the host and an
// application behind it.
type front struct {
	*testSite
	places
	app *seen
}

// seen is an application that keeps what it was sent.
type seen struct {
	mu       sync.Mutex
	requests []*http.Request
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the proxy is cut off, and tries again
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Clone(context.Background()))
	_, _ = io.WriteString(w, "the application")
}

// taken returns the requests since the last time.
func (s *seen) taken() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// browser is one that knows the way to the proxy, and trusts its certificate.
func (f *front) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", f.listen)
		},
		TLSClientConfig: &tls.Config{RootCAs: f.cert.pool},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: t, base: "https://app.example.com", Client: &http.Client{
		Jar: jar, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// raw sends a GET request and returns the status of the answer.
func (f *front) raw(t *testing.T, target string, header ...string) int {
	t.Helper()
	return f.send(t, "GET "+target, "", header...)
}

// send sends a request and returns the status of the answer. A proxy may answer and
// close the connection before it has read the body: HTTP clients of Go then return the error
// of writing, send reads the answer.
func (f *front) send(t *testing.T, line, body string, header ...string) int {
	t.Helper()
	conn, err := tls.Dial("tcp", f.listen, &tls.Config{RootCAs: f.cert.pool, ServerName: "app.example.com", NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := line + " HTTP/1.1\r\nHost: app.example.com\r\nConnection: close\r\n"
	if body != "" {
		request += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	for i := 0; i+1 < len(header); i += 2 {
		request += header[i] + ": " + header[i+1] + "\r\n"
	}
	_, _ = io.WriteString(conn, request+"\r\n"+body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0 // the connection is closed on some of what is no request
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
