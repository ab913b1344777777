package config_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// keptShelves is a guarded set, with another one that its rows lead to.
const keptShelves = `
  entity_set "Kept" {
    table = "shelves"
    guard = "settled"
    navigation "boards" {
      to   = "Boards"
      many = true
      on   = { id = "shelf" }
    }
  }
  entity_set "Boards" {
    table = "boards"
    guard = "settled"
  }`

// openShelves is a set of the same table for everybody.
const openShelves = `
  entity_set "shelves" { table = "shelves" }`

// boards are made besides the shelves.
func boards() []string {
	return []string{`CREATE TABLE boards (id INTEGER PRIMARY KEY, shelf INTEGER)`, `INSERT INTO boards VALUES (1, 1), (2, 1)`}
}

// person is a browser of Ada's.
type person struct {
	http.Client
	base string
}

func (s served) person(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s.base}
	p.signIn(t)
	return p
}

func (p *person) signIn(t *testing.T) {
	t.Helper()
	resp, err := p.Post(p.base+"/auth/login", "application/json", strings.NewReader(asAda))
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != 200 {
		t.Fatal("sign-in:", resp.StatusCode)
	}
}

// read answers with the status and the body.
func (p *person) read(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := p.Get(p.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func exec(t *testing.T, s served, statement string) {
	t.Helper()
	if _, err := s.open(t).Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// What ends or changes a session anywhere holds for the next page, whatever the host remembers of it.
func TestPagesHoldWhatSessionsSay(t *testing.T) {
	for _, driver := range []string{"postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			s := serveOn(t, driver, "", keptShelves, nil, boards()...)
			exec(t, s, `INSERT INTO shelves VALUES (1)`)
			for _, tt := range []struct {
				name, statement string
				want            int
			}{
				{"ended elsewhere", `DELETE FROM vestibule_sessions`, 401},
				{"over", `UPDATE vestibule_sessions SET expires = 1`, 401},
				{"idle for too long", `UPDATE vestibule_sessions SET seen = 1`, 401},
				{"seen by another host", `UPDATE vestibule_sessions SET seen = seen + 1`, 200},
				{"another version", `UPDATE vestibule_sessions SET version = version + 1`, 200},
				{"values that nobody can read", `UPDATE vestibule_sessions SET version = version + 1, data = 'x'`, 503},
				{"as it was", `UPDATE shelves SET id = id`, 200},
			} {
				t.Run(tt.name, func(t *testing.T) {
					p := s.person(t)
					for range 2 {
						if status, text := p.read(t, "/odata/Kept"); status != 200 {
							t.Fatal(status, text)
						}
					}
					exec(t, s, tt.statement)
					for range 2 {
						if status, text := p.read(t, "/odata/Kept"); status != tt.want {
							t.Errorf("%d %s, want %d", status, text, tt.want)
						}
					}
				})
			}
		})
	}
}

// withHome ends the block of the database and adds the page that a sign-out leads to.
const withHome = `}
route "home" {
  path     = "/home"
  redirect = "/elsewhere"`

// A page that is asked for once a sign-out was answered is not given, by any host.
func TestPagesBesideSignOut(t *testing.T) {
	for _, driver := range []string{"postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			s := serveOn(t, driver, withHome, keptShelves, nil, boards()...)
			exec(t, s, `INSERT INTO shelves VALUES (1)`)
			for range 5 {
				p := s.person(t)
				session := p.Jar.Cookies(parsed(t, s.base))
				var out atomic.Bool
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						for late := 0; late < 3; {
							after := out.Load()
							r, _ := http.NewRequest("GET", s.base+"/odata/Kept", nil)
							for _, c := range session {
								r.AddCookie(c)
							}
							resp, err := http.DefaultClient.Do(r)
							if err != nil {
								t.Error(err)
								return
							}
							_ = resp.Body.Close()
							if after {
								late++
							}
							if want := 401; after && resp.StatusCode != want || !after && resp.StatusCode != want && resp.StatusCode != 200 {
								t.Errorf("%d, signed out: %t", resp.StatusCode, after)
							}
						}
					})
				}
				time.Sleep(20 * time.Millisecond)
				resp, err := p.Post(s.base+"/logout", "application/json", nil)
				if err != nil {
					t.Fatal(err)
				}
				if _ = resp.Body.Close(); resp.StatusCode != 303 {
					t.Error("sign-out:", resp.StatusCode)
				}
				out.Store(true)
				all.Wait()
			}
		})
	}
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
