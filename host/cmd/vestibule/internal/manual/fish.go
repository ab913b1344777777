package manual

import (
	"fmt"
	"strings"
)

func fish(program Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# fish completion for %[1]s, made by: %[1]s completion fish
function __%[1]s_at
    set -l at %[1]s
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $word
            case %[2]s
                set skip yes
            case '-*'
            case '*'
                if contains -- "$at $word" %[3]s
                    set at "$at $word"
                end
        end
    end
    test "$at" = "$argv[1]"
end
complete -c %[1]s -f
`, program.Name, strings.Join(program.valued(takesValue), " "), strings.Join(program.paths(), " "))
	for n := range program.all() {
		line := func(rest string) {
			fmt.Fprintf(&b, "complete -c %s -n %s %s\n", program.Name, fishQuoted(fmt.Sprintf("__%s_at '%s'", program.Name, n.path)), rest)
		}
		for _, sub := range n.Sub {
			line(fmt.Sprintf("-a %s -d %s", sub.Name, fishQuoted(sub.Short)))
		}
		switch words := n.words(); {
		case len(n.Sub) > 0:
			continue
		case words != nil:
			line("-a " + fishQuoted(strings.Join(words, " ")))
		case n.Args != "":
			line("-F")
		}
		for _, f := range n.Flags {
			line(fishFlag(f))
		}
	}
	return b.String()
}

func fishFlag(f Flag) string {
	kind := "-l"
	if len(f.Name) == 1 {
		kind = "-s"
	}
	takes := ""
	switch {
	case takesFile(f):
		takes = " -r -F"
	case takesValue(f):
		takes = " -x"
	}
	return fmt.Sprintf("%s %s%s -d %s", kind, f.Name, takes, fishQuoted(f.Usage))
}

// fishQuoted is a text in single quotes, where fish knows \\ and \'.
func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
