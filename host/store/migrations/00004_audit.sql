CREATE TABLE vestibule_audit (
	id       {auto},
	at       BIGINT NOT NULL,
	operator {key} NOT NULL,
	act      VARCHAR(64) NOT NULL,
	subject  {key} NOT NULL
){engine};
CREATE INDEX vestibule_audit_at ON vestibule_audit (at);
