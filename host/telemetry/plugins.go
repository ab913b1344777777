package telemetry

import (
	"maps"
	"math"
	"slices"
	"time"
)

// PluginCall observes a call of a plugin's method.
func (m *Metrics) PluginCall(plugin, method, outcome string, took time.Duration) {
	m.longestMu.Lock()
	m.longest[plugin] = max(m.longest[plugin], took)
	m.longestMu.Unlock()
	m.pluginCalls.WithLabelValues(plugin, method, outcome).Observe(took.Seconds())
}

// PluginCalls returns how many calls of a plugin were observed, and the time within
// which 99 of a hundred were over, as precise as the buckets of the histogram; the
// time is 0 without calls, and never longer than the longest call. It asks nothing else
// of the host, unlike a scrape, which waits for the database.
func (m *Metrics) PluginCalls(plugin string) (calls uint64, p99 time.Duration) {
	families, err := m.calls.Gather()
	if err != nil {
		return 0, 0 // never: a histogram of ours always has something to tell
	}
	below := map[float64]uint64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() != "plugin" || label.GetValue() != plugin {
					continue
				}
				calls += metric.GetHistogram().GetSampleCount()
				for _, bucket := range metric.GetHistogram().GetBucket() {
					below[bucket.GetUpperBound()] += bucket.GetCumulativeCount()
				}
			}
		}
	}
	m.longestMu.Lock()
	longest := m.longest[plugin]
	m.longestMu.Unlock()
	below[math.Inf(1)] = calls
	return calls, quantile(below, 0.99*float64(calls), longest)
}

// quantile returns the time within which so many calls were over; calls of one
// bucket are taken to be spread evenly over it, up to the longest call. The counts are
// cumulative, and those of the last bucket are all.
func quantile(below map[float64]uint64, calls float64, longest time.Duration) time.Duration {
	lower, before := 0.0, 0.0
	for _, upper := range slices.Sorted(maps.Keys(below)) {
		if n := float64(below[upper]); n >= calls && n > before {
			share := (calls - before) / (n - before)
			return time.Duration((lower + (min(upper, longest.Seconds())-lower)*share) * float64(time.Second))
		}
		lower, before = upper, float64(below[upper])
	}
	return 0 // there are no calls
}

// PluginUp notes whether a plugin is ready.
func (m *Metrics) PluginUp(plugin string, up bool) {
	m.pluginUp.WithLabelValues(plugin).Set(oneIf(up))
}

// PluginEvent returns a function that counts an event, such as "restart", of a
// plugin.
func (m *Metrics) PluginEvent(event string) func(plugin string) {
	return func(plugin string) { m.PluginEvents(plugin, event, 1) }
}

// PluginEvents counts n events of a plugin.
func (m *Metrics) PluginEvents(plugin, event string, n int) {
	m.pluginOther.WithLabelValues(plugin, event).Add(float64(n))
}
