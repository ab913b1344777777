package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A onceOrder is a row with those that belong to it, as its client expects them. Its tag is empty where no answer had it.
type onceOrder struct {
	code, history, path, tag string
	version                  int
	kind                     int      // the tag that the order names, 0 for none
	parts                    []string // codes
	tags                     []int    // behind the table in between
}

// row returns the order as compareOrders reads it.
func (o *onceOrder) row() string {
	slices.Sort(o.parts)
	slices.Sort(o.tags)
	return fmt.Sprintf("%s, version %d, kind %d, parts %v, tags %v", o.history, o.version, o.kind, o.parts, o.tags)
}

// newOrder returns an order, in two of three cases with parts and links, and a body that creates it whole.
func (c *onceClient) newOrder(code, history string) (*onceOrder, string) {
	o := &onceOrder{code: code, history: history, version: 1}
	body := map[string]any{"code": code, "history": history, "latest": history}
	if c.random.IntN(3) == 0 {
		return o, c.json(body)
	}
	c.deep++
	var parts []map[string]string
	for n := range c.random.IntN(4) {
		o.parts = append(o.parts, fmt.Sprintf("%s/%d", code, n))
		parts = append(parts, map[string]string{"code": o.parts[n]})
	}
	body["Parts"] = parts
	if parts == nil {
		delete(body, "Parts")
	}
	binds := []string{}
	for range c.random.IntN(4) {
		if tag := c.tag(); !slices.Contains(o.tags, tag) {
			o.tags = append(o.tags, tag)
			binds = append(binds, tagAddress(tag))
		}
	}
	body["tags@odata.bind"] = binds
	o.kind = c.tag()
	body["kind@odata.bind"] = tagAddress(o.kind)
	return o, c.json(body)
}

func (c *onceClient) tag() int { return 1 + c.random.IntN(onceTags) }

func tagAddress(tag int) string { return fmt.Sprintf("Tags(%d)", tag) }

func (c *onceClient) json(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		c.Error(err)
	}
	return string(text)
}

// A onceMember is a member of a group, in the form of a JSON batch.
type onceMember struct {
	ID      string            `json:"id"`
	Group   string            `json:"atomicityGroup"`
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// group makes a group that creates orders. Some are changed there, or get a part and a tag, in requests of their own.
func (c *onceClient) group(id string, header http.Header) (orders []*onceOrder, parts []onceMember) {
	part := func(method, url, body string) {
		m := onceMember{ID: fmt.Sprint(len(parts) + 1), Group: "g", Method: method, URL: url, Headers: map[string]string{}, Body: json.RawMessage(body)}
		for name := range header {
			m.Headers[name] = header.Get(name)
		}
		if method == http.MethodPatch {
			m.Headers["If-Match"] = "*"
		}
		parts = append(parts, m)
	}
	for k := range 1 + c.random.IntN(4) {
		order, body := c.newOrder(fmt.Sprintf("%s-%d", id, k), id)
		orders = append(orders, order)
		part(http.MethodPost, "Orders", body)
		created := fmt.Sprintf("$%d", len(parts))
		if c.random.IntN(3) == 0 {
			order.history, order.version = id+"+", 2
			part(http.MethodPatch, created, order.text())
		}
		if c.random.IntN(3) == 0 {
			added := order.code + "/added"
			order.parts = append(order.parts, added)
			part(http.MethodPost, created+"/Parts", c.json(map[string]string{"code": added}))
		}
		if tag := c.tag(); c.random.IntN(3) == 0 {
			if !slices.Contains(order.tags, tag) {
				order.tags = append(order.tags, tag)
			}
			part(http.MethodPost, created+"/tags/$ref", c.json(map[string]string{"@odata.id": tagAddress(tag)}))
		}
	}
	return orders, parts
}

// onceGroup makes a JSON batch of one atomicity group.
func onceGroup(parts []onceMember) string {
	text, _ := json.Marshal(map[string]any{"requests": parts}) // of strings alone
	return string(text)
}

// onceChangeSet makes a multipart batch of one change set.
func onceChangeSet(parts []onceMember) string {
	var b strings.Builder
	b.WriteString("--batch\r\nContent-Type: multipart/mixed; boundary=set\r\n\r\n")
	for _, part := range parts {
		fmt.Fprintf(&b, "--set\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: %s\r\n\r\n%s %s HTTP/1.1\r\n", part.ID, part.Method, part.URL)
		h := http.Header{}
		for name, value := range part.Headers {
			h.Set(name, value)
		}
		_ = h.Write(&b) // to memory
		fmt.Fprintf(&b, "\r\n%s\r\n", part.Body)
	}
	return b.String() + "--set--\r\n--batch--\r\n"
}

// onceAllDone reports whether an answer to a batch has a status, and no other than 2xx.
func onceAllDone(a killAnswer) bool {
	if strings.HasPrefix(a.header.Get("Content-Type"), "multipart/") {
		statuses, err := statusesOf(a.header.Get("Content-Type"), strings.NewReader(a.body))
		for _, status := range statuses {
			if status/100 != 2 {
				return false
			}
		}
		return err == nil && len(statuses) > 0
	}
	var batch struct{ Responses []struct{ Status int } }
	err := json.Unmarshal([]byte(a.body), &batch)
	for _, response := range batch.Responses {
		if response.Status/100 != 2 {
			return false
		}
	}
	return err == nil && len(batch.Responses) > 0
}
