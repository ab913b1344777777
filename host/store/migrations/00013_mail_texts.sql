ALTER TABLE vestibule_outbox ADD COLUMN sealed {blob};
