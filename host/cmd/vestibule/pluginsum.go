package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func pluginSum() command {
	return command{
		name: "sum", args: "FILE…", short: "print the sha256 of programs, for config.hcl",
		long: "A FILE of checksums, as sha256sum prints them, gives a line for config.hcl for each platform; - reads the standard\n" +
			"input. A folder, such as node_modules, has one checksum.",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(1, -1); err != nil {
				return err
			}
			for _, file := range in.args {
				if list, err := in.checksumFile(file); err != nil || list != nil {
					if err != nil {
						return err
					}
					printSums(in, list)
					continue
				}
				sum, err := host.PluginSum(file)
				if err != nil {
					return err
				}
				if len(in.args) > 1 {
					sum += "  " + file
				}
				fmt.Fprintln(in.out, sum)
			}
			return nil
		},
	}
}

// maxChecksumFile bounds a file of checksums, in bytes; a program is larger.
const maxChecksumFile = 64 << 10

// A platformSum is one line of a file of checksums.
type platformSum struct{ sum, name string }

// checksumFile reads a file as sha256sum writes it. It returns none when the file is
// something else, such as a program.
func (in *invocation) checksumFile(name string) ([]platformSum, error) {
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("checksum: %w", err)
		}
		if info.Size() > maxChecksumFile || !info.Mode().IsRegular() {
			return nil, nil
		}
	}
	text, err := in.readFile(name)
	if err != nil {
		return nil, err
	}
	// The digits, a blank, the mark of a binary file or another blank, the name.
	line := regexp.MustCompile(`^([0-9a-fA-F]{64}) [ *](.+)$`)
	var list []platformSum
	bad, number := 0, 0
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		number++
		if strings.TrimSpace(s.Text()) == "" {
			continue
		}
		m := line.FindStringSubmatch(strings.TrimRight(s.Text(), "\r"))
		if m == nil {
			bad = number
			continue
		}
		list = append(list, platformSum{strings.ToLower(m[1]), m[2]})
	}
	if list != nil && bad > 0 || list == nil && name == "-" {
		return nil, fmt.Errorf("%s:%d: this is no line of sha256sum: it has 64 hexadecimal digits, two blanks and a name", name, max(bad, 1))
	}
	return list, nil
}

// printSums prints a line for config.hcl for each.
func printSums(in *invocation, list []platformSum) {
	for _, one := range list {
		here := ""
		if isHere(filepath.Base(one.name)) {
			here = ", this machine's platform"
		}
		fmt.Fprintf(in.out, "sha256 = %q # %s%s\n", one.sum, printable(one.name), here)
	}
}

// isHere tells whether a file's name has this platform in it, as hello_linux_amd64 has.
func isHere(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) })
	has := func(word string) bool {
		for _, part := range parts {
			if part == word {
				return true
			}
		}
		return false
	}
	return has(runtime.GOOS) && has(runtime.GOARCH)
}
