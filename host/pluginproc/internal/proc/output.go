package proc

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"golang.org/x/time/rate"
)

const (
	logBurst   = 200              // lines that a plugin may log at once
	logRate    = 50               // and lines per second after that
	dropReport = 10 * time.Second // how often dropped lines are reported
	tailLines  = 20               // lines kept for errors
	maxText    = 2 << 10          // bytes of a message
	maxDetail  = 8 << 10          // bytes of a value beside it
	maxPairs   = 24               // values beside a message
	maxNumber  = 40               // digits, signs and the like of a number; longer ones are texts
)

// An output turns what a process prints into log lines of the host. The text is
// not trusted: lines appear under the plugin's own logger, cannot begin a new
// line or move the cursor, are bounded in size and number, and do not get to say
// which module or time they are from.
type output struct {
	log     hclog.Logger
	now     func() time.Time
	dropped func(lines int)
	limit   *rate.Limiter

	mu       sync.Mutex
	tail     []string
	lost     int
	reported time.Time
	panicked bool
}

func newOutput(log hclog.Logger, now func() time.Time, dropped func(int)) *output {
	return &output{log: log, now: now, dropped: dropped, limit: rate.NewLimiter(logRate, logBurst), reported: now()}
}

// stderr takes one line of standard error: hclog's JSON, or anything else.
func (o *output) stderr(line string, cut bool) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if !cut {
		entry := object(line)
		if message, ok := entry["@message"].(string); ok {
			level, _ := entry["@level"].(string)
			o.emit(hclog.LevelFromString(level), message, entry)
			return
		}
	}
	o.emit(o.plainLevel(line), line, nil)
}

// object returns the JSON object that a line is, nil for any other line. Its numbers
// are as they were written, so that large ones lose nothing.
func object(line string) map[string]any {
	if !strings.HasPrefix(line, "{") {
		return nil
	}
	var entry map[string]any
	read := json.NewDecoder(strings.NewReader(line))
	read.UseNumber()
	if read.Decode(&entry) != nil {
		return nil
	}
	if _, err := read.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return entry
}

// stdout logs one line of standard output, which has no level.
func (o *output) stdout(line string, _ bool) {
	if strings.TrimSpace(line) != "" {
		o.emit(hclog.Info, line, nil)
	}
}

// plainLevel guesses the level of a line that is not hclog's. What follows a
// panic of the Go runtime belongs to it.
func (o *output) plainLevel(line string) hclog.Level {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		o.panicked = true
	}
	if o.panicked {
		return hclog.Error
	}
	return hclog.Info
}

func (o *output) emit(level hclog.Level, message string, entry map[string]any) {
	message = cmp.Or(words.Clean(message, maxText), "(no message)")
	o.remember(message, entry)
	if level < hclog.Trace || level > hclog.Error {
		level = hclog.Info
	}
	if level < o.log.GetLevel() || !o.allowed() {
		return
	}
	o.log.Log(level, message, pairs(entry)...)
}

// pairs are the values of an hclog line. Keys that hclog gives a meaning are
// left out: a line's module and time are not the plugin's to say.
func pairs(entry map[string]any) []any {
	var out []any
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if strings.HasPrefix(key, "@") || key == "timestamp" || key == "plugin" || len(out) >= 2*maxPairs {
			continue
		}
		name := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r) {
				return r
			}
			return '_'
		}, key[:min(len(key), 64)])
		var value any
		switch v := entry[key].(type) {
		case bool, nil:
			value = v
		case json.Number:
			value = number(v)
		case string:
			value = words.CleanLines(strings.TrimSpace(v), maxDetail)
		default:
			text, _ := json.Marshal(v) // it came from JSON
			value = words.Clean(string(text), maxDetail)
		}
		out = append(out, name, value)
	}
	return out
}

// number returns n, or its text where those who read logs may not bear the number: a
// parser that takes numbers for float64 refuses the whole line for 1e999.
func number(n json.Number) any {
	if _, err := n.Float64(); err != nil || len(n) > maxNumber {
		return words.Clean(n.String(), maxDetail)
	}
	return n
}

// allowed tells whether a line is within the rate. Lines beyond it are counted, and
// the count is logged every dropReport.
func (o *output) allowed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	ok := o.limit.AllowN(now, 1)
	if !ok {
		o.lost++
	}
	if o.lost > 0 && now.Sub(o.reported) >= dropReport {
		o.report(now)
	}
	return ok
}

// report logs how many lines were dropped since the last report. The caller
// holds the lock.
func (o *output) report(now time.Time) {
	o.dropped(o.lost)
	o.log.Warn("it logs too fast; lines were dropped: log less, or at debug level", "lines", o.lost)
	o.lost, o.reported = 0, now
}

func (o *output) remember(message string, entry map[string]any) {
	if detail, ok := entry["error"].(string); ok {
		message += ": " + words.Clean(detail, 300)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.tail) == tailLines {
		o.tail = o.tail[1:]
	}
	o.tail = append(o.tail, message)
}

// summary returns the last lines in one, for an error. A Go panic is told by
// its first line: the last ones are addresses.
func (o *output) summary() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, line := range o.tail {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return words.Clean(line, 400)
		}
	}
	return words.Clean(strings.Join(o.tail[max(0, len(o.tail)-4):], " | "), 600)
}

// end is called when the process has ended: it reports the lines dropped since
// the last report.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost > 0 {
		o.report(o.now())
	}
}
