package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// defaultOf evaluates a key's default. That every default in the schema is
// right is a test's business; one that looks into the environment may still be
// at fault, and then the variable is.
func (l *loader) defaultOf(k key) any {
	expr, diags := hclsyntax.ParseExpression([]byte(k.def), k.name, hcl.InitialPos)
	if diags.HasErrors() {
		l.findings.add(l.origins.at(), "default of "+k.name, diags.Error())
		return nil
	}
	v, diags := expr.Value(evalContext(l.dir, l.lookup))
	if diags.HasErrors() {
		l.findings.add(l.origins.at(), "default of "+k.name, diags.Error())
		return nil
	}
	value, _ := k.convert(v, func(_ []string, f fault) { l.findings.add(l.origins.at(), "default of "+f.what, f.remedy) })
	return value
}
