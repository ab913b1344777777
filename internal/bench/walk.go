package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// walk follows next links from the first page to the last, and returns what a page costs over the first n and over the
// last n of them. It looks for the link alone until it has n pages, so that it asks as fast as it is answered, and for the
// rows then: each must be there once.
func (b *bench) walk(path string, n int) (first, last spent, err error) {
	seen := rowsSeen{once: make([]bool, b.rows+1)}
	total := (b.rows + 199) / 200
	var pages [][]byte
	next := func() string { return path }
	see := func(body []byte) error {
		pages = append(pages, body)
		link, err := nextLink(body)
		path = strings.TrimPrefix(link, b.vestibule.base)
		return err
	}
	for done := 0; path != ""; done += n {
		s, err := b.costOf(b.vestibule, min(n, max(total-done, 1)), next, see)
		if err == nil {
			err = seen.add(pages)
		}
		if err != nil {
			return first, last, err
		}
		pages = pages[:0]
		if done == 0 {
			first = s
		}
		last = s
	}
	if seen.rows != b.rows {
		err = fmt.Errorf("the walk saw %d rows of %d", seen.rows, b.rows)
	}
	return first, last, err
}

// nextLink is the link to the next page; empty on the last one.
func nextLink(page []byte) (link string, err error) {
	_, rest, found := bytes.Cut(page, []byte(`"@odata.nextLink":`))
	if !found {
		return "", nil
	}
	err = json.NewDecoder(bytes.NewReader(rest)).Decode(&link)
	return link, err
}

// rowsSeen are the rows of a walk by their ids.
type rowsSeen struct {
	once []bool
	rows int
}

// add says so where a row was there before.
func (s *rowsSeen) add(pages [][]byte) error {
	for _, body := range pages {
		var page struct{ Value []struct{ ID int } }
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		for _, row := range page.Value {
			if s.once[row.ID] {
				return fmt.Errorf("the walk saw row %d twice", row.ID)
			}
			s.once[row.ID] = true
			s.rows++
		}
	}
	return nil
}
