package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// judgedOrders is the block odata of a host whose plugin is a validator.
const judgedOrders = `odata {
  entity_set "Orders" {
    table = "orders"
    write {
      update    = true
      filter    = "true"
      validator = "fault"
    }
  }
}
`

// change returns the status of the answer to somebody who signs in and gives an order another status. An order that was not
// changed has the status that it had.
func (h *faultHost) change(who string) sight {
	h.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.Fatal(err)
	}
	client := http.Client{Timeout: time.Minute, Jar: jar}
	login, err := client.Post(h.base+"/auth/login", "application/json", strings.NewReader(fmt.Sprintf(`{"login": "%s@example.com", "password": %q}`, who, faultPassword)))
	if err != nil {
		return sight{"no connection", 0}
	}
	_ = login.Body.Close()
	begin, before, status := time.Now(), h.status(), "s"+strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
	r, err := http.NewRequest(http.MethodPatch, h.base+"/odata/Orders(1)", strings.NewReader(`{"status": "`+status+`"}`))
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("If-Match", "*")
	resp, err := client.Do(r)
	if err != nil {
		return sight{"no connection", time.Since(begin)}
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	saw := sight{strconv.Itoa(resp.StatusCode), time.Since(begin)}
	switch after := h.status(); {
	case err != nil:
		h.Error(err)
	case saw.what == "200" && after != status && after != "checked":
		h.Errorf("the answer is 200, and the order is %q", after)
	case saw.what != "200" && after != before && who != "good":
		h.Errorf("the answer is %s, and the order was %q and is %q", saw.what, before, after)
	case saw.what == "503" && strings.Contains(string(text), "fault"):
		h.Errorf("a person reads %s", text)
	}
	return saw
}

// status returns that of the order.
func (h *faultHost) status() (status string) {
	h.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "test.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow("SELECT status FROM orders WHERE id = 1").Scan(&status); err != nil {
		h.Error(err)
	}
	return status
}

// writeFaults are the rows of validators.
func writeFaults() []fault {
	rows := []fault{
		{name: "is a validator, and refuses", who: "refuses", sees: "422", says: `status=422`},
		{name: "is a validator, and amends", who: "amends", sees: "200", says: `status=200`},
		{name: "is a validator, and amends what it may not", who: "amends-too-much", sees: "503", says: `fault.*\bid\b`},
		{name: "is a validator, and names a property that is not there", who: "raw-amends", sees: "503", says: `the call failed.*change 0, the update of Orders\(1\), property .*nope.*: there is no such property`},
		{name: "is a validator, and answers nonsense", who: "not-protobuf", sees: "503", says: `its answer cannot be decoded`},
		{name: "is a validator, and panics", who: "panic", sees: "503", says: `panic: in a call`},
		{name: "is a validator, and fails with an error", who: "error", sees: "503", says: `the call failed.*secret detail of the plugin`},
		{name: "is a validator, and dies in one call", who: "once", sees: "200", says: `lost, will be started again`},
		{name: "is a validator, and dies in every call for a person", who: "kill", sees: "503", says: `the call failed`},
		{name: "is a validator, and hangs", who: "hang", people: 3, sees: "503", says: `3 calls in a row ran out of time \(timeout = 3s\)`},
		{name: "is a validator, and logs without end", start: "floods-stderr", sees: "200", says: `logs too fast`},
		{name: "is a validator, and freezes in a call", long: true, who: "freeze", sees: "503", says: `does not answer health checks`},
	}
	for i := range rows {
		rows[i].writes = true
		if rows[i].who == "" {
			rows[i].who = "good"
		}
	}
	return rows
}
