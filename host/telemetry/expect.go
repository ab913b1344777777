package telemetry

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// Series that appear with their first event hide it: a rate needs a value before. The
// methods named Expect make series with the value 0 of what can be known in advance.

// expect makes the series for each combination of label values.
func expect(vec *prometheus.CounterVec, values ...[]string) {
	combine(values, nil, func(labels []string) { vec.WithLabelValues(labels...) })
}

func combine(values [][]string, before []string, f func(labels []string)) {
	if len(values) == 0 {
		f(before)
		return
	}
	for _, value := range values[0] {
		combine(values[1:], append(before[:len(before):len(before)], value), f)
	}
}

// ExpectLimits tells which limits requests may be refused by, under their
// configuration keys.
func (m *Metrics) ExpectLimits(keys ...string) { expect(m.refusals, keys) }

// ExpectChecks makes a series for each check of /readyz whose failures are counted.
func (m *Metrics) ExpectChecks(names ...string) { expect(m.checks, names) }

// ExpectAudits tells which events of sign-in there are.
func (m *Metrics) ExpectAudits(events ...string) { expect(m.audits, events) }

// ExpectMails tells which mails there are, and what becomes of them.
func (m *Metrics) ExpectMails(purposes, outcomes []string) { expect(m.mails, purposes, outcomes) }

// ExpectRoute tells that a route is served.
func (m *Metrics) ExpectRoute(name string) {
	m.answered.Store(name, m.requests.WithLabelValues(name, "200"))
}

// ExpectReloads tells what may be read again while serving. It has been read once.
func (m *Metrics) ExpectReloads(whats ...string) {
	expect(m.reloads, whats, []string{"ok", "failed"})
	for _, what := range whats {
		m.reloaded.WithLabelValues(what).Set(1)
	}
}

// ExpectPlugin tells which plugin there is, with the methods that are called and the
// events that it may have. What was counted of it stays.
func (m *Metrics) ExpectPlugin(name string, methods, events []string) {
	m.pluginUp.WithLabelValues(name)
	expect(m.pluginOther, []string{name}, events)
	combine([][]string{{name}, methods, {"ok", "unavailable", "contract"}}, nil, func(labels []string) {
		m.pluginCalls.WithLabelValues(labels...)
	})
}

// Build tells which program this is. It is called once.
func (m *Metrics) Build(version, revision string) {
	info := gauges("vestibule_build_info", "1, with the version of the program, the commit where it is known, and the version of Go.", "version", "revision", "goversion")
	info.WithLabelValues(version, revision, runtime.Version()).Set(1)
	m.registry.MustRegister(info)
}
