package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A killClient writes rows that nobody else writes, and appends to rows that all clients share. It repeats a write until it knows
// that the write is done.
type killClient struct {
	*killSite
	name    string
	random  *rand.Rand
	http    *http.Client
	writes  int
	rows    []*killRow          // of its own, that are there
	shared  map[string][]string // by row, what it has appended
	counted killCounts
}

// A killRow is a row as its client expects it.
type killRow struct {
	set, code, history string
	version            int
}

func (r *killRow) key() string { return r.set + "/" + r.code }

// killCounts count what clients met.
type killCounts struct {
	writes, sets, rows                    int // writes that were done, those of them that were change sets, and all rows
	unanswered, unknown, undone, conflict int // requests by outcome
	found                                 int // writes that were done by a request without an answer
}

func (c *killCounts) add(o killCounts) {
	c.writes, c.sets, c.rows = c.writes+o.writes, c.sets+o.sets, c.rows+o.rows
	c.unanswered, c.unknown, c.undone, c.conflict, c.found = c.unanswered+o.unanswered, c.unknown+o.unknown, c.undone+o.undone, c.conflict+o.conflict, c.found+o.found
}

// A killStep is the part of a write that concerns one row. A row that is made twice is created, and changed in the same change set.
type killStep struct {
	method        string
	row           *killRow
	shared, twice bool
}

// A killWrite is one request, or one change set, which is done as a whole.
type killWrite struct {
	id    string // which is in the history of each row that it leaves
	set   bool
	steps []killStep
	// open reports that a request may have been done without an answer. promised reports that the status of an answer arrived,
	// and said so.
	open, promised bool
}

// next makes a write at random.
func (c *killClient) next() *killWrite {
	c.writes++
	w := &killWrite{id: fmt.Sprintf("%s-%d", c.name, c.writes)}
	switch n := c.random.IntN(100); {
	case n < 25:
		c.create(w)
	case n < 45:
		c.change(w, http.MethodPatch)
	case n < 55:
		c.change(w, http.MethodDelete)
	case n < 70:
		c.append(w)
	default:
		w.set = true
		for range 1 + c.random.IntN(3) {
			c.create(w)
			w.steps[len(w.steps)-1].twice = c.random.IntN(2) == 0
		}
		c.change(w, http.MethodPatch)
		c.change(w, http.MethodDelete)
		if c.random.IntN(2) == 0 {
			c.append(w)
		}
		c.random.Shuffle(len(w.steps), func(i, k int) { w.steps[i], w.steps[k] = w.steps[k], w.steps[i] })
	}
	return w
}

func (c *killClient) anySet() string { return []string{"Counted", "Plain"}[c.random.IntN(2)] }

func (c *killClient) create(w *killWrite) {
	row := &killRow{set: c.anySet(), code: fmt.Sprintf("%s-%d", w.id, len(w.steps))}
	w.steps = append(w.steps, killStep{method: http.MethodPost, row: row})
}

func (c *killClient) append(w *killWrite) {
	row := &killRow{set: c.anySet(), code: fmt.Sprintf("shared%d", c.random.IntN(2))}
	w.steps = append(w.steps, killStep{method: http.MethodPatch, row: row, shared: true})
}

// change changes or deletes a row that the write does not touch yet; without one it creates another.
func (c *killClient) change(w *killWrite, method string) {
	if len(c.rows) == 0 {
		c.create(w)
		return
	}
	row := c.rows[c.random.IntN(len(c.rows))]
	for _, s := range w.steps {
		if s.row == row {
			return
		}
	}
	w.steps = append(w.steps, killStep{method: method, row: row})
}

// A killSight is a row as it is.
type killSight struct {
	ID                    int64
	Tag                   string `json:"@odata.etag"`
	Code, History, Latest string
}

// look reads the rows of a write; nil if no host answers.
func (c *killClient) look(w *killWrite) map[string]killSight {
	seen := map[string]killSight{}
	for _, set := range []string{"Counted", "Plain"} {
		var codes []string
		for _, s := range w.steps {
			if s.row.set == set {
				codes = append(codes, "'"+s.row.code+"'")
			}
		}
		if len(codes) == 0 {
			continue
		}
		a := c.send(c.http, c.random, http.MethodGet, "/odata/"+set+"?$filter="+url.QueryEscape("code in ("+strings.Join(codes, ",")+")"), "", http.Header{})
		if a.verdict != answered || a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests {
			return nil
		}
		var page struct{ Value []killSight }
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != http.StatusOK {
			c.Errorf("reading %s: %d %s", set, a.status, a.body)
			return nil
		}
		for _, row := range page.Value {
			seen[set+"/"+row.Code] = row
		}
	}
	return seen
}

// after is the history that a step leaves.
func (s *killStep) after(w *killWrite, before string) string {
	switch {
	case s.twice:
		return w.id + "." + w.id + "+"
	case s.method == http.MethodPost:
		return w.id
	}
	return before + "." + w.id
}

// done reports how many steps of the write are done, by the rows that are there; ok is false for a row as nobody has left it.
func (w *killWrite) done(seen map[string]killSight) (n int, ok bool) {
	for _, s := range w.steps {
		row, there := seen[s.row.key()]
		if there && row.Latest != row.History[strings.LastIndexByte(row.History, '.')+1:] {
			return n, false // a row by half
		}
		switch {
		case s.shared:
			if times := strings.Count(row.History+".", "."+w.id+"."); times == 1 {
				n++
			} else if times > 1 {
				return n, false
			}
		case s.method == http.MethodDelete && !there, s.method != http.MethodDelete && there && row.History == s.after(w, s.row.history):
			n++
		case s.method == http.MethodPost && there, s.method != http.MethodPost && (!there || row.History != s.row.history):
			return n, false
		}
	}
	return n, true
}

// perform repeats a write until it is done.
func (c *killClient) perform(w *killWrite) bool {
	halves := 0
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end) && !c.over.Load(); {
		seen := c.look(w)
		if seen == nil {
			c.pause()
			continue
		}
		n, ok := w.done(seen)
		switch {
		case !ok || n > 0 && n < len(w.steps):
			// Two sets are read one after the other, and a request without an answer may still be under way.
			if halves++; halves < 5 && w.open {
				time.Sleep(300 * time.Millisecond)
				continue
			}
			c.Errorf("%s is there by half, or somebody has changed its rows: %+v, %v", w.id, w.steps, seen)
			return false
		case n > 0 && !w.open:
			c.Errorf("%s was refused, and is there: %v", w.id, seen)
			return false
		case n > 0:
			c.counted.found++
			c.learn(w)
			return true
		case w.promised:
			c.Errorf("%s had the status of a write that is done, and is lost: %v", w.id, seen)
			return false
		}
		if done, again := c.try(w, seen); done {
			c.learn(w)
			return true
		} else if !again {
			return false
		}
	}
	c.Errorf("%s was not done until the end of the test, or within three minutes", w.id)
	return false
}

func (c *killClient) pause() { time.Sleep(time.Duration(5+c.random.IntN(30)) * time.Millisecond) }

// try sends a write once.
func (c *killClient) try(w *killWrite, seen map[string]killSight) (done, again bool) {
	var a killAnswer
	var statuses []int
	want := 1
	if w.set {
		a, statuses, want = c.sendSet(w, seen)
	} else {
		method, path, header, body := c.request(w, &w.steps[0], seen)
		if method == http.MethodPost {
			path = strings.TrimSuffix(path, "()")
		}
		header.Set("Prefer", []string{"return=minimal", "return=representation"}[c.random.IntN(2)])
		a = c.send(c.http, c.random, method, "/odata/"+path, body, header)
		statuses = []int{a.status}
		w.promised = a.verdict == unanswered && a.status/100 == 2
	}
	switch {
	case a.verdict == unsent:
		c.pause()
		return false, true
	case a.verdict == unanswered:
		c.counted.unanswered++
		w.open = true
		return false, true
	}
	worst := 0
	for _, status := range statuses {
		worst = max(worst, status)
	}
	switch {
	case worst == http.StatusServiceUnavailable && strings.Contains(a.body, `"outcome_unknown"`):
		c.counted.unknown++
		w.open = true
	case worst == http.StatusServiceUnavailable, worst == http.StatusTooManyRequests:
		c.counted.undone++
		c.pause()
	case worst == http.StatusConflict, worst == http.StatusPreconditionFailed, worst == http.StatusNotFound:
		c.counted.conflict++
		if !w.open && !w.shares() {
			c.Errorf("%s was refused: %d %s", w.id, worst, a.body)
			return false, false
		}
	case len(statuses) == want && worst/100 == 2:
		return true, false
	default:
		c.Errorf("%s was answered with %v (%d): %s", w.id, statuses, a.status, a.body)
		return false, false
	}
	return false, true
}

// shares reports whether others write a row of the write, too.
func (w *killWrite) shares() bool {
	for _, s := range w.steps {
		if s.shared {
			return true
		}
	}
	return false
}

// learn notes what a write that is done has left.
func (c *killClient) learn(w *killWrite) {
	c.counted.writes++
	c.counted.rows += len(w.steps)
	if w.set {
		c.counted.sets++
	}
	for _, s := range w.steps {
		switch row := s.row; {
		case s.shared:
			c.shared[row.key()] = append(c.shared[row.key()], w.id)
			continue
		case s.method == http.MethodDelete:
			for i, own := range c.rows {
				if own == row {
					c.rows = append(c.rows[:i], c.rows[i+1:]...)
					break
				}
			}
			continue
		case s.method == http.MethodPost:
			c.rows = append(c.rows, row)
			if s.twice {
				row.version++
			}
		}
		s.row.history = s.after(w, s.row.history)
		s.row.version++
	}
}
