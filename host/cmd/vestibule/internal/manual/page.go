package manual

import (
	"fmt"
	"strings"
)

// A Page is one page of the manual, in the macros of man(7).
type Page struct {
	// Name is that of its file, such as "vestibule-serve.1".
	Name string
	Text string
}

// Pages are the manual of a program: one for itself, and one for each of its commands,
// which for a group tells of all that are in it. The version is at the foot.
func Pages(program Command, version string) []Page {
	list := []Page{{program.Name + ".1", programPage(program, version)}}
	for _, c := range program.Sub {
		list = append(list, Page{program.Name + "-" + c.Name + ".1", commandPage(program, c, version)})
	}
	return list
}

// exitStatus is the same for all commands.
const exitStatus = ".SH EXIT STATUS\n0 when done, 1 when it failed, 2 for a mistake on the command line.\n"

func programPage(program Command, version string) string {
	var b strings.Builder
	head(&b, program.Name, program.Short, version)
	fmt.Fprintf(&b, ".B %s\n.I COMMAND\n[\\fB\\-c\\fR \\fIFILE\\fR] [\\fB\\-\\-set\\fR \\fIblock.key=value\\fR]...\n", plain(program.Name))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n.SH COMMANDS\n", paragraph(program.Long))
	var also []string
	for _, c := range program.Sub {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", plain(strings.TrimSpace(c.Name+" "+c.Args)), paragraph(capital(c.Short)))
		also = append(also, fmt.Sprintf(".BR %s (1)", plain(program.Name+"-"+c.Name)))
	}
	fmt.Fprintf(&b, "%s.SH SEE ALSO\n%s\n", exitStatus, strings.Join(also, ",\n"))
	return b.String()
}

func commandPage(program, c Command, version string) string {
	var b strings.Builder
	path := program.Name + " " + c.Name
	head(&b, program.Name+"-"+c.Name, c.Short, version)
	if len(c.Sub) == 0 {
		synopsis(&b, path, c.Args)
		b.WriteString(".SH DESCRIPTION\n")
		describe(&b, c)
		b.WriteString(".SH OPTIONS\n")
		options(&b, c.Flags)
	} else {
		for i, sub := range c.Sub {
			if i > 0 {
				b.WriteString(".br\n")
			}
			synopsis(&b, path+" "+sub.Name, sub.Args)
		}
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Sub {
			fmt.Fprintf(&b, ".SS %s\n", plain(strings.TrimSpace(sub.Name+" "+sub.Args)))
			describe(&b, sub)
			options(&b, sub.Flags)
		}
	}
	fmt.Fprintf(&b, "%s.SH SEE ALSO\n.BR %s (1)\n", exitStatus, plain(program.Name))
	return b.String()
}

func head(b *strings.Builder, name, short, version string) {
	fmt.Fprintf(b, ".TH %s 1 \"\" %q %q\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n",
		plain(strings.ToUpper(name)), plain(version), "Vestibule", plain(name), plain(short))
}

func synopsis(b *strings.Builder, path, args string) {
	fmt.Fprintf(b, ".B %s\n", plain(path))
	if args != "" {
		fmt.Fprintln(b, paragraph(args))
	}
}

func describe(b *strings.Builder, c Command) {
	fmt.Fprintf(b, "%s.\n", paragraph(capital(c.Short)))
	if c.Long != "" {
		fmt.Fprintf(b, ".PP\n%s\n", paragraph(c.Long))
	}
}

func options(b *strings.Builder, flags []Flag) {
	for _, f := range flags {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", plain(f.Spelled()))
		if f.Value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", plain(f.Value))
		}
		fmt.Fprintf(b, "\n%s\n", paragraph(capital(f.Usage)))
		if f.Default != "" {
			fmt.Fprintf(b, "(default %s)\n", plain(f.Default))
		}
	}
}

// plain takes the meaning out of what troff would read as its own: backslashes,
// hyphens that are to be typed, quotes in arguments of macros, and all that is not
// ASCII.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// paragraph is a text on one line, which does not begin as a request of troff.
func paragraph(s string) string {
	s = plain(strings.Join(strings.Fields(s), " "))
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}

// capital begins a sentence with what is written as the continuation of a line.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
