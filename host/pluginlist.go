package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// pluginsPath is where the admin address tells of the plugins.
const pluginsPath = "/plugins"

// maxPluginList bounds what is read of a host's answer, in bytes.
const maxPluginList = 4 << 20

// A PluginList is what a running host says of its plugins.
type PluginList struct {
	// Host is the version of the host, PID its process.
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Plugins begin with the dispensers of auth.dispensers. The others follow in the order
	// of config.hcl.
	Plugins []PluginStatus `json:"plugins"`
}

// A PluginStatus tells how one plugin of a running host fares.
type PluginStatus struct {
	// Name is the label of the plugin's block.
	Name string `json:"name"`
	// State is starting, ready, late (calls ran out of time), down or stopped.
	State string `json:"state"`
	// Since is when the process that runs became ready; zero when there is none.
	Since time.Time `json:"since,omitzero"`
	// PID is the process, 0 when there is none.
	PID int `json:"pid,omitempty"`
	// Version is the plugin's own, empty until it was ready once.
	Version string `json:"version,omitempty"`
	// Roles are those of config.hcl.
	Roles []string `json:"roles"`
	// Program is the path of the program. Its arguments are not told, since they may
	// hold secrets.
	Program string `json:"program"`
	// SHA256 is the hexadecimal checksum of the program that runs.
	SHA256 string `json:"sha256,omitempty"`
	// Restarts counts the processes started in place of one that died or froze.
	Restarts int `json:"restarts"`
	// LastError is why the last process ended or could not be started.
	LastError string `json:"last_error,omitempty"`
	// Calls counts the calls since the host started.
	Calls uint64 `json:"calls"`
	// P99 is the time within which 99 of a hundred calls were over, in seconds, as
	// precise as the buckets of the metric vestibule_plugin_call_seconds, and no longer
	// than the longest call.
	P99 float64 `json:"p99_seconds"`
}

// showPlugins answers with a [PluginList].
func (h *Host) showPlugins(w http.ResponseWriter, _ *http.Request) {
	list := PluginList{Host: Version(), PID: os.Getpid(), Plugins: []PluginStatus{}}
	for _, s := range h.plugins.Status() {
		status := PluginStatus{
			Name: s.Name, State: string(s.State), PID: s.PID, Version: s.Version, Roles: s.Roles,
			SHA256: s.SHA256, Restarts: s.Restarts, LastError: s.LastError,
		}
		if len(s.Command) > 0 {
			status.Program = s.Command[0]
		}
		if s.PID != 0 {
			status.Since = h.o.Now().Add(-s.Uptime).UTC().Truncate(time.Second)
		}
		calls, p99 := h.metrics.PluginCalls(s.Name)
		status.Calls, status.P99 = calls, p99.Seconds()
		list.Plugins = append(list.Plugins, status)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(list) // who asked may be gone
}

// RunningPlugins asks the host whose AdminAddress this is, host:port, for its
// plugins. It starts nothing. An error means that no host answers there, or
// something else does.
func RunningPlugins(ctx context.Context, address string) (PluginList, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+pluginsPath, nil)
	if err != nil {
		return PluginList{}, fmt.Errorf("ask the host at %s: %w", address, err)
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy: the address is of this machine
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return PluginList{}, fmt.Errorf("no host answers at %s: %w", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return PluginList{}, fmt.Errorf("what answers at %s knows no plugins (%s): it is an earlier version or another program", address, resp.Status)
	}
	var list PluginList
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPluginList)).Decode(&list); err != nil {
		return PluginList{}, fmt.Errorf("the answer of %s is no list of plugins: %w", address, err)
	}
	return list, nil
}
