// Package visitor fills in the pages of an OpenID provider as a person with a browser does,
// for tests here and in host/cmd/vestibule.
package visitor

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// maxPages bounds how many pages and redirects one visit follows.
const maxPages = 20

// A Visitor is a person with a browser, whose cookies stay from one visit to the next. One
// goroutine may use it.
type Visitor struct {
	// Client keeps the cookies and follows no redirects.
	Client *http.Client
	// Login and Password are what the person types into forms.
	Login, Password string
	// Cancels makes the person follow the link "Cancel" of a page.
	Cancels bool
	// Asked counts the forms that wanted a password.
	Asked int
}

// New returns a person with an empty browser.
func New(login, password string) *Visitor {
	jar, _ := cookiejar.New(nil) // it returns no error
	return &Visitor{Login: login, Password: password, Client: &http.Client{
		Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Visit opens an address, follows redirects, fills in forms, and returns the first address
// that begins with until, without opening it.
func (v *Visitor) Visit(address, until string) (*url.URL, error) {
	here, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	req, err := request(http.MethodGet, here, nil)
	for range maxPages {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(req.URL.String(), until) {
			return req.URL, nil
		}
		req, err = v.open(req)
	}
	return nil, fmt.Errorf("%s leads nowhere", address)
}

// open returns the request that follows a page.
func (v *Visitor) open(req *http.Request) (*http.Request, error) {
	resp, err := v.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if to := resp.Header.Get("Location"); to != "" {
		next, err := req.URL.Parse(to)
		if err != nil {
			return nil, err
		}
		return request(http.MethodGet, next, nil)
	}
	page, err := html.Parse(resp.Body)
	if err != nil {
		return nil, err
	}
	next, err := v.answer(req.URL, page)
	if err != nil {
		return nil, fmt.Errorf("%s is %s: %w", req.URL, resp.Status, err)
	}
	return next, nil
}

// answer fills in the form of a page, or follows its link that cancels.
func (v *Visitor) answer(here *url.URL, page *html.Node) (*http.Request, error) {
	form, action, asks := url.Values{}, "", false
	for n := range page.Descendants() {
		name, value := attribute(n, "name"), attribute(n, "value")
		switch {
		case n.Data == "a" && v.Cancels && strings.Contains(text(n), "Cancel"):
			to, err := here.Parse(attribute(n, "href"))
			if err != nil {
				return nil, err
			}
			return request(http.MethodGet, to, nil)
		case n.Data == "form":
			action = attribute(n, "action")
		case n.Data != "input" || name == "":
		case attribute(n, "type") == "password":
			form.Set(name, v.Password)
			asks = true
		case value == "":
			form.Set(name, v.Login)
		default:
			form.Set(name, value)
		}
	}
	if action == "" {
		return nil, errors.New("the page has no form")
	}
	to, err := here.Parse(action)
	if err != nil {
		return nil, err
	}
	if asks {
		v.Asked++
	}
	return request(http.MethodPost, to, form)
}

func request(method string, to *url.URL, form url.Values) (*http.Request, error) {
	req, err := http.NewRequest(method, to.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req, nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var all strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			all.WriteString(c.Data)
		}
	}
	return all.String()
}
