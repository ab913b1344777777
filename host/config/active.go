package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/active"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// active returns the condition of auth.active over the columns of users, nil for none,
// and finds what is wrong with it. It warns of columns that look like deactivation and
// that the condition does not name.
func (c *Config) active(columns []store.Column, f *Findings) func(map[string]any, time.Time) bool {
	if c.faulty("auth", "active") {
		return nil
	}
	var condition active.Condition
	var named []string
	if text := c.Auth.Active; text != nil {
		var err error
		condition, named, err = active.Compile(*text, columns)
		if wrong, ok := errors.AsType[Finding](err); ok {
			f.Add(c.at("auth", "active"), "auth.active: "+wrong.What, wrong.Remedy)
			return nil
		}
	}
	c.warnOfSuspects(columns, named, f)
	return condition
}

// warnOfSuspects tells of columns by which the application seems to deactivate people
// without keeping them from signing in.
func (c *Config) warnOfSuspects(columns []store.Column, named []string, f *Findings) {
	suspects, conditions := active.Suspects(columns, named)
	if len(suspects) == 0 {
		return
	}
	if text := c.Auth.Active; text != nil {
		conditions = append([]string{"(" + *text + ")"}, conditions...)
	}
	f.Warn(c.at("auth", "active"), fmt.Sprintf("auth.active does not mention %s of users: whom the application deactivates by it still signs in", strings.Join(columnNames(suspects), ", ")),
		fmt.Sprintf("write auth { active = %q }, or what these columns mean", strings.Join(conditions, " and ")))
}
