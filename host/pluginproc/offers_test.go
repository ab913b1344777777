package pluginproc_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The host lists a step by the title that the plugin gives it, or else by the name of its
// block, and only of a plugin that offers it and is a dispenser here.
func TestOfferedStep(t *testing.T) {
	t.Parallel()
	titled, untitled, silent, other := faulty(t, "offers-step"), faulty(t, "offers-untitled"), faulty(t, "ok"), faulty(t, "offers-step")
	titled.Name, untitled.Name, silent.Name, other.Name = "titled", "untitled", "silent", "other"
	other.Roles = []string{pluginsdk.RoleListener}
	for _, spec := range []*pluginproc.Spec{&untitled, &silent} {
		spec.Roles = []string{pluginsdk.RoleDispenser}
	}
	h := newHost(t, pluginproc.Options{}, titled, untitled, silent, other)
	offers := func(name, want string, wanted bool) {
		t.Helper()
		if title, ok := h.OfferedStep(name); ok != wanted || ok && title != want {
			t.Errorf("%s: %q, %v; want %q, %v", name, title, ok, want, wanted)
		}
	}
	offers("titled", "", false) // it does not run yet
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	offers("titled", "Fault", true)
	offers("untitled", "untitled", true)
	offers("silent", "", false)
	offers("other", "", false)
	offers("none", "", false)
}
