-- Counts the changes of tables for Vestibule: docs/odata-reference.md, "Counted changes".

CREATE TABLE public.vestibule_changes (relation oid, xact xid8, since timestamptz, n bigint NOT NULL, PRIMARY KEY (relation, xact, since));
GRANT SELECT ON public.vestibule_changes TO PUBLIC;

CREATE FUNCTION public.vestibule_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.vestibule_changes VALUES (TG_RELID, pg_current_xact_id(), now(), 1) ON CONFLICT DO NOTHING;
  IF FOUND AND random() < 0.05 AND current_setting('transaction_isolation') = 'read committed' THEN
    WITH old AS (
      SELECT xact, since FROM public.vestibule_changes
      WHERE relation = TG_RELID AND (xact, since) <> (pg_current_xact_id(), now()) FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM public.vestibule_changes WHERE relation = TG_RELID AND (xact, since) IN (SELECT xact, since FROM old) RETURNING n
    )
    UPDATE public.vestibule_changes SET n = n + (SELECT COALESCE(sum(n), 0) FROM gone)
    WHERE relation = TG_RELID AND (xact, since) = (pg_current_xact_id(), now());
  END IF;
  RETURN NULL;
END $$;

CREATE PROCEDURE public.vestibule_count_changes(counted regclass) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER vestibule_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION public.vestibule_changed()', counted);
  EXECUTE format('CREATE TRIGGER vestibule_changed_by_replication AFTER INSERT OR UPDATE OR DELETE ON %s
    FOR EACH ROW EXECUTE FUNCTION public.vestibule_changed()', counted);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER vestibule_changed,
    ENABLE REPLICA TRIGGER vestibule_changed_by_replication', counted);
END $$;
