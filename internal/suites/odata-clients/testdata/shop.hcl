# A shop whose orders are written as whole documents, under the rules of examples/order-rules.
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

# OpenUI5, as examples/ui5-dashboard has built it, and a page that uses its model.
route "ui5" {
  path  = "/ui5"
  dir   = "ui5"
  guard = "none"
}
route "openui5" {
  path  = "/openui5"
  dir   = "openui5"
  guard = "none"
}

plugin "order-rules" {
  command = ["./order-rules"]
  roles   = ["validator"]
}

odata {
  entity_set "Customers" {
    table = "customers"
    write {
      create = true
      update = true
      filter = "true"
    }
  }
  entity_set "Products" {
    table = "products"
    navigation "tags" {
      to       = "Tags"
      many     = true
      via      = "product_tags"
      from_key = "product_id"
      to_key   = "tag_code"
    }
    write {
      update    = true
      filter    = "true"
      validator = "order-rules"
    }
  }
  entity_set "Tags" {
    table = "tags"
    write {
      create = true
      update = true
      filter = "true"
    }
  }
  entity_set "Orders" {
    table = "orders"
    hide  = ["version"]
    navigation "items" {
      to   = "OrderItems"
      many = true
      on   = { id = "order_id" }
    }
    write {
      create    = true
      update    = true
      delete    = true
      filter    = "true"
      set       = { created_by = "@user_id" }
      version   = "version"
      validator = "order-rules"
    }
  }
  entity_set "OrderItems" {
    table = "order_items"
    write {
      create = true
      update = true
      delete = true
      filter = "true"
      fixed  = ["order_id", "line_no"]
    }
  }
}
