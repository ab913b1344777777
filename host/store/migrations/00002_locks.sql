CREATE TABLE vestibule_locks (
	name {key} NOT NULL PRIMARY KEY
){engine};
DELETE FROM vestibule_locks;
INSERT INTO vestibule_locks (name) VALUES ('add_user');
