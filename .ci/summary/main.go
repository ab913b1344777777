// Summary reads the JSON of `go test -json`, prints a line for each package and
// the output of what failed, and writes down which tests were skipped and why.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// An event is a line of test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

func main() {
	skipped := flag.String("skipped", "", "file to write the skipped tests to")
	total := flag.String("total", "", "file to write the numbers to")
	again := flag.String("again", "", "file to write the packages to that may be tried again; empty where one of them may not")
	commands := flag.String("commands", "", "file to write to how many commands of which documents were run")
	flag.Parse()
	s := &summary{output: map[string][]string{}, skips: map[string][]string{}, commands: map[string]int{}}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
	numbers := fmt.Sprintf("%d tests passed, %d failed, %d skipped, in %d packages", s.passed, s.failed, s.skipped, s.packages)
	fmt.Println(numbers)
	for name, text := range map[string]string{*skipped: s.reasons(), *total: numbers + "\n", *again: s.again(), *commands: s.ran()} {
		if name == "" {
			continue
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "summary:", err)
			os.Exit(1)
		}
	}
	if s.failed > 0 || s.packages == 0 {
		os.Exit(1)
	}
}

type summary struct {
	// output is what each test, or package, has printed so far.
	output map[string][]string
	// skips are the skipped tests by reason.
	skips map[string][]string
	// commands are the numbers of commands of documents that tests ran, by document.
	commands map[string]int
	// broken are the packages that failed; final says that trying again proves nothing.
	broken                            []string
	final                             bool
	passed, failed, skipped, packages int
}

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Print(string(line)) // what the go command says outside of tests
		} else {
			s.event(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) event(e event) {
	key := e.Package + e.ImportPath + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		s.final = s.final || strings.Contains(e.Output, "WARNING: DATA RACE")
		s.output[key] = append(s.output[key], e.Output)
		s.command(e.Output)
		return
	case "pass", "fail", "skip", "build-fail":
	default:
		return
	}
	if e.Test == "" {
		s.pkg(e, key)
		return
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		fmt.Printf("--- FAIL %s %s\n%s", short(e.Package), e.Test, strings.Join(s.output[key], ""))
	case "skip":
		s.skipped++
		why := reason(s.output[key])
		s.skips[why] = append(s.skips[why], e.Test)
	}
	delete(s.output, key)
}

// command adds what a test says of the commands of a document.
func (s *summary) command(output string) {
	var n int
	var page string
	_, text, _ := strings.Cut(output, ".go:")
	_, text, _ = strings.Cut(text, ": ")
	if _, err := fmt.Sscanf(text, "ran %d commands of %s", &n, &page); err == nil {
		s.commands[page] += n
	}
}

// ran returns how many commands of documents were run, and how many of each.
func (s *summary) ran() string {
	sum := 0
	var list []string
	for _, page := range slices.Sorted(maps.Keys(s.commands)) {
		sum += s.commands[page]
		list = append(list, fmt.Sprintf("%s %d", page, s.commands[page]))
	}
	return fmt.Sprintf("%d commands of %d documents: %s\n", sum, len(list), strings.Join(list, ", "))
}

func (s *summary) pkg(e event, key string) {
	switch e.Action {
	case "build-fail":
		s.failed++
		s.final = true
		fmt.Print(strings.Join(s.output[key], ""))
	case "fail":
		s.packages++
		s.failed++
		s.broken = append(s.broken, e.Package)
		fmt.Printf("FAIL  %-50s %6.1f s\n%s", short(e.Package), e.Elapsed, strings.Join(s.output[key], ""))
		s.unfinished(key)
	case "pass":
		s.packages++
		fmt.Printf("ok    %-50s %6.1f s\n", short(e.Package), e.Elapsed)
	}
	delete(s.output, key)
}

// unfinished prints what tests said that the end of their process cut short.
func (s *summary) unfinished(key string) {
	for name, lines := range s.output {
		if name != key && strings.HasPrefix(name, key) {
			fmt.Printf("--- unfinished%s\n%s", strings.TrimPrefix(name, strings.TrimSuffix(key, " ")), strings.Join(lines, ""))
			delete(s.output, name)
		}
	}
}

// most is how many packages may fail on a busy machine; more of them are no accident.
const most = 2

// again lists what may be tried again. A race that the detector saw is there whether
// or not it is seen twice.
func (s *summary) again() string {
	if s.final || len(s.broken) > most {
		return ""
	}
	return strings.Join(s.broken, "\n")
}

func short(pkg string) string {
	return strings.TrimPrefix(pkg, "github.com/vestibule-dev/vestibule/v2/")
}

// reason finds what a skipped test said.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- SKIP") || strings.HasPrefix(line, "===") {
			continue
		}
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			_, text, _ = strings.Cut(text, ": ")
			return text
		}
		return line
	}
	return "no reason given"
}

// reasons lists why tests were skipped, and how many for each reason.
func (s *summary) reasons() string {
	var list []string
	for why, tests := range s.skips {
		line := fmt.Sprintf("%s: %s", tests[0], why)
		if len(tests) > 1 {
			line = fmt.Sprintf("%d tests such as %s", len(tests), line)
		}
		list = append(list, line+"\n")
	}
	slices.Sort(list)
	return strings.Join(list, "")
}
