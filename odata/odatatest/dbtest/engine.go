package dbtest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// engine is what differs between the servers.
type engine struct {
	name     string
	remedy   string     // what to install when a program is missing
	binDir   string     // environment variable that names the directory of the programs
	globs    []string   // directories outside PATH where distributions put them
	programs [][]string // names of each program, in order of preference
	account  string     // unprivileged user when the tests run as root
	signal   string     // what ends the server at once, leaving no shared memory
	driver   string

	// install returns the command that makes the data directory, serve the
	// one that runs the server in the foreground. bin holds the paths of
	// programs in their order.
	install, serve func(bin []string, dir string) []string
	ready          func(dir string) string // data source name that answers when the server is up
}

func postgresEngine() engine {
	return engine{
		name:     "PostgreSQL",
		remedy:   "install the package postgresql (apt-get install postgresql), or set POSTGRES_BIN_DIR to the directory of initdb and postgres",
		binDir:   "POSTGRES_BIN_DIR",
		globs:    []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"},
		programs: [][]string{{"initdb"}, {"postgres"}},
		account:  "postgres",
		signal:   "QUIT",
		driver:   "pgx",
		install: func(bin []string, dir string) []string {
			return []string{
				bin[0], "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "--no-sync",
				"-E", "UTF8", "--no-locale", "--locale-provider=icu", "--icu-locale=und",
			}
		},
		serve: func(bin []string, dir string) []string {
			return append([]string{bin[1], "-D", filepath.Join(dir, "data"), "-k", dir}, settings(
				"listen_addresses=", "port=5432", "max_connections=300", "shared_buffers=32MB",
				"fsync=off", "synchronous_commit=off", "full_page_writes=off",
				"dynamic_shared_memory_type=mmap", "timezone=UTC",
			)...)
		},
		ready: func(dir string) string {
			return "host=" + dir + " port=5432 user=postgres dbname=postgres sslmode=disable"
		},
	}
}

func settings(values ...string) []string {
	var args []string
	for _, v := range values {
		args = append(args, "-c", v)
	}
	return args
}

func mariadbEngine() engine {
	return engine{
		name:     "MariaDB",
		remedy:   "install the package mariadb-server (apt-get install mariadb-server), or set MARIADB_BIN_DIR to the directory of mariadb-install-db and mariadbd",
		binDir:   "MARIADB_BIN_DIR",
		globs:    []string{"/usr/sbin", "/usr/bin", "/usr/libexec", "/opt/homebrew/opt/mariadb/bin"},
		programs: [][]string{{"mariadb-install-db", "mysql_install_db"}, {"mariadbd"}},
		account:  "mysql",
		signal:   "KILL", // an orderly stop costs half a second, and the directory goes away anyhow
		driver:   "mysql",
		install: func(bin []string, dir string) []string {
			return []string{
				bin[0], "--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--skip-test-db",
				"--auth-root-authentication-method=normal", "--skip-name-resolve", "--tmpdir=" + dir,
				"--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=0", "--sync-frm=0",
			}
		},
		serve: func(bin []string, dir string) []string {
			return []string{
				bin[1], "--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--tmpdir=" + dir,
				"--socket=" + filepath.Join(dir, "sock"), "--pid-file=" + filepath.Join(dir, "pid"), "--skip-networking",
				"--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci", "--default-time-zone=+00:00",
				"--max-connections=300", "--performance-schema=OFF", "--skip-log-bin", "--sync-frm=0",
				"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M",
				"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-use-native-aio=0",
			}
		},
		ready: func(dir string) string { return "root@unix(" + filepath.Join(dir, "sock") + ")/" },
	}
}

// find returns the paths of the engine's programs: from the directory that the
// environment names and from nowhere else when it names one, otherwise from
// PATH and then the distributions' directories, the highest version first.
// PostgreSQL's programs have to be of one version, so they come from one
// directory where that is possible.
func (e engine) find() ([]string, bool) {
	if dir := os.Getenv(e.binDir); dir != "" {
		return e.findIn([]string{dir})
	}
	if bin, ok := e.findIn(filepath.SplitList(os.Getenv("PATH"))); ok {
		return bin, true
	}
	var dirs []string
	for _, g := range e.globs {
		found, _ := filepath.Glob(g) // the patterns are constants; the only error is a bad one
		slices.SortFunc(found, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
		for _, dir := range found {
			if bin, ok := e.findIn([]string{dir}); ok {
				return bin, true
			}
		}
		dirs = append(dirs, found...)
	}
	return e.findIn(dirs)
}

func (e engine) findIn(dirs []string) ([]string, bool) {
	var bin []string
	for _, names := range e.programs {
		path, ok := lookIn(dirs, names)
		if !ok {
			return nil, false
		}
		bin = append(bin, path)
	}
	return bin, true
}

func lookIn(dirs, names []string) (string, bool) {
	for _, name := range names {
		for _, dir := range dirs {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, true
			}
		}
	}
	return "", false
}

// version is the first number in a path such as /usr/lib/postgresql/15/bin.
func version(path string) int {
	start := -1
	for i, r := range path {
		digit := r >= '0' && r <= '9'
		switch {
		case digit && start < 0:
			start = i
		case !digit && start >= 0:
			n, _ := strconv.Atoi(path[start:i])
			return n
		}
	}
	return 0
}
