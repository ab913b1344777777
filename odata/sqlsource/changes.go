package sqlsource

import (
	"fmt"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// changes remembers a plan that failed because somebody changed the tables below the model. It is safe for concurrent use.
type changes struct {
	mu   sync.Mutex
	plan *plan.Plan
}

// note remembers a plan whose statements name what is not there.
func (c *changes) note(p *plan.Plan, err error) {
	if !engine.IsChanged(err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plan = p
}

// look says that the database was changed, until the plan that showed it can be opened again.
func (c *changes) look(open func(*plan.Plan) error) error {
	c.mu.Lock()
	p := c.plan
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	err := open(p)
	if engine.IsChanged(err) {
		return changedBelow(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plan == p {
		c.plan = nil
	}
	return nil
}

func changedBelow(err error) error {
	return fmt.Errorf("the database was changed below the query endpoint: put back what it had, or restart after adapting the configuration: %w", err)
}
