package layer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// TestKoanf holds that Parser is a koanf.Parser, and that our merge and our decoding, which copy nothing, have the result of koanf's.
func TestKoanf(t *testing.T) {
	layers := []string{
		`server {
  address         = "127.0.0.1:1"
  trusted_proxies = ["10.0.0.0/8", "127.0.0.1/32"]
}
limits {
  requests_per_client = 7
}
route "app" {
  path    = "/app"
  proxy   = "http://127.0.0.1:3000"
  headers = { "Remote-User" = "email", "Remote-Name" = "name" }
}
plugin "orgs" {
  command = ["bin/orgs", "-v"]
  roles   = []
  env     = {}
  timeout = "90s"
  config {
    url = "https://crm.example.com"
    deep {
      list = [1, { a = null }]
    }
  }
}
odata {
  limits {
    bytes    = "4KiB"
    max_top  = 10
    timeout  = "2s"
  }
  enum "Colour" {
    members = { Red = 1, Blue = 2 }
  }
  entity_set "Products" {
    table = "products"
    hide  = ["cost"]
    property "price" {
      label     = "Price"
      precision = 12
    }
    write {
      create = true
      set    = { tenant = "@user_tenant" }
    }
  }
}`,
		`server {
  trusted_proxies = []
}
route "app" {
  headers = { "Remote-User" = "name" }
}
odata {
  limits {
    max_top = null
  }
  enum "Colour" {
    members = { Green = 3 }
  }
  entity_set "Products" {
    property "price" {
      label = "Amount"
    }
    property "name" {
      hidden = true
    }
  }
  entity_set "Orders" {
    table = "orders"
  }
}
plugin "orgs" {
  config {
    deep {
      more = true
    }
  }
}`,
	}
	k, ours := koanf.New("\x1f"), map[string]any{}
	for _, text := range layers {
		p := parser()
		values, err := p.Unmarshal([]byte(text))
		if err != nil || len(p.Findings) > 0 {
			t.Fatal(err, p.Findings)
		}
		schema.Merge(ours, values)
		if err := k.Load(rawbytes.Provider([]byte(text)), parser()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(k.Raw(), ours); diff != "" {
		t.Errorf("merged otherwise than by koanf (-koanf +ours):\n%s", diff)
	}
	var want, got config.Config
	if err := k.Unmarshal("", &want); err != nil {
		t.Fatal(err)
	}
	if err := schema.Decode(ours, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Errorf("decoded otherwise than by koanf (-koanf +ours):\n%s", diff)
	}
	if price := got.OData.EntitySets["Products"].Properties["price"]; *price.Label != "Amount" || *price.Precision != 12 {
		t.Errorf("the property is %+v", price)
	}
}

// TestDecodeFaults holds that values of another type than that of a setting are an error.
func TestDecodeFaults(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"a text for a number":   {"limits": map[string]any{"requests_per_client": "7"}},
		"a number for a text":   {"server": map[string]any{"address": int64(7)}},
		"a block for a list":    {"server": map[string]any{"trusted_proxies": map[string]any{}}},
		"a text for a list":     {"server": map[string]any{"trusted_proxies": "10.0.0.0/8"}},
		"a number in a list":    {"server": map[string]any{"trusted_proxies": []any{int64(1)}}},
		"a text for a block":    {"server": "127.0.0.1:1"},
		"a text for the blocks": {"route": "app"},
		"a list for a text":     {"server": map[string]any{"address": []any{}}},
	} {
		if err := schema.Decode(values, &config.Config{}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
