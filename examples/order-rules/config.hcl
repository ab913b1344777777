# A shop whose products and orders follow the rules of order-rules. README.md has the steps.
database {
  driver = "sqlite"
  dsn    = "shop.db"
}

route "home" {
  path     = "/"
  redirect = "/odata/"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/odata/"
}

plugin "order-rules" {
  command = ["./order-rules"] # or ["python3", "order_rules.py"]
  roles   = ["validator"]
  config {
    limit = 1000
  }
}

odata {
  entity_set "Products" {
    table = "products"
    write {
      update    = true
      filter    = "true"
      validator = "order-rules"
    }
  }
  entity_set "Orders" {
    table = "orders"
    hide  = ["version"]
    write {
      create    = true
      update    = true
      delete    = true
      filter    = "true"
      set       = { created_by = "@user_id", created_at = "@now" }
      fixed     = ["product_id"]
      version   = "version"
      validator = "order-rules"
    }
  }
}
