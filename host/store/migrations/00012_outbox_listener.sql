ALTER TABLE vestibule_outbox ADD COLUMN listener {key} GENERATED ALWAYS AS (CASE WHEN purpose LIKE 'event:%' THEN locale ELSE '' END) {computed};
