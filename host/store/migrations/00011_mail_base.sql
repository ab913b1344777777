ALTER TABLE vestibule_outbox ADD COLUMN base VARCHAR(64);
