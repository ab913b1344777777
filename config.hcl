# The demo: a shop with sign-in, two steps that plugins add, and a query
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

# Two plugins decide what comes before the dashboard, one after the other.
auth {
  dispensers = ["orgs", "terms"]
}

# Asks for the organisation until users.partner_id is set. It sees and changes
# that one column of the signed-in user and nothing else.
plugin "orgs" {
  command    = ["bin/orgsetup"] # go build -o bin/orgsetup ./plugins/orgsetup
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}

# Asks for the acceptance of the terms, once for each version. A page of the shop
# shows them; until they are accepted no other page opens but the terms themselves.
plugin "terms" {
  command    = ["bin/terms"] # go build -o bin/terms ./plugins/terms
  roles      = ["dispenser"]
  user_read  = ["terms_version"]
  user_write = ["terms_version"]
  config {
    version  = "2026-11"
    page     = "/accept-terms"
    prefixes = ["/terms"]
  }
}
route "accept-terms" {
  path  = "/accept-terms"
  file  = "examples/shop/site/accept-terms.html"
  guard = "session"
}

# The query endpoint at /odata/. Names are as in the database unless they are
# changed here; foreign keys become navigation by themselves.
odata {
  guard = "none"               # everybody may read the demo; the default is "settled"
  i18n  = "examples/shop/i18n" # titles, labels and descriptions without a blank are keys of the files there

  # title, list, label and the like become annotations in $metadata, from which
  # tables and forms make themselves.
  entity_set "Products" {
    table         = "products"
    type          = "Product"
    hide          = ["cost"] # does not exist for a client, in no option and no path
    search        = ["name", "description"]
    title         = "product"
    title_plural  = "products"
    semantic_key  = ["article_number"]
    list          = ["article_number", "name", "category_id", "price", "stock", "released_on"]
    search_fields = ["category_id", "supplier_id", "price", "discontinued"]
    fields        = ["article_number", "name", "description", "category_id", "supplier/name", "price", "weight_kg"]
    property "sku" {
      name   = "article_number"
      label  = "product.number"
      text   = "name" # what people see for the number
      format = "upper"
    }
    property "price" {
      description = "product.price.note"
      currency    = "'EUR'" # in quotes: a constant; without them the property that holds it
    }
    property "weight_kg" {
      label = "product.weight"
      unit  = "'kg'"
    }
    property "description" {
      format = "multiline"
    }
    property "category_id" {
      label      = "category"
      text       = "category/name"
      value_list = "Categories"
    }
    property "supplier_id" {
      label      = "supplier"
      text       = "supplier/name"
      value_list = "Suppliers"
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
    table         = "categories"
    type          = "Category"
    title         = "category"
    title_plural  = "categories"
    list          = ["name", "slug"]
    search_fields = ["name"]
    property "id" {
      text = "name"
    }
    property "parent_id" {
      text       = "parent/name"
      value_list = "Categories"
    }
    navigation "children" { # renames what the foreign key parent_id says
      to   = "Categories"
      many = true
      on   = { id = "parent_id" }
    }
  }
  entity_set "Suppliers" {
    table        = "suppliers"
    type         = "Supplier"
    title        = "supplier"
    title_plural = "suppliers"
    list         = ["name", "country", "phone"]
    property "id" {
      text = "name"
    }
  }
  entity_set "Customers" {
    table        = "customers"
    type         = "Customer"
    hide         = ["email", "phone"]
    title        = "customer"
    title_plural = "customers"
    list         = ["name", "company", "shipping_address/city"]
    property "id" {
      text = "name"
    }
    complex "Address" { # shipping_street, shipping_zip, … as one property
      name   = "shipping_address"
      prefix = "shipping_"
    }
  }
  entity_set "Orders" {
    table         = "orders"
    type          = "Order"
    title         = "order"
    title_plural  = "orders"
    list          = ["id", "customer_id", "status", "ordered_at", "total"]
    search_fields = ["customer_id", "status", "ordered_at"]
    property "status" {
      type = "OrderStatus"
    }
    property "customer_id" {
      label      = "customer"
      text       = "customer/name"
      value_list = "Customers"
    }
    property "ordered_at" {
      label = "order.ordered"
    }
    property "total" {
      label    = "order.total"
      currency = "'EUR'"
    }
    navigation "items" {
      to   = "OrderItems"
      many = true
      on   = { id = "order_id" }
    }
  }
  entity_set "OrderItems" {
    table        = "order_items" # key: order_id and line_no
    type         = "OrderItem"
    title        = "item"
    title_plural = "items"
    property "line_no" {
      label = "item.line"
    }
    property "product_id" {
      label      = "product"
      text       = "product/name"
      value_list = "Products"
    }
  }
  # The block write makes a set writable; all other sets are read only. Everybody reads
  # reviews. A person who has signed in adds reviews, and changes and deletes their own.
  entity_set "Reviews" {
    table         = "reviews"
    type          = "Review"
    hide          = ["author_id", "version"] # the host writes both; the version is the entity tag
    search        = ["text"]
    title         = "review"
    title_plural  = "reviews"
    list          = ["product_id", "rating", "text", "author", "created_at"]
    search_fields = ["product_id", "rating", "created_at"]
    fields        = ["product_id", "rating", "text"]
    property "product_id" {
      label      = "product"
      text       = "product/name"
      value_list = "Products"
    }
    property "rating" {
      description = "review.rating.note"
    }
    property "text" {
      label  = "review.text"
      format = "multiline"
    }
    property "created_at" {
      label = "review.created"
    }
    write {
      create  = true
      update  = true
      delete  = true
      filter  = "author_id eq @user_id"
      set     = { author_id = "@user_id", author = "@user_name", created_at = "@now" }
      touch   = { changed_at = "@now" }
      fixed   = ["product_id"]
      version = "version"
    }
  }
  singleton "Company" {
    table = "company"
    title = "company"
  }
  enum "OrderStatus" {
    members = { Placed = 0, Paid = 1, Shipped = 2, Returned = 3, Cancelled = 4 }
  }
}
