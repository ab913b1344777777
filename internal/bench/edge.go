package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// application answers /N with N bytes.
func application() http.Handler {
	page := []byte(strings.Repeat("<p>A page. </p>\n", 2<<10)) // 32 KiB
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if err != nil || n > 1<<20 {
			http.Error(w, "no size", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		for rest := n; rest > 0; {
			part := min(rest, len(page))
			if _, err := w.Write(page[:part]); err != nil {
				return
			}
			rest -= part
		}
	})
}

// buffers lend the copy buffers of a ReverseProxy.
type buffers struct{ sync.Pool }

func (b *buffers) Get() []byte  { return *b.Pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.Pool.Put(&p) }

// bare is a ReverseProxy with pooled buffers, and nothing else.
func (s settings) serveBare() error {
	target, err := url.Parse(s.upstream)
	if err != nil {
		return err
	}
	pool := &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}}
	handler := &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(target); r.SetXForwarded() },
		BufferPool: pool,
		Transport:  &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	}
	if s.tls == "" {
		return serveByHand(handler)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("https://%s\n", listener.Addr())
	cert, key := certificateOf(s.tls)
	return http.ServeTLS(listener, handler, cert, key) // loopback, ends with its parent
}

// edgeHost is the host in front of the application: an open route, a guarded one, and /auth/verify.
func (s settings) edgeHost(ctx context.Context, name, dsn string) (o host.Options, err error) {
	o, err = people(ctx, name, dsn)
	if err == nil {
		_, err = o.Store.Migrate(ctx)
	}
	if err == nil {
		err = addUser(ctx, o)
	}
	if err != nil {
		return o, err
	}
	to, err := url.Parse(s.upstream)
	if err != nil {
		return o, err
	}
	o.Routes = append(o.Routes, host.Route{Name: "open", Path: "/open", Proxy: to, Guard: host.GuardNone}, host.Route{Name: "kept", Path: "/guarded", Proxy: to})
	if s.tls != "" {
		o.Server.LoadTLS = func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(certificateOf(s.tls))
			return &pair, err
		}
	}
	if s.public != "" { // behind nginx
		o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		if o.Server.PublicURL, err = url.Parse(s.public); err != nil {
			return o, err
		}
	}
	return o, nil
}

// A foreigner is a program from Debian that serves.
type foreigner struct {
	program string
	args    []string
	// config is the text of its configuration. DIR, LISTEN, TO, AUTH, CERT and KEY are filled in.
	config string
}

func caddy(secure bool) foreigner {
	site, certificate := "http://LISTEN", ""
	if secure {
		site, certificate = "https://LISTEN", "tls CERT KEY\n"
	}
	return foreigner{"caddy", []string{"run", "--adapter", "caddyfile", "--config"}, "{\nadmin off\nauto_https off\n}\n" + site + " {\nbind 127.0.0.1\n" + certificate + "reverse_proxy TO\n}\n"}
}

const nginxConfig = `daemon off; master_process off; pid DIR/pid; error_log stderr; user root;
events { worker_connections 1024; }
http {
	access_log off; keepalive_requests 1000000;
	client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
	upstream application { server TO; keepalive 64; keepalive_requests 1000000; }
	upstream vestibule { server AUTH; keepalive 64; keepalive_requests 1000000; }
	proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
	server { listen LISTEN; LOCATIONS }
}
`

func nginx(secure bool) foreigner {
	text := strings.Replace(nginxConfig, "LOCATIONS", "location / { proxy_pass http://application; }", 1)
	if secure {
		text = strings.Replace(text, "listen LISTEN;", "listen LISTEN ssl; ssl_certificate CERT; ssl_certificate_key KEY;", 1)
	}
	return foreigner{"nginx", []string{"-e", "stderr", "-p", "DIR", "-c"}, text}
}

// nginxAsking asks the host before it hands a request on, over connections that it keeps.
func nginxAsking() foreigner {
	text := strings.Replace(nginxConfig, "LOCATIONS", `
		location = /ask { internal; proxy_pass http://vestibule/auth/verify?deny=status; proxy_pass_request_body off;
			proxy_set_header Content-Length ""; proxy_set_header X-Request-Id $request_id;
			proxy_set_header traceparent ""; proxy_set_header tracestate ""; proxy_set_header Connection ""; proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Method $request_method;
			proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Uri $request_uri; }
		location /app/ { auth_request /ask; auth_request_set $vestibule_user $upstream_http_x_vestibule_user;
			proxy_set_header X-Vestibule-User $vestibule_user; proxy_set_header Connection ""; proxy_pass http://application; }`, 1)
	return foreigner{"nginx", []string{"-e", "stderr", "-p", "DIR", "-c"}, text}
}

// start starts the program at an address, in front of the application, and waits until it listens.
func (f foreigner) start(dir, listen, to, auth string) (*contestant, error) {
	own, err := os.MkdirTemp(dir, f.program)
	if err != nil {
		return nil, err
	}
	cert, key := certificateOf(dir)
	fill := strings.NewReplacer("DIR", own, "LISTEN", listen, "TO", strings.TrimPrefix(to, "http://"), "AUTH", strings.TrimPrefix(auth, "http://"), "CERT", cert, "KEY", key)
	file := filepath.Join(own, "config")
	if err := os.WriteFile(file, []byte(fill.Replace(f.config)), 0o600); err != nil {
		return nil, err
	}
	var args []string
	for _, a := range append(f.args, file) {
		args = append(args, fill.Replace(a))
	}
	cmd := exec.Command(f.program, args...) // caddy or nginx
	cmd.Env = append(os.Environ(), "HOME="+own, "XDG_DATA_HOME="+own, "XDG_CONFIG_HOME="+own)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &contestant{base: "http://" + listen, stdin: signalled{cmd}, cmd: cmd}
	for range 200 {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			return c, conn.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.stop()
	return nil, fmt.Errorf("%s does not listen on %s", f.program, listen)
}

// signalled ends a program that does not end with its standard input.
type signalled struct{ *exec.Cmd }

func (s signalled) Close() error { return s.Process.Signal(syscall.SIGTERM) }
