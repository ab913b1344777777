ALTER TABLE vestibule_sessions ADD COLUMN state VARCHAR(16);
ALTER TABLE vestibule_sessions ADD COLUMN format BIGINT;
