CREATE TABLE vestibule_user_handles (
	user_id {key} NOT NULL PRIMARY KEY,
	handle  {bytes} NOT NULL
){engine};
CREATE TABLE vestibule_passkeys (
	hash            {bytes} NOT NULL PRIMARY KEY,
	id              {key} NOT NULL,
	user_id         {key} NOT NULL,
	credential      {blob} NOT NULL,
	public_key      {blob} NOT NULL,
	name            VARCHAR(255) NOT NULL,
	transports      VARCHAR(255) NOT NULL,
	counter         BIGINT NOT NULL,
	backup_eligible BIGINT NOT NULL,
	backed_up       BIGINT NOT NULL,
	created         BIGINT NOT NULL,
	used            BIGINT NOT NULL
){engine};
CREATE UNIQUE INDEX vestibule_passkeys_id ON vestibule_passkeys (id);
CREATE INDEX vestibule_passkeys_user ON vestibule_passkeys (user_id);
CREATE TABLE vestibule_spent (
	hash {bytes} NOT NULL PRIMARY KEY,
	ends BIGINT NOT NULL
){engine};
CREATE INDEX vestibule_spent_ends ON vestibule_spent (ends);
