# The shop of ../shop with an OpenUI5 application as its dashboard. README.md has
# the commands that make the database and dist. Paths are relative to this file.

server {
  address    = "127.0.0.1:8085"
  public_dir = "../shop/public" # logo, styles of the home page
}

database {
  driver = "sqlite"
  dsn    = "../../shop.db" # made by: go run ./examples/shop -db shop.db
}

# Reset links land here as files.
mail {
  transport = "file"
  dir       = "../../mail"
  from      = "Fernweh <no-reply@localhost>"
}

route "home" {
  path = "/"
  file = "../shop/site/home.html"
}
# The application: nothing of it is served to who is not signed in.
route "dashboard" {
  path  = "/dashboard"
  dir   = "dist" # made by: npm run build
  guard = "session"
}
route "terms" {
  path = "/terms"
  file = "../shop/site/terms.html"
}
route "privacy" {
  path = "/privacy"
  file = "../shop/site/privacy.html"
}
route "cookies" {
  path = "/cookies"
  file = "../shop/site/cookies.html"
}

# What the application reads. The session guards it, as it guards the pages.
odata {
  guard = "session"
  i18n  = "../shop/i18n" # titles and labels without a blank are keys of the files there

  entity_set "Products" {
    table  = "products"
    type   = "Product"
    hide   = ["cost"]
    search = ["name", "description"]
    property "id" {
      text = "name"
    }
    property "sku" {
      name = "article_number"
    }
    property "stock" {
      aggregate = "sum" # so that the analysis can ask for sums of it, and filter by them
    }
    navigation "related" {
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
    navigation "children" {
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
    table        = "customers"
    type         = "Customer"
    hide         = ["email", "phone"]
    search       = ["name", "company"]
    title        = "customer"
    title_plural = "customers"
    property "id" {
      text = "name"
    }
    complex "Address" {
      name   = "shipping_address"
      prefix = "shipping_"
    }
  }
  entity_set "Orders" {
    table         = "orders"
    type          = "Order"
    title         = "order"
    title_plural  = "orders"
    semantic_key  = ["id"]
    list          = ["id", "customer_id", "ordered_at", "status", "total"]
    search_fields = ["customer_id", "status", "ordered_at", "total"]
    property "status" {
      type = "OrderStatus"
    }
    property "id" {
      label = "order"
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
    # The people of the shop take orders, and change them until they are paid.
    write {
      create = true
      update = true
      filter = "status eq 'Placed'"
      set    = { ordered_at = "@now" }
      fixed  = ["customer_id"]
    }
  }
  entity_set "OrderItems" {
    table = "order_items"
    type  = "OrderItem"
    write {
      create = true
      update = true
      delete = true
      filter = "order/status eq 'Placed'"
      fixed  = ["order_id", "line_no"]
    }
  }
  # The people of the shop correct any review, but those of products that are no longer
  # sold. The host writes author, times and version, whatever a client sends.
  entity_set "Reviews" {
    table         = "reviews"
    type          = "Review"
    hide          = ["author_id", "version"]
    search        = ["text"]
    title         = "review"
    title_plural  = "reviews"
    list          = ["product_id", "rating", "text", "author", "changed_at"]
    search_fields = ["product_id", "rating"]
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
    write {
      create  = true
      update  = true
      delete  = true
      filter  = "product/discontinued eq false"
      set     = { author_id = "@user_id", author = "@user_name", created_at = "@now" }
      touch   = { changed_at = "@now" }
      fixed   = ["product_id"]
      version = "version"
    }
  }
  singleton "Company" {
    table = "company"
  }
  enum "OrderStatus" {
    members = { Placed = 0, Paid = 1, Shipped = 2, Returned = 3, Cancelled = 4 }
  }
}
