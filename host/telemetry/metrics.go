package telemetry

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// pluginCallSeconds is the histogram that [Metrics.PluginCalls] reads.
const pluginCallSeconds = "vestibule_plugin_call_seconds"

// Metrics are what the admin address shows under /metrics, in a registry of the
// host's own. They are safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.HistogramVec
	audits      *prometheus.CounterVec
	hashes      *prometheus.CounterVec
	mails       *prometheus.CounterVec
	refusals    *prometheus.CounterVec
	files       *prometheus.CounterVec
	pluginCalls *prometheus.HistogramVec
	pluginUp    *prometheus.GaugeVec
	pluginOther *prometheus.CounterVec
}

// New returns metrics that have counted nothing yet. The limits are those that
// requests may be refused by, under their configuration keys.
func New(limits ...string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vestibule_request_seconds", Help: "Time to answer a request, by route and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route", "status"}),
		audits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vestibule_auth_events_total", Help: "Sign-in events, such as login, login_failed, lockout, logout, reset.",
		}, []string{"event"}),
		hashes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vestibule_password_hashes_total", Help: "Password hashes computed, by format and cost.",
		}, []string{"format"}),
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vestibule_mail_total", Help: "Attempts to send mail, by purpose and outcome.",
		}, []string{"purpose", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vestibule_refused_total", Help: "Requests that were refused, by the configuration key of the limit.",
		}, []string{"limit"}),
		files: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vestibule_sqlite_file_changes_total", Help: "Files that were renamed (exchanged) or copied over the SQLite database of queries.",
		}, []string{"change"}),
		pluginCalls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: pluginCallSeconds, Help: "Time of a plugin call, by plugin, method and outcome.",
			Buckets: []float64{.0001, .00025, .0005, .001, .005, .025, .1, .5, 1, 3, 10},
		}, []string{"plugin", "method", "outcome"}),
		pluginUp: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vestibule_plugin_up", Help: "1 while the plugin is ready.",
		}, []string{"plugin"}),
		pluginOther: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vestibule_plugin_events_total", Help: "Restarts, answers of the built-in dispenser in a plugin's place, dropped log lines, events that a listener was told or not.",
		}, []string{"plugin", "event"}),
	}
	m.registry.MustRegister(
		m.requests, m.audits, m.hashes, m.mails, m.refusals, m.files, m.pluginCalls, m.pluginUp, m.pluginOther,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, change := range []string{"exchanged", "copied"} {
		m.files.WithLabelValues(change)
	}
	for _, limit := range limits {
		m.refusals.WithLabelValues(limit)
	}
	return m
}

// Handler shows the metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Request counts an answered request.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Audit counts a sign-in event.
func (m *Metrics) Audit(event string) { m.audits.WithLabelValues(event).Inc() }

// Hash counts a password hash that was computed.
func (m *Metrics) Hash(format string) { m.hashes.WithLabelValues(format).Inc() }

// Refused counts a request that was refused by the limit of this key.
func (m *Metrics) Refused(limit string) { m.refusals.WithLabelValues(limit).Inc() }

// FileChange counts a file that was "exchanged" for the SQLite database of queries, or "copied" over it.
func (m *Metrics) FileChange(change string) { m.files.WithLabelValues(change).Inc() }

// Mail counts an attempt to send a mail.
func (m *Metrics) Mail(purpose, outcome string) {
	m.mails.WithLabelValues(purpose, outcome).Inc()
}

// PluginCall observes a call of a plugin's method.
func (m *Metrics) PluginCall(plugin, method, outcome string, took time.Duration) {
	m.pluginCalls.WithLabelValues(plugin, method, outcome).Observe(took.Seconds())
}

// PluginCalls tells how many calls of a plugin were observed, and the time within
// which 99 of a hundred were over, as far as the buckets of the histogram tell; the
// time is 0 without calls, and 10 s at most.
func (m *Metrics) PluginCalls(plugin string) (calls uint64, p99 time.Duration) {
	families, err := m.registry.Gather()
	if err != nil {
		return 0, 0 // a collector of the runtime failed
	}
	below := map[float64]uint64{}
	for _, family := range families {
		if family.GetName() != pluginCallSeconds {
			continue
		}
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
	return calls, quantile(below, 0.99*float64(calls))
}

// quantile returns the time within which so many calls were over; calls of one
// bucket are taken to be spread evenly over it. The counts are cumulative.
func quantile(below map[float64]uint64, calls float64) time.Duration {
	lower, before := 0.0, 0.0
	for _, upper := range slices.Sorted(maps.Keys(below)) {
		if n := float64(below[upper]); n >= calls && n > before {
			share := (calls - before) / (n - before)
			return time.Duration((lower + (upper-lower)*share) * float64(time.Second))
		}
		lower, before = upper, float64(below[upper])
	}
	return time.Duration(lower * float64(time.Second))
}

// PluginUp notes whether a plugin is ready.
func (m *Metrics) PluginUp(plugin string, up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.pluginUp.WithLabelValues(plugin).Set(value)
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
