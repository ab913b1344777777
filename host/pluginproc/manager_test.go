package pluginproc_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func TestPluginAnswers(t *testing.T) {
	h := started(t, pluginproc.Options{}, faulty(t, "ok", "1.2.3"))
	if err := h.Ready(); err != nil {
		t.Fatal(err)
	}
	intent, err := h.dispense(t, "any")
	if err != nil {
		t.Fatal(err)
	}
	if !intent.IsRedirect() || intent.Target() != "/dashboard?version=1.2.3" {
		t.Errorf("got %+v", intent)
	}
	result, err := h.handle(t, "any", map[string]pluginsdk.Value{"org_name": "Acme"})
	if err != nil {
		t.Fatal(err)
	}
	if !result.IsSatisfied() || result.Effects()[0].Value() != int64(9223372036854775807) {
		t.Errorf("got %+v", result)
	}
	st := h.Status()[0]
	if st.State != pluginproc.StateReady || st.Version != "1.2.3" || st.PID == 0 || len(st.SHA256) != 64 || st.Restarts != 0 {
		t.Errorf("got %+v", st)
	}
	if sum, err := pluginproc.Sum(st.Command[0]); err != nil || sum != st.SHA256 {
		t.Errorf("sum %s, %v; status %s", sum, err, st.SHA256)
	}
}
