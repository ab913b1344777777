package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A onceMember is a member of a group, in the form of a JSON batch.
type onceMember struct {
	ID      string            `json:"id"`
	Group   string            `json:"atomicityGroup"`
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
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
