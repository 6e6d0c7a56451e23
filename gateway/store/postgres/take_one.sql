-- A call of one usual question: statements about one row take less than half the time of those in
-- take_usual.sql, which decide if the row is of other terms, or was just changed by another call.
-- Requires: cost >= 1.

-- Returns if there is a row of these terms, and the reply if it refuses the question. The planner puts a
-- STABLE function in SQL into the statement that calls it, so a refusal is one statement.
CREATE FUNCTION gateway.look_at_one_1(
    its_key text, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint)
RETURNS TABLE (is_there boolean, refusal bigint[]) LANGUAGE sql STABLE ROWS 1 AS $$
    -- The mark of the same moment, as gateway.mark() reads it: one that is newer than what is told here
    -- would have a rejection remembered that has been forgiven.
    SELECT debt IS NOT NULL, CASE WHEN debt > its_unit * (burst - cost) THEN ARRAY[
        number,
        coalesce((SELECT m.owed FROM gateway.buckets m WHERE m.key = mark_key AND m.full_at > gateway.now()), 0),
        debt] END
    FROM (SELECT (SELECT greatest(least(b.full_at - gateway.now(), b.owed), 0) FROM gateway.buckets b
        WHERE b.key = its_key AND b.kind = 't' AND b.unit = its_unit AND b.owed >= its_unit * burst)) found(debt)
$$;

-- Decides what look_at_one_1 has not refused.
CREATE FUNCTION gateway.take_one_1(
    its_key text, times bigint, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint,
    is_there boolean)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    now bigint := gateway.now();
    mark bigint;
    debt bigint;
BEGIN
    IF is_there THEN
        UPDATE gateway.buckets b
        SET full_at = now + gateway.usual_debt(b, its_unit, burst, now)
                + gateway.passing(gateway.usual_debt(b, its_unit, burst, now), times, cost, its_unit, burst)
                * cost * its_unit,
            passed = gateway.passing(gateway.usual_debt(b, its_unit, burst, now), times, cost, its_unit, burst),
            owed = its_unit * burst
        WHERE key = its_key AND kind = 't' AND unit = its_unit AND owed >= its_unit * burst
            AND full_at - now <= its_unit * (burst - cost)
        -- The mark of when the statement began, which is older than what it waited for.
        RETURNING full_at - now - passed * cost * its_unit,
            coalesce((SELECT m.owed FROM gateway.buckets m WHERE m.key = mark_key AND m.full_at > now), 0)
        INTO debt, mark;
        IF FOUND THEN
            RETURN ARRAY[number, mark, debt];
        END IF;
    ELSIF cost <= burst THEN
        mark := gateway.mark(mark_key, now);
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
