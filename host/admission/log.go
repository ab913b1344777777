package admission

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A Log reports refusals: each counts, and of those of one client by one limit one
// line a minute is written. It is safe for concurrent use.
type Log struct {
	log   hclog.Logger
	count func(limit string)

	mu    sync.Mutex
	lines map[line]*written
}

// line is what has one line in a minute.
type line struct{ client, limit string }

type written struct {
	at   time.Time
	more int // refusals since then
}

// lineEvery is how often a line is written again, and maxLines bounds the lines in
// that time: with more clients than that, those that are left share one.
const (
	lineEvery = time.Minute
	maxLines  = 256
)

// NewLog returns a log. count is told the limit of each refusal; nil for nobody.
func NewLog(log hclog.Logger, count func(limit string)) *Log {
	if count == nil {
		count = func(string) {}
	}
	return &Log{log: log, count: count, lines: map[line]*written{}}
}

// Refused reports the refusal of a client by a limit, named by its configuration
// key; why says what was asked for.
func (l *Log) Refused(client, limit string, why error) {
	l.count(limit)
	more, ok := l.due(line{client, limit})
	if !ok {
		return
	}
	l.log.Warn("refused", "client", client, "limit", limit, "cause", why, "more_since_last_line", more)
}

// Busy reports the refusal of a queue.
func (l *Log) Busy(b *Busy) { l.Refused(b.Client, b.Limit, b) }

func (l *Log) due(k line) (more int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	w := l.lines[k]
	if w == nil && len(l.lines) >= maxLines {
		l.forget(now)
		if len(l.lines) >= maxLines {
			k.client = ""
			w = l.lines[k]
		}
	}
	switch {
	case w == nil:
		l.lines[k] = &written{at: now}
		return 0, true
	case now.Sub(w.at) < lineEvery:
		w.more++
		return 0, false
	}
	more = w.more
	*w = written{at: now}
	return more, true
}

// forget drops what was written more than a minute ago.
func (l *Log) forget(now time.Time) {
	for k, w := range l.lines {
		if now.Sub(w.at) >= lineEvery {
			delete(l.lines, k)
		}
	}
}
