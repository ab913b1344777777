-- The stock tables, as an application that is older than its sign-in has them.
-- partner_id, terms_version and second_factor are columns of this application: the
-- organisation of the user, the terms that they have accepted, and the key of their
-- authenticator app. They are null until the plugins orgsetup, terms and totp have asked.
CREATE TABLE users (
    id                INTEGER PRIMARY KEY,
    name              VARCHAR(255) NOT NULL,
    email             VARCHAR(255) NOT NULL UNIQUE,
    email_verified_at DATETIME,
    password          VARCHAR(255) NOT NULL,
    remember_token    VARCHAR(100),
    created_at        DATETIME,
    updated_at        DATETIME,
    partner_id        INTEGER,
    terms_version     VARCHAR(40),
    second_factor     TEXT
);

CREATE TABLE password_reset_tokens (
    email      VARCHAR(255) PRIMARY KEY NOT NULL,
    token      VARCHAR(255) NOT NULL,
    created_at DATETIME
);

-- The shop.
CREATE TABLE company (
    id         INTEGER PRIMARY KEY,
    name       VARCHAR(100) NOT NULL,
    motto      VARCHAR(255),
    founded_on DATE NOT NULL
);

CREATE TABLE categories (
    id        INTEGER PRIMARY KEY,
    parent_id INTEGER REFERENCES categories (id),
    name      VARCHAR(100) NOT NULL,
    slug      VARCHAR(100) NOT NULL UNIQUE
);

CREATE TABLE suppliers (
    id      INTEGER PRIMARY KEY,
    name    VARCHAR(100) NOT NULL,
    country CHAR(2) NOT NULL,
    phone   VARCHAR(40)
);

CREATE TABLE products (
    id           INTEGER PRIMARY KEY,
    sku          VARCHAR(20) NOT NULL UNIQUE,
    name         VARCHAR(200) NOT NULL,
    description  TEXT,
    category_id  INTEGER NOT NULL REFERENCES categories (id),
    supplier_id  INTEGER NOT NULL REFERENCES suppliers (id),
    price        DECIMAL(10, 2) NOT NULL,
    cost         DECIMAL(10, 2) NOT NULL,
    stock        INTEGER NOT NULL,
    weight_kg    DOUBLE,
    color        VARCHAR(30),
    discontinued BOOLEAN NOT NULL DEFAULT FALSE,
    released_on  DATE NOT NULL,
    created_at   DATETIME NOT NULL,
    updated_at   DATETIME
);

CREATE TABLE related_products (
    product_id INTEGER NOT NULL REFERENCES products (id),
    related_id INTEGER NOT NULL REFERENCES products (id),
    PRIMARY KEY (product_id, related_id)
);

CREATE TABLE customers (
    id               INTEGER PRIMARY KEY,
    name             VARCHAR(100) NOT NULL,
    company          VARCHAR(100),
    email            VARCHAR(255) NOT NULL,
    phone            VARCHAR(40),
    shipping_street  VARCHAR(100) NOT NULL,
    shipping_zip     VARCHAR(12) NOT NULL,
    shipping_city    VARCHAR(60) NOT NULL,
    shipping_country CHAR(2) NOT NULL,
    newsletter       BOOLEAN NOT NULL,
    created_at       DATETIME NOT NULL
);

-- status: 0 placed, 1 paid, 2 shipped, 3 returned, 4 cancelled
CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    status      INTEGER NOT NULL,
    ordered_at  DATETIME NOT NULL,
    shipped_at  DATETIME,
    total       DECIMAL(12, 2) NOT NULL,
    note        VARCHAR(255)
);

CREATE TABLE order_items (
    order_id   INTEGER NOT NULL REFERENCES orders (id),
    line_no    INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity   INTEGER NOT NULL CHECK (quantity > 0),
    unit_price DECIMAL(10, 2) NOT NULL,
    PRIMARY KEY (order_id, line_no)
);

-- author_id is the user who wrote the review, and null once the account is gone.
-- version counts the changes of a row. The query endpoint makes its entity tag of it.
CREATE TABLE reviews (
    id         INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id),
    author_id  INTEGER,
    author     VARCHAR(255) NOT NULL,
    rating     SMALLINT NOT NULL CHECK (rating BETWEEN 1 AND 5),
    text       VARCHAR(2000) NOT NULL,
    created_at DATETIME NOT NULL,
    changed_at DATETIME NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    UNIQUE (product_id, author_id)
);
