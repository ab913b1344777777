package telemetry

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
)

// scrapeLimit is how long a scrape waits for all that it asks for. What does not
// answer by then has no value, or NaN, in that scrape.
const scrapeLimit = time.Second

// Watched is what each scrape asks for, rather than what is counted as it happens. A
// nil function has no series. All are called by several goroutines at once.
type Watched struct {
	// Ready returns the results of /readyz by check.
	Ready func(context.Context) map[string]string
	// Pools returns the states of pools of connections by name.
	Pools func() map[string]sql.DBStats
	// Queues never wait for those who are in them.
	Queues func() []admission.State
	// Outbox may ask the database.
	Outbox func(context.Context) ([]outbox.Backlog, error)
	// Plugins returns the plugins, and PluginStates are all states of a plugin.
	Plugins      func() []Plugin
	PluginStates []string
	// LogLinesLost returns how many lines of the log were lost.
	LogLinesLost func() int64
	// CertificateExpiry is when the certificate that is served ceases to be valid.
	CertificateExpiry func() time.Time
}

// A Plugin holds the values that a scrape shows of one plugin.
type Plugin struct {
	Name, State string
	// Version is the plugin's own, and SHA256 the hexadecimal checksum of its program.
	Version, SHA256 string
	// Memory is the resident memory of its process in bytes, 0 if it is not known.
	Memory int64
}

// A metric is the name of a series that is made anew for each scrape.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

func (m metric) send(to chan<- prometheus.Metric, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

// A watcher is the prometheus.Collector of a Watched.
type watcher struct {
	of Watched

	ready                                              metric
	connections, maxConnections, poolWaits, poolWaited metric
	slots, held, waiting, queueWaits, queueWaited      metric
	outbox, oldest                                     metric
	plugins, pluginInfo, pluginMemory                  metric
	expiry, linesLost                                  metric
}

// Watch adds the series of w to those of m. It is called once.
func (m *Metrics) Watch(w Watched) {
	m.registry.MustRegister(&watcher{
		of:    w,
		ready: gauge("vestibule_ready", "1 for each check of /readyz that finds nothing wrong, else 0.", "check"),

		connections:    gauge("vestibule_pool_connections", "Connections to databases, by pool and state (in_use, idle).", "pool", "state"),
		maxConnections: gauge("vestibule_pool_max_connections", "How many connections a pool may have.", "pool"),
		poolWaits:      counter("vestibule_pool_waits_total", "How often no connection of a pool was free.", "pool"),
		poolWaited:     counter("vestibule_pool_wait_seconds_total", "Time that was spent waiting for a connection.", "pool"),

		slots:       gauge("vestibule_queue_slots", "How many may be served at once; queues without a bound have no series.", "queue"),
		held:        gauge("vestibule_queue_held", "How many are being served: requests under way, queries, passwords that are hashed.", "queue"),
		waiting:     gauge("vestibule_queue_waiting", "How many wait for their turn.", "queue"),
		queueWaits:  counter("vestibule_queue_waits_total", "How many had to wait for their turn.", "queue"),
		queueWaited: counter("vestibule_queue_wait_seconds_total", "Time that was spent waiting for a turn.", "queue"),

		outbox:  gauge("vestibule_outbox_items", "Rows of the outbox of all hosts, by kind (mail, event) and state (waiting, dead); NaN when the database does not tell.", "kind", "state"),
		oldest:  gauge("vestibule_outbox_oldest_age_seconds", "How long the oldest that waits in the outbox has been there, by kind; 0 when nothing waits, NaN when the database does not tell.", "kind"),
		plugins: gauge("vestibule_plugin_state", "1 for the state that a plugin is in, 0 for the others.", "plugin", "state"),
		expiry:  gauge("vestibule_tls_certificate_expiry_timestamp_seconds", "When the TLS certificate that is served ceases to be valid, in seconds since 1970."),

		pluginInfo:   gauge("vestibule_plugin_info", "1, with the version of the plugin and the SHA-256 of its program.", "plugin", "version", "sha256"),
		pluginMemory: gauge("vestibule_plugin_resident_memory_bytes", "Resident memory of the process of the plugin, without that of processes which it starts; no series while none runs. Linux alone has it.", "plugin"),

		linesLost: counter("vestibule_log_lines_lost_total", "Lines of the log that were lost because its reader stood still or was away."),
	})
}

// Describe implements prometheus.Collector.
func (w *watcher) Describe(to chan<- *prometheus.Desc) {
	for _, m := range []metric{
		w.ready, w.connections, w.maxConnections, w.poolWaits, w.poolWaited,
		w.slots, w.held, w.waiting, w.queueWaits, w.queueWaited, w.outbox, w.oldest, w.plugins, w.pluginInfo, w.pluginMemory, w.expiry, w.linesLost,
	} {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (w *watcher) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	w.collectReady(ctx, to)
	w.collectPools(to)
	w.collectQueues(to)
	w.collectPlugins(to)
	w.collectOutbox(ctx, to)
	if w.of.LogLinesLost != nil {
		w.linesLost.send(to, float64(w.of.LogLinesLost()))
	}
	if w.of.CertificateExpiry != nil {
		w.expiry.send(to, float64(w.of.CertificateExpiry().Unix()))
	}
}

func (w *watcher) collectReady(ctx context.Context, to chan<- prometheus.Metric) {
	if w.of.Ready == nil {
		return
	}
	for check, result := range w.of.Ready(ctx) {
		w.ready.send(to, oneIf(result == OK), check)
	}
}

func (w *watcher) collectPools(to chan<- prometheus.Metric) {
	if w.of.Pools == nil {
		return
	}
	for name, p := range w.of.Pools() {
		w.connections.send(to, float64(p.InUse), name, "in_use")
		w.connections.send(to, float64(p.Idle), name, "idle")
		w.maxConnections.send(to, float64(p.MaxOpenConnections), name)
		w.poolWaits.send(to, float64(p.WaitCount), name)
		w.poolWaited.send(to, p.WaitDuration.Seconds(), name)
	}
}

func (w *watcher) collectQueues(to chan<- prometheus.Metric) {
	if w.of.Queues == nil {
		return
	}
	for _, q := range w.of.Queues() {
		if q.Slots > 0 {
			w.slots.send(to, float64(q.Slots), q.Name)
		}
		w.held.send(to, float64(q.Held), q.Name)
		w.waiting.send(to, float64(q.Waiting), q.Name)
		w.queueWaits.send(to, float64(q.Waits), q.Name)
		w.queueWaited.send(to, q.Waited.Seconds(), q.Name)
	}
}

func (w *watcher) collectPlugins(to chan<- prometheus.Metric) {
	if w.of.Plugins == nil {
		return
	}
	for _, p := range w.of.Plugins() {
		for _, state := range w.of.PluginStates {
			w.plugins.send(to, oneIf(state == p.State), p.Name, state)
		}
		w.pluginInfo.send(to, 1, p.Name, p.Version, p.SHA256)
		if p.Memory > 0 {
			w.pluginMemory.send(to, float64(p.Memory), p.Name)
		}
	}
}

func (w *watcher) collectOutbox(ctx context.Context, to chan<- prometheus.Metric) {
	if w.of.Outbox == nil {
		return
	}
	list, err := w.of.Outbox(ctx)
	if err != nil {
		for _, kind := range []string{"mail", "event"} {
			w.outbox.send(to, math.NaN(), kind, "waiting")
			w.outbox.send(to, math.NaN(), kind, "dead")
			w.oldest.send(to, math.NaN(), kind)
		}
		return
	}
	for _, b := range list {
		w.outbox.send(to, float64(b.Waiting), b.Kind, "waiting")
		w.outbox.send(to, float64(b.Dead), b.Kind, "dead")
		w.oldest.send(to, b.Oldest.Seconds(), b.Kind)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
