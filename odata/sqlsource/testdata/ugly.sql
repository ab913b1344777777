-- Ten tables and five views that nobody named for an API. {…} are types that differ between databases, as in ddlOf; {ODD} is
-- one that no other database knows.
CREATE TABLE "order" ("select" {BIG} PRIMARY KEY, "from" {STR} NOT NULL, "where" {DATE});
CREATE TABLE "Odd Names" ("key no" {BIG} PRIMARY KEY, "first name" {STR}, "a.b" {INT}, "a-b" {INT}, "a_b" {INT}, "Company Name" {STR} NOT NULL);
CREATE TABLE "dotted.name" ("x.y" {BIG} PRIMARY KEY, "group" {STR}, "order.id" {BIG} REFERENCES "order" ("select"), "1st" {INT}, "${x}" {STR});
CREATE TABLE "Ärger" ("Größe" {STR} PRIMARY KEY, "naïve" {STR} NOT NULL);
CREATE TABLE triples (a {INT} NOT NULL, b {STR} NOT NULL, c {DATE} NOT NULL, title {STR}, PRIMARY KEY (a, b, c));
CREATE TABLE "lines" (id {BIG} PRIMARY KEY, ta {INT}, tb {STR}, tc {DATE}, FOREIGN KEY (ta, tb, tc) REFERENCES triples (a, b, c));
CREATE TABLE tree (id {BIG} PRIMARY KEY, parent {BIG} REFERENCES tree (id), "LABEL" {STR} NOT NULL);
CREATE TABLE hen (id {BIG} PRIMARY KEY, name {STR} NOT NULL);
CREATE TABLE egg (id {BIG} PRIMARY KEY, hen_id {BIG} REFERENCES hen (id), odd {ODD});
ALTER TABLE hen ADD COLUMN egg_id {BIG} REFERENCES egg (id);
CREATE TABLE logged (happened {TS} NOT NULL, who {STR} NOT NULL, what {STR}, odd {ODD});

CREATE VIEW "late orders" AS SELECT "select", "from" FROM "order" WHERE "select" > 1;
CREATE VIEW counted AS SELECT b, COUNT(*) AS n FROM triples GROUP BY b;
CREATE VIEW "by who.and what" AS SELECT happened, who FROM logged;
CREATE VIEW duplicates AS SELECT 1 AS one FROM "order";
CREATE VIEW nobody AS SELECT who FROM logged WHERE who = 'nobody';

INSERT INTO "order" VALUES (1, 'here', '2024-01-01'), (2, 'there', NULL), (3, 'there', '2024-01-02');
INSERT INTO "Odd Names" VALUES (1, 'Ada', 1, 2, 3, 'One'), (2, NULL, 4, 5, 6, 'Two');
INSERT INTO "dotted.name" VALUES (1, 'a', 1, 1, 'b'), (2, NULL, NULL, NULL, NULL);
INSERT INTO "Ärger" VALUES ('groß', 'ja'), ('klein', 'nein');
INSERT INTO triples VALUES (1, 'x', '2024-01-01', 'first'), (1, 'x', '2024-01-02', NULL), (1, 'y', '2024-01-01', 'third'), (2, 'x', '2024-01-01', 'fourth');
INSERT INTO "lines" VALUES (1, 1, 'x', '2024-01-02'), (2, NULL, NULL, NULL);
INSERT INTO tree VALUES (1, NULL, 'root'), (2, 1, 'leaf'), (3, 1, 'leaf');
INSERT INTO hen (id, name) VALUES (1, 'Berta'), (2, 'Berta');
INSERT INTO egg (id, hen_id) VALUES (1, 1), (2, 1), (3, 2);
UPDATE hen SET egg_id = 2 WHERE id = 1;
INSERT INTO logged (happened, who, what) VALUES ('2024-01-01 10:00:00', 'ada', 'a'), ('2024-01-01 10:00:00', 'bob', NULL), ('2024-01-01 11:00:00', 'ada', 'b'), ('2024-01-01 11:00:00', 'eve', 'a');
