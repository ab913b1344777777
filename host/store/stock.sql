CREATE TABLE users (
	id                {auto},
	name              VARCHAR(255) NOT NULL,
	email             VARCHAR(255) NOT NULL UNIQUE,
	email_verified_at {time},
	password          VARCHAR(255) NOT NULL,
	remember_token    VARCHAR(100),
	created_at        {time},
	updated_at        {time}
){engine};
{fold_index};

CREATE TABLE password_reset_tokens (
	email      VARCHAR(255) NOT NULL PRIMARY KEY,
	token      VARCHAR(255) NOT NULL,
	created_at {time}
){engine};
