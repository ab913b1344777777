package telemetry

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are what the admin address shows under /metrics, in a registry of the
// host's own. They are safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	calls       *prometheus.Registry // pluginCalls alone, for [Metrics.PluginCalls]
	requests    *prometheus.HistogramVec
	answered    sync.Map // by route the prometheus.Observer of requests for it with status 200
	responses   [len(classes)]prometheus.Counter
	audits      *prometheus.CounterVec
	hashes      *prometheus.CounterVec
	mails       *prometheus.CounterVec
	refusals    *prometheus.CounterVec
	files       *prometheus.CounterVec
	stages      map[string]prometheus.Observer
	reloads     *prometheus.CounterVec
	reloaded    *prometheus.GaugeVec
	restart     *prometheus.GaugeVec
	restartKeys sync.Map // of restart, the labels that have a series
	checks      *prometheus.CounterVec
	pluginCalls *prometheus.HistogramVec
	longestMu   sync.Mutex
	longest     map[string]time.Duration // of the calls of each plugin
	pluginUp    *prometheus.GaugeVec
	pluginOther *prometheus.CounterVec
}

// classes are those of statuses (RFC 9110 15).
var classes = [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}

// New returns metrics that have counted nothing yet. What is known in advance has its
// series from the start, see the methods named Expect.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls:    prometheus.NewRegistry(),
		requests: histograms("vestibule_request_seconds", "Time to answer a request, by route and status.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}, "route", "status"),
		audits:   counters("vestibule_auth_events_total", "Sign-in events, such as login, login_failed, lockout, logout, reset.", "event"),
		hashes:   counters("vestibule_password_hashes_total", "Password hashes computed, by format and cost.", "format"),
		mails:    counters("vestibule_mail_total", "Attempts to send mail, by purpose and outcome.", "purpose", "outcome"),
		refusals: counters("vestibule_refused_total", "Requests that were refused, by the configuration key of the limit.", "limit"),
		files:    counters("vestibule_sqlite_file_changes_total", "Files that were renamed (exchanged) or copied over the SQLite database of queries.", "change"),
		reloads:  counters("vestibule_reloads_total", "How often something was read again while serving, by what it is and outcome (ok, failed).", "what", "outcome"),
		restart:  gauges("vestibule_restart_needed", "1 for each setting that differs from what the host runs with, until it is changed back or the host restarted.", "key"),
		reloaded: gauges("vestibule_reload_last_success", "1 when the last reload went well, 0 when what could not be read stays as it was.", "what"),
		checks:   counters("vestibule_check_failures_total", "How often a check of /readyz began to fail, by check.", "check"),
		pluginCalls: histograms("vestibule_plugin_call_seconds", "Time of a plugin call, by plugin, method and outcome.",
			[]float64{.0001, .00025, .0005, .001, .005, .025, .1, .5, 1, 3, 10}, "plugin", "method", "outcome"),
		longest:     map[string]time.Duration{},
		pluginUp:    gauges("vestibule_plugin_up", "1 while the plugin is ready.", "plugin"),
		pluginOther: counters("vestibule_plugin_events_total", "Restarts, answers of the built-in dispenser in a plugin's place, dropped log lines, events that a listener was told or not.", "plugin", "event"),
	}
	stages := histograms("vestibule_odata_stage_seconds", "Time of each stage of a query: parse, plan, wait (for its turn), database (to the first row), write (with reading the rows).",
		[]float64{.00001, .0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 30}, "stage")
	responses := counters("vestibule_responses_total", "Requests that were answered, by class of the status.", "class")
	m.registry.MustRegister(
		m.requests, responses, m.audits, m.hashes, m.mails, m.refusals, m.files, stages, m.reloads, m.reloaded, m.restart, m.checks, m.pluginCalls, m.pluginUp, m.pluginOther,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.calls.MustRegister(m.pluginCalls)
	expect(m.files, []string{"exchanged", "copied"})
	for i, class := range classes {
		m.responses[i] = responses.WithLabelValues(class)
	}
	m.stages = map[string]prometheus.Observer{}
	for _, stage := range []string{"parse", "plan", "wait", "database", "write"} {
		m.stages[stage] = stages.WithLabelValues(stage)
	}
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler shows the metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Request counts an answered request.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.answer(route, status).Observe(took.Seconds())
	m.responses[min(max(status/100, 1), len(m.responses))-1].Inc()
}

// answer finds the series of a request, without its labels for most.
func (m *Metrics) answer(route string, status int) prometheus.Observer {
	if status == http.StatusOK {
		if o, ok := m.answered.Load(route); ok {
			return o.(prometheus.Observer)
		}
	}
	return m.requests.WithLabelValues(route, strconv.Itoa(status))
}

// Stage observes a stage of a query: "parse", "plan", "wait", "database" or "write".
func (m *Metrics) Stage(stage string, took time.Duration) { m.stages[stage].Observe(took.Seconds()) }

// Reload counts that something was read again while serving, see
// [Metrics.ExpectReloads]; err is why it stays as it was.
func (m *Metrics) Reload(what string, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.reloads.WithLabelValues(what, outcome).Inc()
	m.reloaded.WithLabelValues(what).Set(oneIf(err == nil))
}

// RestartNeeded shows which settings differ from those that the host runs with. Settings
// that earlier calls named and this one does not are as the host runs with them.
func (m *Metrics) RestartNeeded(settings map[string]bool) {
	for key := range settings {
		m.restartKeys.Store(key, true)
	}
	m.restartKeys.Range(func(key, _ any) bool {
		m.restart.WithLabelValues(key.(string)).Set(oneIf(settings[key.(string)]))
		return true
	})
}

// Audit counts a sign-in event.
func (m *Metrics) Audit(event string) { m.audits.WithLabelValues(event).Inc() }

// Hash counts a password hash that was computed.
func (m *Metrics) Hash(format string) { m.hashes.WithLabelValues(format).Inc() }

// ExpectHash shows a format of password hashes of which none was computed yet.
func (m *Metrics) ExpectHash(format string) { m.hashes.WithLabelValues(format) }

// Refused counts a request that was refused by the limit of this key.
func (m *Metrics) Refused(limit string) { m.refusals.WithLabelValues(limit).Inc() }

// FileChange counts a file that was "exchanged" for the SQLite database of queries, or "copied" over it.
func (m *Metrics) FileChange(change string) { m.files.WithLabelValues(change).Inc() }

// CheckFailed counts that a check of /readyz began to fail.
func (m *Metrics) CheckFailed(check string) { m.checks.WithLabelValues(check).Inc() }

// Mail counts an attempt to send a mail.
func (m *Metrics) Mail(purpose, outcome string) {
	m.mails.WithLabelValues(purpose, outcome).Inc()
}
