CREATE TABLE vestibule_secrets (
	name    {key} NOT NULL PRIMARY KEY,
	created BIGINT NOT NULL,
	secret  {bytes} NOT NULL
){engine};
DELETE FROM vestibule_locks WHERE name = 'secrets';
INSERT INTO vestibule_locks (name) VALUES ('secrets');
CREATE INDEX vestibule_counters_kind ON vestibule_counters (kind, hits, ends);
