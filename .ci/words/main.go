// Words reads what a commit adds to comments and documents, prints each word that CONTRIBUTING.md bans, with its file,
// line and rule, and exits with 1 if it found one.
//
//	go run ./.ci/words [BASE]
//
// BASE is a revision. The default is HEAD if there are uncommitted changes, else HEAD^.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	found, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (found int, err error) {
	base := ""
	if len(args) > 0 {
		base = args[0]
	} else if base, err = defaultBase(); err != nil {
		return 0, err
	}
	diff, err := exec.Command("git", "diff", "--unified=0", "--no-color", "--no-prefix", base, "--", "*.go", "*.ts", "*.md", "*.hcl", "*.proto", "*.sql").Output()
	if err != nil {
		return 0, fmt.Errorf("git diff %s: %w", base, err)
	}
	for _, line := range added(string(diff)) {
		text := line.prose()
		for _, r := range rules {
			for _, word := range r.banned.FindAllString(text, -1) {
				found++
				fmt.Fprintf(out, "%s:%d: %q: %s\n", line.file, line.number, word, r.remedy)
			}
		}
	}
	return found, nil
}

func defaultBase() (string, error) {
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	if err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	if len(changed) > 0 {
		return "HEAD", nil
	}
	return "HEAD^", nil
}

// A rule bans words. The numbers are those of CONTRIBUTING.md.
type rule struct {
	banned *regexp.Regexp
	remedy string
}

var rules = []rule{
	{
		regexp.MustCompile(`(?i)\b(tells (that|whether|if|how|what)|is what|says (how|whether|that))\b`),
		`rule 2: write "returns", "reports whether", "holds" or "is the"`,
	},
	{
		regexp.MustCompile(`(?i)\b(likeness(es)?|numberings?|witness(es)?|patience|unbelieved|wait's end|a way in|came|told|brings|stands|leads|room for)\b`),
		"rule 5: use the field's word",
	},
	{
		regexp.MustCompile(`(?i)\b(of (yours|ours)|stands in|in place of|what there is|brought about|for it to|as it stands|be it)\b`),
		"rule 6: banned",
	},
}

// A line is one that the diff adds.
type line struct {
	file   string
	number int
	text   string
}

// added returns the lines that a diff without context adds.
func added(diff string) (lines []line) {
	file, number := "", 0
	for in := bufio.NewScanner(strings.NewReader(diff)); in.Scan(); {
		text := in.Text()
		switch {
		case strings.HasPrefix(text, "+++ "):
			file = text[4:]
		case strings.HasPrefix(text, "@@ "):
			_, after, _ := strings.Cut(text, " +")
			number, _ = strconv.Atoi(after[:strings.IndexAny(after, ", ")]) // git wrote it
		case strings.HasPrefix(text, "+"):
			lines = append(lines, line{file, number, text[1:]})
			number++
		}
	}
	return lines
}

var (
	comment = regexp.MustCompile(`(?:^|\s)(?://|#|--|\*) (.*)`)
	code    = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
)

// prose returns what people read of a line: a comment, or a line of a document, without code and quotations.
func (l line) prose() string {
	text := l.text
	if !strings.HasSuffix(l.file, ".md") {
		m := comment.FindStringSubmatch(text)
		if m == nil {
			return ""
		}
		text = m[1]
	}
	return code.ReplaceAllString(text, "")
}
