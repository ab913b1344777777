package host

import "github.com/vestibule-dev/vestibule/v2/pluginsdk"

// AskDispensers makes the host ask these dispensers of the process, in this order, instead
// of those of its options. Call it before the first request.
func (h *Host) AskDispensers(names []string, of func(name string) pluginsdk.Dispenser) {
	h.pipeline.Dispensers = func() []string { return names }
	h.pipeline.Dispenser = of
}
