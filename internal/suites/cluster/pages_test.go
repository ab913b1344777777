package cluster

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The check that docs/operations/galera.md puts beside a server says 200 of a synced
// member of a cluster with a majority, and of nothing else.
func TestGaleraCheck(t *testing.T) {
	const synced = "wsrep_cluster_status\tPrimary\nwsrep_local_state\t4\nwsrep_ready\tON\n"
	for name, c := range map[string]struct {
		says, want string
		exit       string
	}{
		"synced":                {synced, "200 OK", "0"},
		"a donor":               {strings.Replace(synced, "\t4", "\t2", 1), "503 Service Unavailable", "0"},
		"forty":                 {strings.Replace(synced, "\t4", "\t44", 1), "503 Service Unavailable", "0"},
		"without a majority":    {strings.Replace(synced, "Primary", "non-Primary", 1), "503 Service Unavailable", "0"},
		"not ready":             {strings.Replace(synced, "ON", "OFF", 1), "503 Service Unavailable", "0"},
		"without Galera":        {"", "503 Service Unavailable", "0"},
		"does not let us in":    {"", "503 Service Unavailable", "1"},
		"half of what is asked": {"wsrep_ready\tON\n", "503 Service Unavailable", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "says"), c.says, "")
			write(t, filepath.Join(dir, "check"), recipe(t, "galera.md", "sh"), "")
			client := filepath.Join(dir, "mariadb")
			write(t, client, "#!/bin/sh\ncat '"+dir+"/says'\nexit "+c.exit+"\n", "")
			if err := os.Chmod(client, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", filepath.Join(dir, "check"))
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			cmd.Stdin = strings.NewReader("GET / HTTP/1.0\r\nHost: x\r\n\r\n")
			out, err := cmd.Output()
			if want := "HTTP/1.1 " + c.want + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; err != nil || string(out) != want {
				t.Errorf("%q, %v; want %q", out, err, want)
			}
		})
	}
}

// What docs/operations/postgresql.md says of Patroni is what is tested.
func TestPatroniPage(t *testing.T) {
	tested := strings.ReplaceAll(patroniSettings, "\n    ", "\n")
	for line := range strings.SplitSeq(recipe(t, "postgresql.md", "yaml"), "\n") {
		if !strings.Contains(tested, "\n"+line+"\n") {
			t.Errorf("the page says %q, which is not tested", line)
		}
	}
}

// What failed in a row is told by kind, however often and whenever.
func TestFailuresByKind(t *testing.T) {
	got := kinds([]string{
		`POST /auth/login after 104ms: 503 {"message":"database_unavailable","request_id":"10615539"}` + "\n",
		`POST /auth/login after 1.2s: 503 {"message":"database_unavailable","request_id":"ca2d324e"}` + "\n",
		`GET /odata/shelves after 3ms: read tcp 127.0.1.12:4000->127.0.0.1:5000: EOF`,
	})
	want := map[string]int{
		`POST /auth/login after …: 503 {"message":"database_unavailable",…}`: 2,
		`GET /odata/shelves after …: read tcp …->…: EOF`:                     1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
