ALTER TABLE vestibule_outbox ADD COLUMN device VARCHAR(64);
