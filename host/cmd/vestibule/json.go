package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// jsonFlag is --json. Names of fields are lower snake case and stay, times are RFC 3339,
// and nothing else is on the standard output.
func jsonFlag(f *pflag.FlagSet, asJSON *bool) {
	f.BoolVar(asJSON, "json", false, "print JSON, for programs")
}

// printJSON prints a value as JSON on lines of its own.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printArray prints a list as a JSON array, each element as shown makes it.
func printArray[T any](w io.Writer, list []T, shown func(T) any) error {
	out := &jsonList{w: w}
	for _, one := range list {
		if err := out.add(shown(one)); err != nil {
			return err
		}
	}
	return out.end()
}

// A jsonList prints a JSON array with an element on each line, so that a long list is
// never in memory.
type jsonList struct {
	w     io.Writer
	begun bool
}

func (l *jsonList) add(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	between := ",\n  "
	if !l.begun {
		between, l.begun = "[\n  ", true
	}
	_, err := io.WriteString(l.w, between+strings.TrimSuffix(text.String(), "\n"))
	return err
}

func (l *jsonList) end() error {
	text := "\n]\n"
	if !l.begun {
		text = "[]\n"
	}
	_, err := io.WriteString(l.w, text)
	return err
}

// second is a time as JSON shows it: in UTC, without fractions.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
