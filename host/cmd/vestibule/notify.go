package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// A notifier tells the service manager how the host is doing, by the protocol of
// sd_notify(3): datagrams to a socket. It tells nobody where nobody asks. There is
// little use in an error: the manager notices by itself when it hears nothing.
type notifier struct{ socket string }

// newNotifier returns that of the environment: an absolute path, or an abstract name
// behind "@".
func newNotifier() notifier {
	socket := os.Getenv("NOTIFY_SOCKET")
	if strings.HasPrefix(socket, "@") {
		socket = "\x00" + socket[1:]
	}
	return notifier{socket}
}

func (n notifier) tell(state string) {
	if n.socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // a manager that reads nothing keeps nobody
	_, _ = conn.Write([]byte(state))
}

// watchdog tells that the host is alive for as long as ask returns no error, four times in
// the time that the unit's WatchdogSec allows, until ctx ends (sd_watchdog_enabled(3)). One
// answer may fail to come before the manager acts.
func (n notifier) watchdog(ctx context.Context, ask func(context.Context) error) {
	limit, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || limit < 4 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return
	}
	every := time.Duration(limit) * time.Microsecond / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		asking, cancel := context.WithTimeout(ctx, every)
		if ask(asking) == nil {
			n.tell("WATCHDOG=1")
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
