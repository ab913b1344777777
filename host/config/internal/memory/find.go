package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Found is how much memory there is.
type Found struct {
	// Bytes is the smallest limit; zero if none could be read.
	Bytes int64
	// Where names the owner of the limit: "machine", or the path of a control group below its mount point, such as "cgroup /app".
	Where string
}

// Find reads the memory of the machine and the limits of the control groups of this process, of version 1 and 2. root is
// the root of the file system. Files that are not there, as on other systems than Linux, are no limits.
func Find(root fs.FS) Found {
	found := Found{machine(root), "machine"}
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for _, g := range groupsOf(groups) {
		for _, m := range mountsOf(mounts, g.version) {
			found = least(root, found, m, g)
		}
	}
	return found
}

// machine is MemTotal of /proc/meminfo in bytes; zero if it is not there.
func machine(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	_, rest, _ := bytes.Cut(text, []byte("MemTotal:"))
	fields := strings.Fields(string(rest))
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10
}

// A group is the control group of this process that holds the memory, in a hierarchy of version 1 or 2.
type group struct {
	path    string
	version int
}

// groupsOf reads /proc/self/cgroup (cgroups(7)): lines of number, controllers and path. Version 2 has no controllers there.
func groupsOf(text []byte) (list []group) {
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			list = append(list, group{parts[2], 2})
		case hasWord(parts[1], "memory"):
			list = append(list, group{parts[2], 1})
		}
	}
	return list
}

// A mount is where a hierarchy can be read: its folder root is at point.
type mount struct{ root, point string }

// mountsOf reads /proc/self/mountinfo (proc(5)): root and mount point are the fourth and fifth field, type and options come
// behind a dash.
func mountsOf(text []byte, version int) (list []mount) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kind) < 3 {
			continue
		}
		if version == 2 && kind[0] == "cgroup2" || version == 1 && kind[0] == "cgroup" && hasWord(kind[2], "memory") {
			list = append(list, mount{fields[3], fields[4]})
		}
	}
	return list
}

// least returns the smallest of found and the limits of the group and of those around it, as far as the mount shows them.
func least(root fs.FS, found Found, m mount, g group) Found {
	files := map[int][]string{1: {"memory.limit_in_bytes"}, 2: {"memory.max", "memory.high"}}[g.version]
	below, inside := strings.CutPrefix(g.path, strings.TrimSuffix(m.root, "/"))
	if !inside {
		below = "/" // the folder of a container, which cannot see its own path
	}
	for at := path.Join("/", below); ; at = path.Dir(at) {
		for _, file := range files {
			n, ok := number(root, path.Join(m.point, at, file))
			if ok && (found.Bytes == 0 || n < found.Bytes) { // no limit is "max", or close to 2^63
				found = Found{n, "cgroup " + at}
			}
		}
		if at == "/" {
			return found
		}
	}
}

func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, strings.TrimPrefix(name, "/"))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n > 0
}

func hasWord(list, word string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == word {
			return true
		}
	}
	return false
}
