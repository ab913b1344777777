CREATE TABLE vestibule_assertion_keys (
	created BIGINT NOT NULL PRIMARY KEY,
	secret  {bytes} NOT NULL
){engine};
DELETE FROM vestibule_locks WHERE name = 'assertion_keys';
INSERT INTO vestibule_locks (name) VALUES ('assertion_keys');
