CREATE TABLE vestibule_identities (
	name    {key} NOT NULL,
	subject {key} NOT NULL,
	user_id {key} NOT NULL,
	created BIGINT NOT NULL,
	PRIMARY KEY (name, subject)
){engine};
CREATE UNIQUE INDEX vestibule_identities_user ON vestibule_identities (user_id, name);
