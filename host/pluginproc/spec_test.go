package pluginproc_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
)

// Whatever changes in a plugin's block leads to another process: a field that was
// forgotten would go on with the old grants.
func TestEveryFieldOfASpecCounts(t *testing.T) {
	values := map[reflect.Type]any{
		reflect.TypeFor[string]():            "x",
		reflect.TypeFor[[]string]():          []string{"x"},
		reflect.TypeFor[map[string]string](): map[string]string{"x": "y"},
		reflect.TypeFor[time.Duration]():     time.Second,
		reflect.TypeFor[json.RawMessage]():   json.RawMessage(`{"x":1}`),
	}
	base := pluginproc.Spec{}
	if !base.Same(pluginproc.Spec{}) {
		t.Error("a spec is not the same as itself")
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[pluginproc.Spec]()) {
		value, ok := values[field.Type]
		if !ok {
			t.Fatalf("the test has no value for %s, a %s", field.Name, field.Type)
		}
		changed := base
		reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(value))
		if base.Same(changed) {
			t.Errorf("another %s makes no difference", field.Name)
		}
	}
}
