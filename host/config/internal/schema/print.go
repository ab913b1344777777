package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Sample is the file that `vestibule init` writes: every setting with its
// default and what it means, as comments, so that a later default still counts.
func Sample(root Block) string {
	var b strings.Builder
	b.WriteString(`# Vestibule's configuration. Lines that are commented out show the defaults.
# Layers over this file, low to high: conf.d/*.hcl beside it, environment
# variables such as VESTIBULE_ODATA__PAGINATION__MAX=500, --set flags.
# Paths are relative to this file. Functions: env("NAME", default), file("path").
# ` + "`vestibule check`" + ` finds what is wrong; docs/configuration.md has it all.
`)
	for _, block := range root.Blocks {
		b.WriteString("\n")
		sampleBlock(&b, block, "")
	}
	return b.String()
}

// samples are examples of labelled blocks.
func samples() map[string]string {
	return map[string]string{
		"route": `route "home" {
  path     = "/"
  redirect = "/login"                 # or file = "site/home.html", dir, proxy
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/odata/"                # or proxy = "http://127.0.0.1:3000"
  guard    = "settled"                # the default: signed in, and done with every step
}
`,
		"identity": `# identity "company" {
#   plugin = "oidc"                   # below; it needs server.public_url
#   label  = "Company account"
#   link   = "never"                  # or confirm, verified_email
#   create = false
# }
# plugin "oidc" {
#   command = ["bin/oidc"]
#   roles   = ["identity_provider"]
# }
`,
		"plugin": `# plugin "orgs" {
#   command    = ["bin/orgsetup"]
#   roles      = ["dispenser", "org_setup"]
#   user_read  = ["partner_id"]
#   user_write = ["partner_id"]
# }
`,
		"entity_set": `  # entity_set "Products" {
  #   table = "products"
  #   hide  = ["cost"]
  # }
`,
	}
}

func sampleBlock(b *strings.Builder, block Block, indent string) {
	comment(b, block.Doc, indent)
	if block.Label != "" {
		b.WriteString(block.Sample)
		return
	}
	fmt.Fprintf(b, "%s%s {\n", indent, block.Name)
	width := 0
	for _, k := range block.Keys {
		width = max(width, len(k.Name))
	}
	for _, k := range block.Keys {
		setting := fmt.Sprintf("%s  # %-*s = %s", indent, width, k.Name, k.Def)
		line := fmt.Sprintf("%-38s # %s\n", setting, k.sampleDoc())
		if len(line) > lineWidth {
			comment(b, k.sampleDoc()+":", indent+"  ")
			line = setting + "\n"
		}
		b.WriteString(line)
	}
	for _, inner := range block.Blocks {
		if inner.Label == "" || inner.Sample != "" {
			b.WriteString("\n")
			sampleBlock(b, inner, indent+"  ")
		}
	}
	fmt.Fprintf(b, "%s}\n", indent)
}

// lineWidth is where the lines of the sample end.
const lineWidth = 112

func comment(b *strings.Builder, text, indent string) {
	for _, line := range wrap(text, lineWidth-len(indent)-2) {
		fmt.Fprintf(b, "%s# %s\n", indent, line)
	}
}

// sampleDoc is the documentation of a key in the file that `vestibule init` writes, with
// a sample value and the allowed words.
func (k Key) sampleDoc() string {
	doc := k.Doc
	if k.Sample != "" {
		doc += "; such as " + k.Sample
	}
	if len(k.OneOf) > 0 {
		doc += " (" + list(k.OneOf) + ")"
	}
	return doc
}

// wrap cuts text into lines of at most width bytes, at blanks.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Reference is the table of docs/configuration.md: all keys, in the order of the
// files config.hcl and .ui5-sources.hcl.
func Reference(root, sources Block) string {
	var b strings.Builder
	referenceBlocks(&b, root.Blocks, "")
	b.WriteString("### `source` in .ui5-sources.hcl\n\n")
	referenceKeys(&b, sources.Blocks[0])
	return b.String()
}

func referenceBlocks(b *strings.Builder, blocks []Block, above string) {
	for i, block := range blocks {
		name := above + block.Name
		title := name
		if block.Label != "" {
			title += " \"" + strings.ToUpper(block.Label) + "\""
		}
		fmt.Fprintf(b, "### `%s`\n\n%s", title, block.Doc)
		if j := slices.IndexFunc(blocks[:i], block.partOf); j >= 0 {
			fmt.Fprintf(b, " It has the keys and blocks of `%s`%s.\n\n", above+blocks[j].Name, block.lacking(blocks[j]))
			continue
		}
		b.WriteString("\n\n")
		referenceKeys(b, block)
		referenceBlocks(b, block.Blocks, name+".")
	}
}

// partOf reports whether other has all keys and blocks of b, with the same meaning.
func (b Block) partOf(other Block) bool {
	for _, k := range b.Keys {
		if same, ok := other.Key(k.Name); !ok || same.row() != k.row() {
			return false
		}
	}
	for _, inner := range b.Blocks {
		if !slices.ContainsFunc(other.Blocks, func(o Block) bool { return o.Name == inner.Name && inner.partOf(o) }) {
			return false
		}
	}
	return len(b.Keys) > 1
}

// lacking returns the part of a sentence that names what b does not have of other.
func (b Block) lacking(other Block) string {
	var names []string
	for _, k := range other.Keys {
		if _, ok := b.Key(k.Name); !ok {
			names = append(names, "`"+k.Name+"`")
		}
	}
	for _, o := range other.Blocks {
		if !slices.ContainsFunc(b.Blocks, func(inner Block) bool { return inner.Name == o.Name }) {
			names = append(names, "`"+o.Name+"`")
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " except " + strings.Join(names, ", ")
}

func referenceKeys(b *strings.Builder, block Block) {
	if len(block.Keys) == 0 {
		return
	}
	b.WriteString("| Key | Type and default | Meaning |\n|---|---|---|\n")
	for _, k := range block.Keys {
		b.WriteString(k.row())
	}
	b.WriteString("\n")
}

// row returns the line of the table for a key.
func (k Key) row() string {
	kind := strings.TrimSuffix(k.Kind.String(), " of strings")
	if len(k.OneOf) > 0 {
		kind = list(k.OneOf)
	}
	if k.Null && k.Def != "null" {
		kind += " or null"
	}
	switch {
	case k.Def != "":
		kind += "; `" + k.Def + "`"
	case k.Required:
		kind += ", required"
	}
	doc := k.Doc
	if k.Sample != "" {
		doc += "; e.g. `" + k.Sample + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", k.Name, kind, doc)
}
