package admission_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
)

// A thousand refusals of one client by one limit are one line in a minute; each of
// them counts.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		counts := map[string]int{}
		log := admission.NewLog(hclog.New(&hclog.LoggerOptions{Output: &out}), func(limit string) { counts[limit]++ })
		why := errors.New("asked for too much")
		lines := func() int {
			defer out.Reset()
			return strings.Count(out.String(), "\n")
		}
		for range 1000 {
			log.Refused("ada", "limits.a", why)
		}
		if text := out.String(); !strings.Contains(text, "client=ada") || !strings.Contains(text, "limit=limits.a") || !strings.Contains(text, "asked for too much") {
			t.Errorf("says %s", text)
		}
		if n := lines(); n != 1 {
			t.Errorf("%d lines of one client and limit", n)
		}
		log.Busy(&admission.Busy{Client: "ada", Limit: "limits.b"})
		log.Refused("bob", "limits.a", why)
		if n := lines(); n != 2 {
			t.Errorf("%d lines of another client and another limit", n)
		}
		time.Sleep(time.Minute)
		log.Refused("ada", "limits.a", why)
		if text := out.String(); !strings.Contains(text, "more_since_last_line=999") {
			t.Errorf("says %s", text)
		}
		if n := lines(); n != 1 {
			t.Errorf("%d lines a minute later", n)
		}
		if counts["limits.a"] != 1002 || counts["limits.b"] != 1 {
			t.Errorf("counted %v", counts)
		}
		for i := range 10_000 {
			log.Refused(fmt.Sprint(i), "limits.a", why)
		}
		if n := lines(); n > 300 {
			t.Errorf("%d lines of ten thousand clients", n)
		}
		time.Sleep(time.Minute)
		log.Refused("someone", "limits.a", why)
		if n := lines(); n != 1 {
			t.Errorf("%d lines for a new client a minute later", n)
		}
	})
}
