CREATE TABLE vestibule_guest_keys (
	created BIGINT NOT NULL PRIMARY KEY,
	secret  {bytes} NOT NULL
){engine};
DELETE FROM vestibule_locks WHERE name = 'guest_keys';
INSERT INTO vestibule_locks (name) VALUES ('guest_keys');
