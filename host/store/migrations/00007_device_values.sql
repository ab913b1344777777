ALTER TABLE vestibule_remember_tokens ADD COLUMN session_values {blob};
