CREATE TABLE vestibule_invitations (
	token       {bytes} NOT NULL PRIMARY KEY,
	user_id     {key} NOT NULL,
	email       {key} NOT NULL,
	fingerprint {bytes} NOT NULL,
	created     BIGINT NOT NULL,
	used_by     {key},
	used_at     BIGINT
){engine};
CREATE INDEX vestibule_invitations_user ON vestibule_invitations (user_id);
CREATE INDEX vestibule_invitations_created ON vestibule_invitations (created);
