-- Orders with items, customers, and products with tags. Sign-in makes its own tables beside these.
CREATE TABLE customers (
    id   INTEGER PRIMARY KEY,
    name VARCHAR(100) NOT NULL
);
CREATE TABLE products (
    id    INTEGER PRIMARY KEY,
    name  VARCHAR(200) NOT NULL,
    price DECIMAL(10, 2) NOT NULL,
    cost  DECIMAL(10, 2) NOT NULL
);
CREATE TABLE tags (
    code  VARCHAR(20) PRIMARY KEY NOT NULL,
    label VARCHAR(100) NOT NULL
);
CREATE TABLE product_tags (
    product_id INTEGER NOT NULL REFERENCES products (id),
    tag_code   VARCHAR(20) NOT NULL REFERENCES tags (code),
    PRIMARY KEY (product_id, tag_code)
);
CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (id),
    amount      DECIMAL(10, 2) NOT NULL,
    status      VARCHAR(20) NOT NULL,
    created_by  INTEGER NOT NULL,
    version     INTEGER NOT NULL
);
CREATE TABLE order_items (
    order_id   INTEGER NOT NULL REFERENCES orders (id),
    line_no    INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity   INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (order_id, line_no)
);

INSERT INTO customers VALUES (1, 'Byron'), (2, 'Babbage');
INSERT INTO products VALUES (1, 'Analytical engine', 1500, 1200), (2, 'Punched cards', 12.5, 10);
INSERT INTO tags VALUES ('brass', 'Made of brass'), ('paper', 'Made of paper');
INSERT INTO product_tags VALUES (1, 'brass');
