package manual

import (
	"fmt"
	"strings"
)

// bash needs no bash-completion: it reads the words itself. Bash takes --set=x for
// three words, of which "=" is one.
func bash(program Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# bash completion for %[1]s, made by: %[1]s completion bash
_%[1]s() {
	local cur=${COMP_WORDS[COMP_CWORD]} path=%[1]s words= flags= flag= i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		%[2]s)
			flag=${COMP_WORDS[i]}
			((i++))
			[ "${COMP_WORDS[i]}" = = ] && ((i++)) ;;
		-*) ;;
		*)
			case "$path ${COMP_WORDS[i]}" in
			%[3]s) path="$path ${COMP_WORDS[i]}" ;;
			esac ;;
		esac
	done
	if [ "$i" -gt "$COMP_CWORD" ]; then # the value of a flag
		case $flag in
		%[4]s) COMPREPLY=($(compgen -f -- "${cur#=}")) ;;
		esac
		return
	fi
	case $path in
`, program.Name, strings.Join(program.valued(takesValue), "|"), strings.Join(program.paths(), "|"), strings.Join(program.valued(takesFile), "|"))
	for n := range program.all() {
		fmt.Fprintf(&b, "\t%q) words=%q flags=%q ;;\n", n.path, strings.Join(n.words(), " "), strings.Join(spelled(n.Flags), " "))
	}
	fmt.Fprintf(&b, `	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
	*)
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
		[ -n "$words" ] || COMPREPLY=($(compgen -f -- "$cur")) ;;
	esac
}
complete -o filenames -F _%[1]s %[1]s
`, program.Name)
	return b.String()
}

func spelled(flags []Flag) []string {
	var list []string
	for _, f := range flags {
		list = append(list, f.Spelled())
	}
	return list
}
