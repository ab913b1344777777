package manual

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// A Command is a program, a group of its commands, or one of them.
type Command struct {
	Name string
	// Args are the positional arguments as the usage shows them.
	Args string
	// Short is one line without a full stop, Long the further text of the help.
	Short, Long string
	// Flags are those of a command; a group has none.
	Flags []Flag
	// Sub makes this a group.
	Sub []Command
}

// A Flag is one of a command's flags.
type Flag struct {
	Name string
	// Value names what the flag takes, such as "file"; it is empty for a switch.
	Value, Usage string
	// Default is what a flag has that is not given; empty where that says nothing.
	Default string
}

// Spelled is the flag as it is written: -c, but --email.
func (f Flag) Spelled() string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

// A node is a command with the words that lead to it, the program's name included.
type node struct {
	Command
	path string
}

// all walks a tree, the root first.
func (c Command) all() iter.Seq[node] {
	return func(yield func(node) bool) { c.walk(c.Name, yield) }
}

func (c Command) walk(path string, yield func(node) bool) bool {
	if !yield(node{c, path}) {
		return false
	}
	for _, sub := range c.Sub {
		if !sub.walk(path+" "+sub.Name, yield) {
			return false
		}
	}
	return true
}

// choices are the words of which a command takes one, where its usage lists them.
func (c Command) choices() []string {
	if !regexp.MustCompile(`^[a-z0-9-]+(\|[a-z0-9-]+)+$`).MatchString(c.Args) {
		return nil
	}
	return strings.Split(c.Args, "|")
}

// words are what may come next on the command line: the commands of a group, or the
// choices of a command.
func (c Command) words() []string {
	if len(c.Sub) == 0 {
		return c.choices()
	}
	var list []string
	for _, sub := range c.Sub {
		list = append(list, sub.Name)
	}
	return list
}

// paths are those of all commands but the program itself, quoted for a shell.
func (c Command) paths() []string {
	var list []string
	for n := range c.all() {
		if n.path != c.Name {
			list = append(list, fmt.Sprintf("%q", n.path))
		}
	}
	return list
}

// valued are all flags of a tree that take a value, as shells meet them: with one
// dash and with two. Of two flags of the same name both must take one.
func (c Command) valued(takes func(Flag) bool) []string {
	var list []string
	for n := range c.all() {
		for _, f := range n.Flags {
			if takes(f) {
				list = append(list, "-"+f.Name, "--"+f.Name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func takesValue(f Flag) bool { return f.Value != "" }
func takesFile(f Flag) bool  { return f.Value == "file" }

// Completion returns the script that completes the program's command lines in a
// shell, one of [Shells].
func Completion(shell string, program Command) (string, error) {
	switch shell {
	case "bash":
		return bash(program), nil
	case "zsh":
		return zsh(program), nil
	case "fish":
		return fish(program), nil
	}
	return "", fmt.Errorf("there is no completion for %q; there is one for %s", shell, strings.Join(Shells(), ", "))
}

// Shells are those with completions.
func Shells() []string { return []string{"bash", "zsh", "fish"} }
