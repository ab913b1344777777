CREATE TABLE authors (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  born DATE
);
CREATE TABLE books (
  isbn      TEXT PRIMARY KEY,
  title     TEXT NOT NULL,
  price     DECIMAL(8,2),
  author_id INTEGER NOT NULL REFERENCES authors (id)
);
INSERT INTO authors VALUES (1, 'Ada Lovelace', '1815-12-10'), (2, 'Jorge Luis Borges', '1899-08-24');
INSERT INTO books VALUES
  ('978-0', 'Notes on the Analytical Engine', 12.50, 1),
  ('978-1', 'Ficciones', 9.99, 2),
  ('978-2', 'El Aleph', NULL, 2);
