package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

// request makes the request of a step, for the rows as they were seen.
func (c *killClient) request(w *killWrite, s *killStep, seen map[string]killSight) (method, path string, header http.Header, body string) {
	row := seen[s.row.key()]
	path, header = fmt.Sprintf("%s(%d)", s.row.set, row.ID), http.Header{}
	if s.method == http.MethodPost {
		path = s.row.set
	} else {
		header.Set("If-Match", row.Tag)
	}
	if s.method == http.MethodDelete {
		return s.method, path, header, ""
	}
	header.Set("Content-Type", "application/json")
	method = s.method
	after := row.History + "." + w.id
	fields := map[string]string{"history": after, "latest": w.id}
	if method == http.MethodPost {
		fields = map[string]string{"code": s.row.code, "history": w.id, "latest": w.id}
	} else if c.random.IntN(3) == 0 {
		method = http.MethodPut
		fields["code"] = s.row.code
	}
	text, err := json.Marshal(fields)
	if err != nil {
		c.Error(err)
	}
	return method, path, header, string(text)
}

// sendSet sends a write as a change set, and returns the statuses of its parts, of which a change set that is done has as many as
// want says.
func (c *killClient) sendSet(w *killWrite, seen map[string]killSight) (a killAnswer, statuses []int, want int) {
	var parts strings.Builder
	part := func(method, path string, header http.Header, body string) {
		want++
		fmt.Fprintf(&parts, "--set\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: %d\r\n\r\n%s %s HTTP/1.1\r\n", want, method, path)
		_ = header.Write(&parts) // to memory
		fmt.Fprintf(&parts, "\r\n%s\r\n", body)
	}
	for i := range w.steps {
		s := &w.steps[i]
		part(c.request(w, s, seen))
		if s.twice {
			text := fmt.Sprintf(`{"history":%q,"latest":%q}`, s.after(w, ""), w.id+"+")
			part(http.MethodPatch, fmt.Sprintf("$%d", want), http.Header{"Content-Type": {"application/json"}, "If-Match": {"*"}}, text)
		}
	}
	body := "--batch\r\nContent-Type: multipart/mixed; boundary=set\r\n\r\n" + parts.String() + "--set--\r\n--batch--\r\n"
	a = c.send(c.http, c.random, http.MethodPost, "/odata/$batch", body, http.Header{"Content-Type": {"multipart/mixed; boundary=batch"}})
	if a.verdict == answered && a.status != http.StatusOK {
		return a, []int{a.status}, want
	}
	if a.verdict == answered {
		var err error
		if statuses, err = statusesOf(a.header.Get("Content-Type"), strings.NewReader(a.body)); err != nil {
			c.Errorf("the answer to the batch %s: %v: %s", w.id, err, a.body)
		}
	}
	return a, statuses, want
}

// statusesOf returns the statuses in the answer to a batch.
func statusesOf(kind string, body io.Reader) ([]int, error) {
	_, params, err := mime.ParseMediaType(kind)
	if err != nil {
		return nil, err
	}
	var statuses []int
	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return statuses, nil
		}
		if err != nil {
			return nil, err
		}
		if kind := part.Header.Get("Content-Type"); strings.HasPrefix(kind, "multipart/mixed") {
			inner, err := statusesOf(kind, part)
			if err != nil {
				return nil, err
			}
			statuses = append(statuses, inner...)
			continue
		}
		resp, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		statuses = append(statuses, resp.StatusCode)
	}
}
