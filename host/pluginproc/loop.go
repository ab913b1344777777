package pluginproc

import (
	"sync"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const (
	loopWarning = 3    // times that a step comes back before it is a loop
	loopUsers   = 4096 // people watched at once
)

// loops watches for dispensers that dispense a step for ever, although it was
// satisfied each time: they would keep a person from ever getting in.
type loops struct {
	mu    sync.Mutex
	again map[string]int  // times that a satisfied step came back, by user
	due   map[string]bool // users whose step was just satisfied
}

// satisfied notes that a person completed a step.
func (l *loops) satisfied(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.again == nil || len(l.again) >= loopUsers || len(l.due) >= loopUsers {
		l.again, l.due = map[string]int{}, map[string]bool{} // forget rather than grow
	}
	l.due[user] = true
}

// dispensed notes what a person was told to do next, and returns how many times
// in a row it was a step that had just been satisfied.
func (l *loops) dispensed(user string, kind pluginsdk.Kind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind != pluginsdk.KindOrgSetup {
		delete(l.again, user)
		delete(l.due, user)
		return 0
	}
	if !l.due[user] {
		return 0
	}
	delete(l.due, user)
	l.again[user]++
	return l.again[user]
}
