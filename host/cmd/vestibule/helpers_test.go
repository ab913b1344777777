package main

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// httpMain is a browser without a screen, for stories:
//
//	http [-json BODY] [-form BODY] [-header 'NAME: VALUE']… METHOD PATH
//
// It keeps cookies in the file JAR, follows no redirect, and prints the status,
// the headers and the body.
func httpMain() {
	var headers list
	asJSON := flag.String("json", "", "")
	form := flag.String("form", "", "")
	flag.Var(&headers, "header", "")
	flag.Parse()
	body, kind := *asJSON, "application/json"
	if *form != "" {
		body, kind = *form, "application/x-www-form-urlencoded"
	}
	r, err := http.NewRequest(flag.Arg(0), address(flag.Arg(1)), strings.NewReader(body))
	must(err)
	if body != "" {
		r.Header.Set("Content-Type", kind)
	}
	r.Header.Set("Accept", "text/html,*/*;q=0.8") // as a browser that goes to a page
	if *asJSON != "" {
		r.Header.Set("Accept", "application/json") // as a page's script
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	resp := send(r)
	fmt.Printf("HTTP %d\n", resp.StatusCode)
	var names []string
	for name := range resp.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("%s: %s\n", name, strings.Join(resp.Header[name], ", "))
	}
	text, err := io.ReadAll(resp.Body)
	must(err)
	fmt.Printf("\n%s\n", text)
}

// walkMain follows @odata.nextLink from PATH to the end and prints how many rows
// came, on how many pages, and how many ids were different:
//
//	walk [-header 'NAME: VALUE']… [-between 'SQL'] PATH
//
// Between two pages the SQL runs on shop.db; its parameter is the number of rows so far.
func walkMain() {
	var headers list
	flag.Var(&headers, "header", "")
	between := flag.String("between", "", "")
	flag.Parse()
	db, err := sql.Open("sqlite", "file:shop.db?_pragma=busy_timeout(60000)")
	must(err)
	defer func() { must(db.Close()) }()
	rows, pages, ids := 0, 0, map[string]bool{}
	for next := address(flag.Arg(0)); next != ""; pages++ {
		r, err := http.NewRequest(http.MethodGet, next, nil)
		must(err)
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		resp := send(r)
		var page struct {
			Value []map[string]any `json:"value"`
			Next  string           `json:"@odata.nextLink"`
			Count *int             `json:"@odata.count"`
		}
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		must(json.NewDecoder(resp.Body).Decode(&page))
		if resp.StatusCode != http.StatusOK {
			must(fmt.Errorf("%s: %d", next, resp.StatusCode))
		}
		for _, row := range page.Value {
			ids[fmt.Sprint(row["id"])] = true
		}
		rows += len(page.Value)
		next = page.Next
		if page.Count != nil {
			fmt.Printf("count %d\n", *page.Count)
		}
		if *between != "" {
			_, err := db.Exec(*between, rows)
			must(err)
		}
	}
	fmt.Printf("rows %d pages %d ids %d\n", rows, pages, len(ids))
}

type list []string

func (l *list) String() string     { return "" }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func address(path string) string {
	if strings.HasPrefix(path, "/") {
		return os.Getenv("BASE") + path
	}
	return path
}

// send sends a request with the cookies of the jar, and keeps the answer's.
func send(r *http.Request) *http.Response {
	jar := map[string]string{}
	if text, err := os.ReadFile(os.Getenv("JAR")); err == nil {
		must(json.Unmarshal(text, &jar))
	}
	for name, value := range jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	must(err)
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 || c.Value == "" {
			delete(jar, c.Name)
			continue
		}
		jar[c.Name] = c.Value
	}
	text, err := json.Marshal(jar)
	must(err)
	must(os.WriteFile(os.Getenv("JAR"), text, 0o600))
	return resp
}
