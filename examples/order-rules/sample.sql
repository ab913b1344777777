-- A small shop. Sign-in makes its own tables beside these.
CREATE TABLE products (
    id    INTEGER PRIMARY KEY,
    name  VARCHAR(200) NOT NULL,
    price DECIMAL(10, 2) NOT NULL,
    cost  DECIMAL(10, 2) NOT NULL
);

CREATE TABLE orders (
    id         INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity   INTEGER NOT NULL,
    amount     DECIMAL(10, 2) NOT NULL,
    status     VARCHAR(20) NOT NULL,
    created_by INTEGER NOT NULL,
    created_at DATETIME NOT NULL,
    version    INTEGER NOT NULL
);

INSERT INTO products VALUES (1, 'Analytical engine', 1500, 1200), (2, 'Punched cards', 12.5, 10);
INSERT INTO orders VALUES (1, 2, 4, 50, 'open', 1, '2026-01-31 12:00:00', 1), (2, 1, 1, 1500, 'open', 1, '2026-01-31 12:00:00', 1);
