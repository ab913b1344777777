package manual

import (
	"fmt"
	"strings"
)

// zsh works as a file of $fpath and as one that is sourced.
func zsh(program Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `#compdef %[1]s
# zsh completion for %[1]s, made by: %[1]s completion zsh
_%[1]s() {
	local at=%[1]s flag= i
	local -a list flags
	for ((i = 2; i < CURRENT; i++)); do
		case ${words[i]} in
		%[2]s) flag=${words[i]}; ((i++)) ;;
		-*) ;;
		*)
			case "$at ${words[i]}" in
			%[3]s) at="$at ${words[i]}" ;;
			esac ;;
		esac
	done
	if ((i > CURRENT)); then # the value of a flag
		case $flag in
		%[4]s) _files ;;
		*) _message value ;;
		esac
		return
	fi
	case $at in
`, program.Name, strings.Join(program.valued(takesValue), "|"), strings.Join(program.paths(), "|"), strings.Join(program.valued(takesFile), "|"))
	for n := range program.all() {
		fmt.Fprintf(&b, "\t%q)\n\t\tlist=(%s)\n\t\tflags=(%s) ;;\n", n.path, strings.Join(zshWords(n.Command), " "), strings.Join(zshFlags(n.Flags), " "))
	}
	fmt.Fprintf(&b, `	esac
	case ${words[CURRENT]} in
	-*) _describe -o flag flags ;;
	*) if (($#list)); then _describe word list; else _files; fi ;;
	esac
}
if [ "${funcstack[1]}" = _%[1]s ]; then _%[1]s "$@"; else compdef _%[1]s %[1]s; fi
`, program.Name)
	return b.String()
}

func zshWords(c Command) []string {
	var list []string
	for _, sub := range c.Sub {
		list = append(list, zshItem(sub.Name, sub.Short))
	}
	if list != nil {
		return list
	}
	for _, word := range c.words() {
		list = append(list, zshItem(word, ""))
	}
	return list
}

func zshFlags(flags []Flag) []string {
	var list []string
	for _, f := range flags {
		list = append(list, zshItem(f.Spelled(), f.Usage))
	}
	return list
}

// zshItem is a word of _describe with its description.
func zshItem(word, about string) string {
	if about == "" {
		return quoted(word)
	}
	return quoted(word + ":" + strings.ReplaceAll(about, ":", `\:`))
}

// quoted is a text in single quotes, for bash and zsh.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
