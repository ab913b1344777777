package active

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Suspects returns those of the columns that look like deactivation and that a condition does not name, and for each
// the condition that lets in who is active.
func Suspects(columns []store.Column, named []string) (suspects []store.Column, conditions []string) {
	for _, c := range columns {
		condition, ok := suspect(c)
		if !ok || slices.Contains(named, c.Name) {
			continue
		}
		suspects, conditions = append(suspects, c), append(conditions, condition)
	}
	return suspects, conditions
}

// suspect returns the condition that fits a column whose name says that it deactivates people, whatever its case and with
// or without underscores.
func suspect(c store.Column) (condition string, ok bool) {
	switch name := strings.ReplaceAll(reserved.Fold(c.Name), "_", ""); name {
	case "status", "userstatus", "accountstatus":
		if one := map[string]string{"int": "1", "bool": "true"}[c.Kind().String()]; one != "" {
			return c.Name + " eq " + one, true
		}
		return c.Name + " eq 'active'", true
	case "active", "isactive", "enabled", "isenabled":
		if c.Kind().String() == "text" {
			return c.Name + " eq 'true'", true
		}
		return truth(c, c.Name, c.Name+" ne null"), true
	default:
		word := strings.TrimSuffix(strings.TrimPrefix(name, "is"), "at")
		words := []string{"deleted", "disabled", "deactivated", "inactive", "banned", "blocked", "locked", "suspended"}
		if !slices.Contains(words, word) {
			return "", false
		}
		return truth(c, c.Name+" ne true", c.Name+" eq null"), true
	}
}

// truth returns yes for a column of truth values, and otherwise no.
func truth(c store.Column, yes, no string) string {
	at := strings.HasSuffix(reserved.Fold(c.Name), "at")
	if kind := c.Kind().String(); kind == "bool" || kind == "int" && !at {
		return yes
	}
	return no
}
