package pluginproc

import "github.com/vestibule-dev/vestibule/v2/pluginsdk"

// Bare returns the connection to the dispenser without anything of ours around
// it, as the baseline of benchmarks.
func (m *Manager) Bare() *pluginsdk.Client {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.roles[RoleDispenser]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.Client
}
