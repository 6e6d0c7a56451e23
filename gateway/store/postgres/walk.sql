-- Steps of walks over all buckets, in the order of their keys, a page of so many at a time behind a
-- key. What others have locked is left for the next walk.

-- Deletes full buckets. Returns the last key of the page, null at the end, or `behind` if another session
-- does so just now.
CREATE FUNCTION gateway.prune_1(prefix text, behind text, page int) RETURNS text
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    last text;
    now bigint := gateway.now();
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('gateway.prune')) THEN
        RETURN behind;
    END IF;
    SELECT max(p.key) INTO last FROM (
        SELECT key FROM gateway.buckets WHERE key > greatest(behind, prefix) ORDER BY key LIMIT page) p;
    DELETE FROM gateway.buckets WHERE key IN (
        SELECT key FROM gateway.buckets
        WHERE key > greatest(behind, prefix) AND key <= last AND full_at <= now AND starts_with(key, prefix)
        ORDER BY key FOR UPDATE SKIP LOCKED);
    RETURN CASE WHEN starts_with(last, prefix) THEN last END;
END $$;

-- Has the buckets of one limit follow its present terms, whose keys begin with that text.
CREATE FUNCTION gateway.rebase_1(prefix text, behind text, page int, numbers bigint[]) RETURNS text
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    b record;
    h gateway.held;
    last text;
    -- What comes behind the colon that the prefix ends with.
    beyond text := left(prefix, -1) || ';';
    now bigint := gateway.now();
BEGIN
    FOR b IN
        SELECT key, kind FROM gateway.buckets WHERE key > greatest(behind, prefix) AND key < beyond
        ORDER BY key LIMIT page FOR UPDATE SKIP LOCKED
    LOOP
        last := b.key;
        CONTINUE WHEN b.kind NOT IN ('t', 'w') OR length(b.key) <> length(prefix) + 32;
        h := gateway.hold(b.key, gateway.terms_in(numbers, 1, b.key, now), now);
        IF h.changed THEN
            PERFORM gateway.let_go(h, now);
        END IF;
    END LOOP;
    RETURN last;
END $$;
