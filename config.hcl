# The demo: a shop with sign-in, one step that a plugin adds, and a query
# endpoint. `make run` makes what it needs and serves it. For an installation of
# your own begin with `vestibule init`. Paths are relative to this file.

server {
  address    = "127.0.0.1:8080"
  public_dir = "examples/shop/public" # logo, styles, scripts: served at /
}

database {
  driver = "sqlite"
  dsn    = "shop.db" # made by: go run ./examples/shop -db shop.db
}

# Reset links land here as files. transport = "smtp" sends them.
mail {
  transport = "file"
  dir       = "mail"
  from      = "Fernweh <no-reply@localhost>"
}

# The five routes that the sign-in knows by name. Only home and dashboard are
# needed; the sign-in page links the others where they exist.
route "home" {
  path = "/"
  file = "examples/shop/site/home.html"
}
route "dashboard" {
  path  = "/dashboard"
  file  = "examples/shop/site/dashboard.html"
  guard = "settled" # signed in, and done with what the plugin asks
}
route "terms" {
  path = "/terms"
  file = "examples/shop/site/terms.html"
}
route "privacy" {
  path = "/privacy"
  file = "examples/shop/site/privacy.html"
}
route "cookies" {
  path = "/cookies"
  file = "examples/shop/site/cookies.html"
}

# Asks for the organisation until users.partner_id is set. It sees and changes
# that one column of the signed-in user and nothing else.
plugin "orgs" {
  command    = ["bin/orgsetup"] # go build -o bin/orgsetup ./plugins/orgsetup
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}

# The query endpoint at /odata/. Names are as in the database unless they are
# changed here; foreign keys become navigation by themselves.
odata {
  guard = "none" # everybody may read the demo; the default is "settled"

  entity_set "Products" {
    table  = "products"
    type   = "Product"
    hide   = ["cost"] # does not exist for a client, in no option and no path
    search = ["name", "description"]
    property "sku" {
      name = "article_number"
    }
    navigation "related" { # many to many, over a table of pairs
      to       = "Products"
      many     = true
      via      = "related_products"
      from_key = "product_id"
      to_key   = "related_id"
    }
  }
  entity_set "Categories" {
    table = "categories"
    type  = "Category"
    navigation "children" { # renames what the foreign key parent_id says
      to   = "Categories"
      many = true
      on   = { id = "parent_id" }
    }
  }
  entity_set "Suppliers" {
    table = "suppliers"
    type  = "Supplier"
  }
  entity_set "Customers" {
    table = "customers"
    type  = "Customer"
    hide  = ["email", "phone"]
    complex "Address" { # shipping_street, shipping_zip, … as one property
      name   = "shipping_address"
      prefix = "shipping_"
    }
  }
  entity_set "Orders" {
    table = "orders"
    type  = "Order"
    property "status" {
      type = "OrderStatus"
    }
    navigation "items" {
      to   = "OrderItems"
      many = true
      on   = { id = "order_id" }
    }
  }
  entity_set "OrderItems" {
    table = "order_items" # key: order_id and line_no
    type  = "OrderItem"
  }
  singleton "Company" {
    table = "company"
  }
  enum "OrderStatus" {
    members = { Placed = 0, Paid = 1, Shipped = 2, Returned = 3, Cancelled = 4 }
  }
}
