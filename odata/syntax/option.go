package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// option is a set of system query options, most often of one.
type option uint32

const (
	optFilter option = 1 << iota
	optOrderBy
	optTop
	optSkip
	optCount
	optSelect
	optExpand
	optSearch
	optCompute
	optLevels
	optFormat
	optSkipToken
	optSchemaVersion
	optIndex
	optID
	optApply
	optDeltaToken
	optAlias
	optCustom
)

// systemOptions are the names of the options before optAlias, in their order.
var systemOptions = [...]string{
	"$filter", "$orderby", "$top", "$skip", "$count", "$select", "$expand", "$search", "$compute", "$levels",
	"$format", "$skiptoken", "$schemaversion", "$index", "$id", "$apply", "$deltatoken",
}

// Where which options may stand (OData-URL 5.1.3, 5.1.4; ABNF expandOption and its
// siblings).
const (
	topLevel = optFilter | optOrderBy | optTop | optSkip | optCount | optSelect | optExpand | optSearch |
		optCompute | optAlias | optFormat | optSkipToken | optSchemaVersion | optIndex | optID | optApply | optCustom
	onMetadata  = optFormat | optSchemaVersion | optCustom
	onEntity    = optFormat | optID | optSchemaVersion | optCustom
	onRefs      = optFilter | optSearch | optOrderBy | optSkip | optTop | optCount
	onSelection = onRefs | optCompute | optSelect | optAlias
	onExpansion = onSelection | optExpand | optLevels
)

// permitted returns the options that go with a resource path.
func permitted(path []Segment) option {
	if len(path) == 0 {
		return topLevel
	}
	switch path[0].Name {
	case segMetadata, segBatch:
		return onMetadata
	case segEntity:
		if len(path) == 1 {
			return onEntity
		}
		return onEntity | optSelect | optExpand
	}
	return topLevel
}

// systemOption looks up a name without its "$".
func systemOption(name string) (canonical string, o option) {
	for i, canonical := range systemOptions {
		if canonical[1:] == name {
			return canonical, 1 << i
		}
	}
	return "", 0
}

// classify tells what an option name means. Without "$" and in another case it is
// a system query option only in 4.01 (OData-URL 5.1); the tokens, which no client
// makes up, always have the "$" (ABNF skiptoken, deltatoken).
func (p *parser) classify(name string) (canonical string, o option) {
	switch {
	case strings.HasPrefix(name, "@"):
		return name, optAlias
	case strings.HasPrefix(name, "$"):
		bare := name[1:]
		if p.AnyCase {
			bare = strings.ToLower(bare)
		}
		return systemOption(bare)
	case p.AnyCase:
		canonical, o = systemOption(strings.ToLower(name))
		if o&(optSkipToken|optDeltaToken|optLevels) != 0 {
			o = 0
		}
	}
	if o == 0 {
		return name, optCustom
	}
	return canonical, o
}

// unknownOption is the error for an option that does not exist, with its remedy.
func (p *parser) unknownOption(at int, name string) error {
	if name == "" {
		return p.Malformed(at, "expected a query option")
	}
	hint := "; custom options start neither with $ nor with @"
	lower := strings.ToLower(name)
	if canonical, o := systemOption(strings.TrimPrefix(lower, "$")); o != 0 {
		hint = "; write " + canonical
	} else if lower == "$inlinecount" {
		hint = "; write $count=true"
	}
	return p.Fail(at, lex.CodeUnknownOption, "unknown option %s%s", name, hint)
}
