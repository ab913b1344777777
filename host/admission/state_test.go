package admission_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
)

func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		look := func(want admission.State) {
			t.Helper()
			want.Name, want.Slots = "q", 4
			if diff := cmp.Diff(want, q.State("q")); diff != "" {
				t.Error(diff)
			}
		}
		look(admission.State{})
		leave := q.TryEnter("ada")
		hold(t, q, "ada", 1)
		wait(t, q, "ada", 2)
		look(admission.State{Held: 2, Waiting: 2, Waits: 2})
		time.Sleep(3 * time.Second)
		leave()
		synctest.Wait()
		look(admission.State{Held: 2, Waiting: 1, Waits: 2, Waited: 3 * time.Second})
		time.Sleep(time.Minute)
		look(admission.State{Held: 2, Waits: 2, Waited: 13 * time.Second})
	})
	if s := admission.New(admission.Options{Share: 2}).State("endless"); s.Slots != 0 || s.Held != 0 {
		t.Errorf("a queue without a bound: %+v", s)
	}
}
