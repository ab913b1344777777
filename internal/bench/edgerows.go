package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// An edge has the application running, and all contestants in front of it.
type edge struct {
	*bench
	dir   string
	app   *contestant
	racks map[string][]*lane // by the protocol
	auth  []*lane            // forward auth
	all   []*contestant
}

// A lane is a way to the application: where it is asked, and whose processor time counts.
type lane struct {
	name, url, cookie string
	of                *contestant
}

// certificateOf returns the files of the certificate in a directory.
func certificateOf(dir string) (cert, key string) {
	return filepath.Join(dir, "edge.crt"), filepath.Join(dir, "edge.key")
}

// writeCertificate makes a certificate for loopback addresses.
func writeCertificate(dir string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		return err
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	cert, key := certificateOf(dir)
	return errors.Join(
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}), 0o600))
}

// edged measures the host as a proxy on a database.
func (s settings) edged(_ context.Context, db string) (all, within int, err error) {
	e := &edge{bench: &bench{settings: s}, racks: map[string][]*lane{}}
	e.db = db
	if e.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return 0, 0, err
	}
	defer func() {
		e.stop()
		err = errors.Join(err, os.RemoveAll(e.dir))
	}()
	e.settings.dir = e.dir
	if e.dsn, err = e.peopleData(db); err != nil {
		return 0, 0, err
	}
	e.client = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its own certificate
	}}
	if err := e.start(); err != nil {
		return 0, 0, err
	}
	fmt.Printf("%s; ms of processor time per request of the serving process\n", db)
	return s.print(e.tests())
}

func (e *edge) stop() {
	for _, c := range e.all {
		c.stop()
	}
}

// own starts a contestant that is part of this program.
func (e *edge) own(role string, args ...string) (*contestant, error) {
	c, err := e.startContestant(role, args...)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	e.all = append(e.all, c)
	return c, nil
}

// foreign starts a program on a free port.
func (e *edge) foreign(f foreigner, auth string) (*contestant, error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return e.foreignAt(f, listen, auth)
}

func (e *edge) foreignAt(f foreigner, listen, auth string) (*contestant, error) {
	c, err := f.start(e.dir, listen, e.app.base, auth)
	if err == nil {
		e.all = append(e.all, c)
	}
	return c, err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// start starts everybody.
func (e *edge) start() (err error) {
	if err = writeCertificate(e.dir); err != nil {
		return err
	}
	if e.app, err = e.own("application"); err != nil {
		return err
	}
	for _, secure := range []bool{false, true} {
		protocol, args := "http", []string{"-upstream", e.app.base}
		if secure {
			protocol, args = "https", append(args, "-tls", e.dir)
		}
		ours, err := e.own("edge", args...)
		if err != nil {
			return err
		}
		cookie, err := e.session(ours.base)
		if err != nil {
			return err
		}
		lanes := []*lane{{"open", ours.base + "/open", "", ours}, {"guarded", ours.base + "/guarded", cookie, ours}}
		if e.db == "sqlite" {
			caddy, err1 := e.foreign(caddy(secure), e.app.base)
			nginx, err2 := e.foreign(nginx(secure), e.app.base)
			bare, err3 := e.own("bare", args...)
			if err := errors.Join(err1, err2, err3); err != nil {
				return err
			}
			for name, c := range map[string]*contestant{"caddy": caddy, "nginx": nginx, "bare": bare} {
				lanes = append(lanes, &lane{name, protocol + strings.TrimPrefix(strings.TrimPrefix(c.base, "https"), "http"), "", c})
			}
		}
		e.racks[protocol] = lanes
	}
	return e.startAuth()
}

// startAuth starts nginx, which asks a host of its own.
func (e *edge) startAuth() error {
	listen, err := freeAddress()
	if err != nil {
		return err
	}
	ours, err := e.own("edge", "-upstream", e.app.base, "-public", "http://"+listen)
	if err != nil {
		return err
	}
	if _, err = e.foreignAt(nginxAsking(), listen, ours.base); err != nil {
		return err
	}
	cookie, err := e.session(ours.base)
	e.auth = []*lane{{"verify", "http://" + listen + "/app", cookie, ours}}
	return err
}

// session returns the cookie of a new session.
func (e *edge) session(base string) (string, error) {
	resp, err := e.client.Post(base+"/auth/login", "application/json", strings.NewReader(fmt.Sprintf(`{"login":%q,"password":%q}`, login, secret)))
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		return "", fmt.Errorf("sign in: %s", resp.Status)
	}
	return resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value, nil
}

// tests returns the rows.
func (e *edge) tests() []test {
	var list []test
	for _, protocol := range []string{"http", "https"} {
		for _, size := range []int{400, 6600, 1 << 20} {
			for _, clients := range []int{1, 64} {
				if size > 1<<16 && (clients > 1 || e.db != "sqlite") {
					continue
				}
				list = append(list, e.rowsOf(protocol, size, clients)...)
			}
		}
	}
	for _, clients := range []int{1, 64} {
		list = append(list, test{fmt.Sprintf("nginx asks, %d: ms of the host for one question", clients), 0.15, func() (measured, error) {
			return e.race(e.auth, 400, clients).of("verify", "")
		}})
	}
	return list
}

// rowsOf returns the rows of one protocol, size and number of clients, which share one race.
func (e *edge) rowsOf(protocol string, size, clients int) []test {
	run := sync.OnceValue(func() result { return e.race(e.racks[protocol], size, clients) })
	target := func(t float64) float64 {
		if protocol == "https" {
			return 0 // shown
		}
		return t
	}
	row := func(text string, t float64, of, than string) test {
		return test{fmt.Sprintf("%s, %d B, %d: %s", protocol, size, clients, text), target(t), func() (measured, error) { return run().of(of, than) }}
	}
	if e.db != "sqlite" {
		return []test{row("guarded - open, ms", 0.15, "guarded", "-open")}
	}
	if size > 1<<16 {
		return []test{row("open / Caddy", 1.1, "open", "caddy"), row("guarded / Caddy", 1.1, "guarded", "caddy"), row("nginx / Caddy", 0, "nginx", "caddy")}
	}
	return []test{
		row("open / Caddy", 1.0, "open", "caddy"), row("guarded / Caddy", 1.2, "guarded", "caddy"),
		row("open - bare ReverseProxy, ms", 0.05, "open", "-bare"), row("nginx / Caddy", 0, "nginx", "caddy"),
	}
}

// A result holds what a request cost in each round, by lane.
type result struct {
	cost map[string][]float64
	err  error
}

// of returns the median of the rounds: of the cost of a lane, of its ratio to another one, or, after a minus, of the
// difference.
func (r result) of(name, than string) (measured, error) {
	if r.err != nil {
		return measured{}, r.err
	}
	other, minus := strings.CutPrefix(than, "-")
	var list []float64
	for i, c := range r.cost[name] {
		switch {
		case minus:
			c -= r.cost[other][i]
		case than != "":
			c /= r.cost[other][i]
		}
		list = append(list, c)
	}
	detail := fmt.Sprintf("%.3f", median(append([]float64{}, r.cost[name]...)))
	if than != "" {
		detail += fmt.Sprintf(" | %.3f", median(append([]float64{}, r.cost[other]...)))
	}
	return measured{median(list), detail}, nil
}

// race lets lanes take turns, after one that warms them up.
func (e *edge) race(lanes []*lane, size, clients int) result {
	r := result{cost: map[string][]float64{}}
	n := 512
	if size > 1<<16 {
		n = 32
	}
	for round := range 3*e.rounds + 1 {
		for i := range lanes {
			one := lanes[(i+round)%len(lanes)] // no lane always follows the same
			before, err := processorTime(one.of.cmd.Process.Pid)
			if err == nil {
				err = e.crowdOf(one, size, clients, n/clients)
			}
			after, err2 := processorTime(one.of.cmd.Process.Pid)
			if err := errors.Join(err, err2); err != nil {
				return result{err: fmt.Errorf("%s: %w", one.name, err)}
			}
			if round > 0 {
				r.cost[one.name] = append(r.cost[one.name], float64(after-before)/1000/float64(n))
			}
		}
	}
	return r
}

// crowdOf lets clients ask n times each at once.
func (e *edge) crowdOf(l *lane, size, clients, n int) error {
	var all sync.WaitGroup
	failed := make([]error, clients)
	for i := range clients {
		all.Go(func() {
			for k := 0; k < n && failed[i] == nil; k++ {
				failed[i] = e.ask(l, size)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

func (e *edge) ask(l *lane, size int) error {
	req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/%d", l.url, size), nil)
	if err != nil {
		return err
	}
	if l.cookie != "" {
		req.Header.Set("Cookie", l.cookie)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	got, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || got != int64(size)) {
		err = fmt.Errorf("%s, %d bytes", resp.Status, got)
	}
	return err
}
