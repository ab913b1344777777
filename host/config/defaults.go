package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// defaultOf evaluates a key's default. TestDefaults holds the defaults; one that
// reads the environment is a finding when the variable does not fit.
func (l *loader) defaultOf(k schema.Key) any {
	expr, diags := hclsyntax.ParseExpression([]byte(k.Def), k.Name, hcl.InitialPos)
	if diags.HasErrors() {
		l.findings.Add(l.origins.At(), "default of "+k.Name, diags.Error())
		return nil
	}
	v, diags := expr.Value(layer.EvalContext(l.dir, l.lookup))
	if diags.HasErrors() {
		l.findings.Add(l.origins.At(), "default of "+k.Name, diags.Error())
		return nil
	}
	value, _ := k.Convert(v, func(f Finding) { l.findings.Add(l.origins.At(), "default of "+f.What, f.Remedy) })
	return value
}
