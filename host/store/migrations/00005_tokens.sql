CREATE TABLE vestibule_tokens (
	hash      {bytes} NOT NULL PRIMARY KEY,
	id        {key} NOT NULL,
	user_id   {key} NOT NULL,
	name      VARCHAR(255) NOT NULL,
	route     {key} NOT NULL,
	can_write BIGINT NOT NULL,
	created   BIGINT NOT NULL,
	expires   BIGINT NOT NULL,
	used      BIGINT NOT NULL
){engine};
CREATE UNIQUE INDEX vestibule_tokens_id ON vestibule_tokens (id);
CREATE INDEX vestibule_tokens_user ON vestibule_tokens (user_id);
CREATE INDEX vestibule_tokens_expires ON vestibule_tokens (expires);
