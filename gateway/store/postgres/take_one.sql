-- A call of one usual question, as gateways make it while they are not busy: statements about one row
-- take less than half the time of those in take_usual.sql about several. The functions there decide where
-- the row is not of a token bucket of this unit, or has just been made by another call. `cost`: at least 1.

CREATE FUNCTION gateway.take_one_1(
    its_key text, times bigint, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    now bigint := gateway.now();
    mark bigint;
    b record;
    debt bigint;
    passed bigint := 0;
BEGIN
    -- The mark of the same moment, as gateway.mark() reads it: one that is newer than what is told here
    -- would have a rejection remembered that has been forgiven.
    SELECT full_at, owed, kind, unit,
        coalesce((SELECT m.owed FROM gateway.buckets m WHERE m.key = mark_key AND m.full_at > now), 0) AS mark
    INTO b FROM gateway.buckets WHERE key = its_key;
    mark := b.mark;
    IF NOT FOUND AND cost <= burst THEN
        mark := gateway.mark(mark_key, now);  -- there was no row to read it with
        passed := least(times, burst / cost);
        INSERT INTO gateway.buckets (key, kind, full_at, owed, unit)
        VALUES (its_key, 't', now + passed * cost * its_unit, its_unit * burst, its_unit)
        ON CONFLICT (key) DO NOTHING;
        IF FOUND THEN
            RETURN ARRAY[number, mark, 0, passed];
        END IF;
    END IF;
    IF cost <= burst AND least(b.full_at - now, b.owed) <= its_unit * (burst - cost) THEN
        -- It has tokens, so it is worth a lock, behind which it may have others.
        SELECT full_at, owed, kind, unit INTO b FROM gateway.buckets WHERE key = its_key FOR UPDATE;
        now := gateway.now();
    END IF;
    IF (b.kind = 't' AND b.unit = its_unit) IS NOT TRUE THEN
        RETURN gateway.take_usual_1(
            ARRAY[its_key], ARRAY[times], ARRAY[cost], ARRAY[its_unit], ARRAY[burst], mark_key, number);
    END IF;
    debt := greatest(least(b.full_at - now, b.owed), 0);
    IF debt <= its_unit * (burst - cost) THEN
        passed := least(times, (its_unit * burst - debt) / (cost * its_unit));
        UPDATE gateway.buckets
        SET full_at = now + debt + passed * cost * its_unit,
            owed = greatest(its_unit * burst, debt + passed * cost * its_unit)
        WHERE key = its_key;
    END IF;
    RETURN ARRAY[number, mark, debt, passed];
END $$;
