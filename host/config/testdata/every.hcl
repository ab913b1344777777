# Sets each key of the schema to something other than its default, for TestEveryKey,
# but for database.driver, whose other values TestDatabasesThatCannotBeOpened has.
server {
  address         = "127.0.0.1:1"
  public_url      = "https://app.example.com/"
  trusted_proxies = ["10.0.0.0/8"]
  public_dir      = "files"
  admin_address   = "127.0.0.1:2"
  run_dir         = "/var/tmp"
  memory          = "300MiB"
  drain           = "3s"
  tls {
    cert = "tls/a.crt"
    key  = "tls/a.key"
  }
  log {
    level  = "warn"
    format = "json"
  }
}
app {
  name = "Acme Orders"
}
limits {
  requests_per_client = 23
  upgrades_per_client = 24
}
database {
  driver = "sqlite"
  dsn    = "people.db"
  max_connections = 21
  start_wait      = "2s"
  wait            = "22s"
}
session {
  idle     = "3h"
  absolute = "4h"
  remember = "5h"
}
auth {
  login_field    = "name"
  active         = "partner_id ne 5"
  recent         = "4m"
  redirect_hosts = ["crm.example.com"]
  dispensers     = ["c", "a"]
  throttle {
    attempts = 6
    window   = "7s"
    client_attempts = 77
  }
  reset {
    lifetime = "8m"
    resend   = "9s"
    attempts = 10
  }
  password {
    min_length = 11
    hash       = "keep"
  }
  passkeys {
    enabled = false
    rp_id   = "example.com"
  }
  tokens {
    self_service = true
    max_lifetime = "12h"
  }
}
mail {
  transport = "smtp"
  dir       = "letters"
  from      = "Shop <shop@example.com>"
  templates = "mails"
  smtp {
    host     = "mail.example.com"
    port     = 2525
    username = "shop"
    password = "hush"
    tls      = "implicit"
  }
}
route "home" {
  path = "/"
  file = "home.html"
}
route "files" {
  path  = "/files"
  dir   = "files"
  guard = "settled"
}
route "app" {
  path  = "/app"
  proxy = "http://127.0.0.1:3"
  guard = "none"

  strip_prefix = true
  headers      = { "Remote-User" = "PARTNER_ID" }
  assertion    = true
  tokens       = true
}
route "old" {
  path     = "/old"
  redirect = "/app"
  guard    = "session"
}
ui {
  sources = "app.hcl"
}
plugin "a" {
  command    = ["bin/a", "a.js"]
  roles      = ["dispenser"]
  sha256     = "1111111111111111111111111111111111111111111111111111111111111111"
  checksums  = { "a.js" = "2222222222222222222222222222222222222222222222222222222222222222" }
  user_read  = ["partner_id"]
  user_write = ["tenant_id"]
  mails      = ["greeting"]
  headers    = ["accept-language"]
  env        = { COLOUR = "red" }
  timeout    = "12s"
  config {
    fallback = "/x"
  }
}
plugin "b" {
  command = ["bin/a"]
  roles   = ["org_setup", "identity_provider", "validator"]
}
identity "company" {
  plugin = "b"
  label  = "Company account"
  link   = "verified_email"
  create = true
}
identity "another" {
  plugin = "b"
}
plugin "c" {
  command = ["bin/a"]
  roles   = ["dispenser"]
}
odata {
  guard    = "session"
  discover = ["reviews"]
  i18n     = "texts"
  pagination {
    default = 13
    max     = 14
    links   = "key"
  }
  database {
    driver = "sqlite"
    dsn    = "shop.db"
    max_connections = 25
  }
  limits {
    max_top      = 15
    expand_depth = 16
    filter_nodes = 17
    timeout      = "18s"
    slow_reader  = "3KiB"
    apply_steps  = 33
    apply_groups = 34
    rows         = 26
    bytes        = "27KiB"
    concurrent   = 28
  }
  entity_set "Products" {
    table  = "products"
    type   = "Ware"
    guard  = "session"
    key    = ["number"]
    hide   = ["cost"]
    search = ["title"]
    apply  = false
    filter = "tenant eq @user_tenant_id"
    description = "What is for sale"
    title         = "ware"
    title_plural  = "Our wares"
    list          = ["number", "title"]
    fields        = ["From/city"]
    search_fields = ["title"]
    semantic_key  = ["number"]
    property "price" {
      name      = "Price"
      type      = "Edm.Decimal"
      precision = 12
      scale     = 3
      aggregate = "sum"
      description = "Before tax"
      label       = "ware.price"
      text        = "title"
      currency    = "title"
      unit        = "'kg'"
      value_list  = "Plain"
      hidden      = true
      format      = "masked"
    }
    property "status" {
      type = "Status"
    }
    complex "Address" {
      name   = "From"
      prefix = "from_"
    }
    navigation "comments" {
      to   = "reviews"
      many = true
      on   = { number = "product" }
    }
    navigation "related" {
      to       = "Plain"
      many     = true
      via      = "pairs"
      from_key = "one"
      to_key   = "other"
    }
  }
  entity_set "Plain" {
    table = "plain"
    write {
      create  = true
      update  = true
      delete  = true
      filter  = "owner eq @user_id"
      set     = { owner = "@user_id" }
      touch   = { changed = "5" }
      fixed   = ["kind"]
      version = "rev"
      validator = "b"
    }
  }
  singleton "Company" {
    table  = "companies"
    type   = "Firm"
    guard  = "settled"
    key    = ["code"]
    hide   = ["secret"]
    filter = "active eq 1"
    description = "Who sells"
    title         = "Our firm"
    title_plural  = "All firms"
    list          = ["code"]
    fields        = ["Name"]
    search_fields = ["Seat/city"]
    semantic_key  = ["code"]
    property "name" {
      name      = "Name"
      type      = "Edm.Decimal"
      precision = 19
      scale     = 4
      aggregate = "max"
      description = "As registered"
      label       = "As people say it"
      text        = "Seat/city"
      currency    = "'EUR'"
      unit        = "Seat/city"
      value_list  = "Products"
      hidden      = true
      format      = "masked"
    }
    complex "Place" {
      name   = "Seat"
      prefix = "seat_"
    }
    navigation "wares" {
      to   = "Products"
      many = true
      on   = { code = "company" }
    }
    navigation "bound" {
      to       = "Plain"
      many     = true
      via      = "pairs"
      from_key = "one"
      to_key   = "other"
    }
  }
  singleton "Other" {
    table = "others"
  }
  enum "Status" {
    flags   = true
    members = { None = 0, InStock = 1 }
    labels  = { InStock = "Ready to go" }
  }
  enum "Kind" {
    members = { A = 1 }
    labels  = { A = "ware" }
  }
}
