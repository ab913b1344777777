package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const textsConfig = `
route "home" {
  path     = "/"
  redirect = "/dashboard"
}
route "dashboard" {
  path = "/dashboard"
  file = "home.html"
}
database {
  dsn = "shop.db"
}
odata {
  i18n = "texts"
  entity_set "Products" {
    table = "products"
    title = "product"
    list  = ["titel"]
    property "title" {
      label = "A text with blanks"
    }
    property "price" {
      label    = "product"
      currency = "'EUR'"
    }
  }
  enum "Status" {
    members = { Open = 0, Closed = 1, Lost = 2 }
    labels  = { Open = "status.open", Closed = "Done with" }
  }
}
`

// allTexts has the keys of textsConfig.
const allTexts = "product=P\nstatus.open=O"

func TestTextsOfTables(t *testing.T) {
	good := strings.Replace(textsConfig, "titel", "title", 1)
	for name, c := range map[string]struct {
		text  string
		files map[string]string
		want  []string
	}{
		"all there": {good, map[string]string{"i18n.properties": allTexts, "i18n_de.properties": allTexts}, nil},
		"a key that one file lacks": {
			good,
			map[string]string{"i18n.properties": allTexts, "i18n_de.properties": "status.open=O"},
			[]string{`config.hcl:17:13: warning: entity_set.Products.title: texts/i18n_de.properties has no key "product": add the line product = … to it; a text with a blank in it is none`},
		},
		"a label of a member that one file lacks": {
			good,
			map[string]string{"i18n.properties": allTexts, "i18n_de.properties": "product=P"},
			[]string{`config.hcl:29:24: warning: enum.Status.labels.Open: texts/i18n_de.properties has no key "status.open": add the line status.open = … to it; a text with a blank in it is none`},
		},
		"no file for all languages": {
			good,
			map[string]string{"i18n_de.properties": ""},
			[]string{`config.hcl:14:10: odata.i18n: there is no file texts/i18n.properties: make it, or correct the path: it has the texts for all languages without a file of their own`},
		},
		"a file of no language": {
			good,
			map[string]string{"i18n.properties": allTexts, "i18n_germany_x.properties": ""},
			[]string{`config.hcl:14:10: odata.i18n: texts/i18n_germany_x.properties is of no language: name it i18n_de.properties, with the BCP 47 tag of a language`},
		},
		"a property that is not there": {
			textsConfig,
			map[string]string{"i18n.properties": allTexts},
			[]string{`config.hcl:18:13: entity_set "Products": there is no property "titel": did you mean "title"?`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"config.hcl": c.text, "home.html": "home"}
			for file, text := range c.files {
				files["texts/"+file] = text
			}
			write(t, files)
			execute(t, "shop.db", everyUser+";"+everyShop)
			cfg, found := load(t, nil)
			if found != nil {
				t.Fatal(found)
			}
			if diff := cmp.Diff(c.want, lines(cfg.Verify(t.Context()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
