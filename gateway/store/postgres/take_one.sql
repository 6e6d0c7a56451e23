-- A call of one usual question, as gateways make it while they are not busy: statements about one row
-- take less than half the time of those in take_usual.sql about several. The functions there decide where
-- the row is not of a token bucket of this unit and burst, or has just been changed by another call.
-- `cost`: at least 1.

CREATE FUNCTION gateway.take_one_1(
    its_key text, times bigint, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    now bigint := gateway.now();
    mark bigint;
    debt bigint;
BEGIN
    -- The mark of the same moment, as gateway.mark() reads it: one that is newer than what is told here
    -- would have a rejection remembered that has been forgiven.
    SELECT CASE WHEN kind = 't' AND unit = its_unit AND owed >= its_unit * burst
            THEN greatest(least(full_at - now, owed), 0) END,
        coalesce((SELECT m.owed FROM gateway.buckets m WHERE m.key = mark_key AND m.full_at > now), 0)
    INTO debt, mark FROM gateway.buckets WHERE key = its_key;
    IF debt > its_unit * (burst - cost) THEN
        RETURN ARRAY[number, mark, debt];
    ELSIF debt IS NOT NULL THEN
        UPDATE gateway.buckets b
        SET full_at = now + gateway.usual_debt(b, its_unit, burst, now)
                + gateway.passing(gateway.usual_debt(b, its_unit, burst, now), times, cost, its_unit, burst)
                * cost * its_unit,
            passed = gateway.passing(gateway.usual_debt(b, its_unit, burst, now), times, cost, its_unit, burst),
            owed = its_unit * burst
        WHERE key = its_key AND kind = 't' AND unit = its_unit AND owed >= its_unit * burst
            AND full_at - now <= its_unit * (burst - cost)
        RETURNING full_at - now - passed * cost * its_unit INTO debt;
        IF FOUND THEN
            RETURN ARRAY[number, mark, debt];
        END IF;
    ELSIF mark IS NULL AND cost <= burst THEN
        mark := gateway.mark(mark_key, now);  -- there was no row to read it with
        INSERT INTO gateway.buckets (key, kind, full_at, owed, unit)
        VALUES (its_key, 't', now + gateway.passing(0, times, cost, its_unit, burst) * cost * its_unit,
            its_unit * burst, its_unit)
        ON CONFLICT (key) DO NOTHING;
        IF FOUND THEN
            RETURN ARRAY[number, mark, 0];
        END IF;
    END IF;
    RETURN gateway.take_usual_1(
        ARRAY[its_key], ARRAY[times], ARRAY[cost], ARRAY[its_unit], ARRAY[burst], mark_key, number);
END $$;
