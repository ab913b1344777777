package proc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
)

func TestLines(t *testing.T) {
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"one", []string{"a\n"}, []string{"a"}},
		{"in parts", []string{"a", "b", "\nc", "\n"}, []string{"ab", "c"}},
		{"several", []string{"a\nb\r\n\nc\n"}, []string{"a", "b", "", "c"}},
		{"no end", []string{"a\nb"}, []string{"a", "b"}},
		{"too long", []string{strings.Repeat("x", maxLine-1), "yz", "z\nnext\n"}, []string{strings.Repeat("x", maxLine-1) + "y (cut)", "next"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			w := &lineWriter{line: func(s string, cut bool) {
				if cut {
					s += " (cut)"
				}
				got = append(got, s)
			}}
			for _, s := range tt.writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Errorf("Write: %d, %v", n, err)
				}
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// logged returns what an output makes of a line.
func logged(line string, format hclog.LoggerOptions) string {
	var buf bytes.Buffer
	format.Output, format.Name, format.Level, format.DisableTime = &buf, "plugin.x", hclog.Trace, true
	o := newOutput(hclog.New(&format), time.Now, func(int) {})
	o.stderr(line, false)
	return buf.String()
}

func TestLinesBecomeLogLines(t *testing.T) {
	tests := []struct{ line, want string }{
		{"hello", "[INFO]  plugin.x: hello\n"},
		{"", ""},
		{" \t ", ""},
		{"tab\there", "[INFO]  plugin.x: tab here\n"},
		{"\x1b[31mred\x07\u202e", "[INFO]  plugin.x: \\u001b[31mred\\u0007\\u202e\n"},
		{"bad \xff utf8", "[INFO]  plugin.x: bad \uFFFD utf8\n"},
		{"panic: oh", "[ERROR] plugin.x: panic: oh\n"},
		{`{"@level":"warn","@message":"m","@module":"auth","@timestamp":"x","k":"v","n":3}`, "[WARN]  plugin.x: m: k=v n=3\n"},
		{`{"@level":"off","@message":"m"}`, "[INFO]  plugin.x: m\n"},
		{`{"@level":"nonsense","@message":"m"}`, "[INFO]  plugin.x: m\n"},
		{`{"@level":5,"@message":"m","list":[1,{"a":"\u0007"}]}`, "[INFO]  plugin.x: m: list=\"[1,{\\\"a\\\":\\\"\\u0007\\\"}]\"\n"},
		{`{"@message":"m","n":1e99999}`, "[INFO]  plugin.x: m: n=1e99999\n"},
		{`{"@message":"m"}}`, "[INFO]  plugin.x: {\"@message\":\"m\"}}\n"},
		{`{"@message":"m"} {"@message":"m"}`, "[INFO]  plugin.x: {\"@message\":\"m\"} {\"@message\":\"m\"}\n"},
		{`{"@message":5}`, "[INFO]  plugin.x: {\"@message\":5}\n"},
		{`{"message":"no hclog"}`, "[INFO]  plugin.x: {\"message\":\"no hclog\"}\n"},
		{`{"@message":"m","a b\n[INFO]":"v","plugin":"y"}`, "[INFO]  plugin.x: m: a_b__INFO_=v\n"},
	}
	for _, tt := range tests {
		if got := logged(tt.line, hclog.LoggerOptions{}); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.line, got, tt.want)
		}
	}
}

// A number of a plugin once made a line of JSON that most parsers refuse.
func TestNumbersInJSON(t *testing.T) {
	long := strings.Repeat("1", maxNumber+1)
	tests := []struct{ number, want string }{
		{"3", `3`},
		{"-0.25e-3", `-0.25e-3`},
		{"18446744073709551615", `18446744073709551615`},
		{"1e308", `1e308`},
		{"1e309", `"1e309"`},
		{"-1e99999", `"-1e99999"`},
		{long, `"` + long + `"`},
		{"1" + strings.Repeat("0", maxDetail), `"1` + strings.Repeat("0", maxDetail-4)},
	}
	for _, tt := range tests {
		got := logged(`{"@message":"m","n":`+tt.number+`}`, hclog.LoggerOptions{JSONFormat: true})
		if !strings.Contains(got, `"n":`+tt.want) || !json.Valid([]byte(got)) {
			t.Errorf("%.40s became %.200s, want %.40s", tt.number, got, tt.want)
		}
	}
}

// Whatever a plugin writes, every line of the host's log begins as the host's
// own lines do.
func FuzzLogLine(f *testing.F) {
	for _, s := range []string{
		"x", "a\rb", `{"@message":"m","k":"v\nw"}`, `{"@message":"a\nb","@level":"error"}`, "\xff\x00\x1b[1A", `{"@message":"m","":""}`,
		`{"@message":"m","k\u2028":{"a":["\n"]}}`,
		`{"@message":"m","n":1e99999}`, `{"@message":"m"}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return // a line is what has been cut at the ends of lines
		}
		out := logged(line, hclog.LoggerOptions{})
		for i, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
			if i == 0 && l != "" && !strings.Contains(l, "plugin.x:") || i > 0 && !strings.HasPrefix(l, "  ") {
				t.Errorf("%q became %q, in which line %d seems to be of somebody else", line, out, i)
			}
		}
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%q became %q", line, out)
		}
		out = logged(line, hclog.LoggerOptions{JSONFormat: true})
		if n := strings.Count(out, "\n"); n > 1 {
			t.Errorf("%q became %d lines of JSON", line, n)
		}
		var entry map[string]any // in which a number is a float64, as with most who read logs
		if err := json.Unmarshal([]byte(out), &entry); out != "" && err != nil {
			t.Errorf("%q became %q: %v", line, out, err)
		}
	})
}

func TestDroppedLinesAreCounted(t *testing.T) {
	now := time.Now()
	dropped := 0
	var buf bytes.Buffer
	o := newOutput(hclog.New(&hclog.LoggerOptions{Output: &buf}), func() time.Time { return now }, func(n int) { dropped += n })
	for range logBurst + 30 {
		o.stderr("x", false)
	}
	if n := strings.Count(buf.String(), "\n"); n != logBurst {
		t.Errorf("%d lines were kept, want %d", n, logBurst)
	}
	now = now.Add(2 * time.Second)
	for range 150 {
		o.stderr("x", false)
	}
	o.end()
	if n := strings.Count(buf.String(), ": x") + strings.Count(buf.String(), " x\n"); dropped != 30+150-2*logRate {
		t.Errorf("%d lines were dropped and %d kept", dropped, n)
	}
	if !strings.Contains(buf.String(), "lines=80") {
		t.Error("the log does not say how many lines were dropped")
	}
}

func TestSummary(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", nil, ""},
		{"the last four", []string{"1", "2", "3", "4", "5"}, "2 | 3 | 4 | 5"},
		{"a panic's first line", []string{"start", "panic: oh", "goroutine 1 [running]:", "main.main()", "x", "y"}, "panic: oh"},
		{"an error value", []string{`{"@message":"cannot open","error":"no such file","@level":"error"}`}, "cannot open: no such file"},
	}
	for _, tt := range tests {
		o := newOutput(hclog.NewNullLogger(), time.Now, func(int) {})
		for _, l := range tt.lines {
			o.stderr(l, false)
		}
		if got := o.summary(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestHandshakeLine(t *testing.T) {
	tests := map[string]bool{
		"1|1|unix|/tmp/s|grpc|cert": true, "1|1|unix|/tmp/s": true, "2|x|unix|/tmp/s": false, "a|b|c|d": false, "1|1|unix": false,
		"": false, "hello": false, " 1|1|unix|/tmp/s|grpc": false,
	}
	for line, want := range tests {
		if isHandshake(line) != want {
			t.Errorf("isHandshake(%q) = %v", line, !want)
		}
	}
}

// A reader that floods is slowed down, one that does not is not.
func TestDrainReadsEverything(t *testing.T) {
	lines := 0
	w := &lineWriter{line: func(string, bool) { lines++ }}
	drain(io.LimitReader(endless{}, 1<<20), w)
	if lines != 1<<19 {
		t.Errorf("%d lines", lines)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "x\n"[i%2]
	}
	return len(p) &^ 1, nil
}
