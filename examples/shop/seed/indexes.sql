-- Made after the rows, which is faster. They fit the addresses that the demo
-- shows, each with the key at its end, so that pages come in a stable order.
CREATE INDEX categories_parent ON categories (parent_id);
CREATE INDEX products_category ON products (category_id, id);
CREATE INDEX products_supplier ON products (supplier_id, id);
CREATE INDEX products_price ON products (price, id);
CREATE INDEX products_name ON products (name, id);
CREATE INDEX products_stock ON products (stock, id);
CREATE INDEX related_products_related ON related_products (related_id);
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX orders_ordered ON orders (ordered_at, id);
CREATE INDEX orders_shipped ON orders (shipped_at, id);
CREATE INDEX orders_total ON orders (total, id);
CREATE INDEX order_items_product ON order_items (product_id);
CREATE INDEX reviews_created ON reviews (created_at, id);
ANALYZE;
