CREATE TABLE vestibule_sessions (
	hash       {bytes} NOT NULL PRIMARY KEY,
	version    BIGINT NOT NULL,
	user_id    {key} NOT NULL,
	device     {bytes},
	data       {blob} NOT NULL,
	created    BIGINT NOT NULL,
	seen       BIGINT NOT NULL,
	expires    BIGINT NOT NULL,
	user_agent VARCHAR(255) NOT NULL,
	address    VARCHAR(64) NOT NULL
){engine};
CREATE INDEX vestibule_sessions_user ON vestibule_sessions (user_id);
CREATE INDEX vestibule_sessions_device ON vestibule_sessions (device);
CREATE INDEX vestibule_sessions_seen ON vestibule_sessions (seen);
CREATE INDEX vestibule_sessions_expires ON vestibule_sessions (expires);

CREATE TABLE vestibule_counters (
	id     {bytes} NOT NULL PRIMARY KEY,
	kind   {key} NOT NULL,
	login  {key} NOT NULL,
	client {key} NOT NULL,
	hits   BIGINT NOT NULL,
	ends   BIGINT NOT NULL
){engine};
CREATE INDEX vestibule_counters_login ON vestibule_counters (login);
CREATE INDEX vestibule_counters_ends ON vestibule_counters (ends);

CREATE TABLE vestibule_remember_tokens (
	selector {bytes} NOT NULL PRIMARY KEY,
	user_id  {key} NOT NULL,
	verifier {bytes} NOT NULL,
	previous {bytes},
	nonce    {bytes},
	binding  {bytes} NOT NULL,
	intent   {blob},
	device   VARCHAR(255) NOT NULL,
	address  VARCHAR(64) NOT NULL,
	created  BIGINT NOT NULL,
	rotated  BIGINT NOT NULL,
	expires  BIGINT NOT NULL
){engine};
CREATE INDEX vestibule_remember_tokens_user ON vestibule_remember_tokens (user_id);
CREATE INDEX vestibule_remember_tokens_expires ON vestibule_remember_tokens (expires);

CREATE TABLE vestibule_reset_claims (
	token       {bytes} NOT NULL PRIMARY KEY,
	user_id     {key} NOT NULL,
	email       {key} NOT NULL,
	fingerprint {bytes} NOT NULL,
	created     BIGINT NOT NULL,
	used_by     {key},
	used_at     BIGINT
){engine};
CREATE INDEX vestibule_reset_claims_user ON vestibule_reset_claims (user_id);
CREATE INDEX vestibule_reset_claims_created ON vestibule_reset_claims (created);

CREATE TABLE vestibule_outbox (
	id       {key} NOT NULL PRIMARY KEY,
	user_id  {key} NOT NULL,
	purpose  VARCHAR(64) NOT NULL,
	locale   VARCHAR(64) NOT NULL,
	attempts BIGINT NOT NULL,
	created  BIGINT NOT NULL,
	due      BIGINT NOT NULL,
	held     BIGINT NOT NULL,
	buried   BIGINT NOT NULL,
	reason   VARCHAR(500) NOT NULL
){engine};
CREATE INDEX vestibule_outbox_due ON vestibule_outbox (buried, due);

CREATE TABLE vestibule_disabled_users (
	user_id {key} NOT NULL PRIMARY KEY,
	since   BIGINT NOT NULL
){engine};
