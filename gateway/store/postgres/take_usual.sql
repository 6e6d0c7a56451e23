-- A call of usual questions only: each of one charge of a token bucket and nothing else, told by its
-- bucket, how often it is asked, its cost (at least 1), and the limit's numbers. No bucket comes twice.
--
-- The reply is the call's number, the mark, and what each bucket owed, of which the gateway knows the
-- rest.
--
-- One statement writes the rows that have tokens, in the order of their keys, as the session's settings
-- leave it no other way: what is refused locks and writes nothing. New rows are written last; if
-- somebody else has just made one, all of it is undone, and the gateway asks again.

-- What a row owes in the terms of a token bucket. A function in SQL becomes a part of the statements that
-- call it, and so costs nothing.
CREATE FUNCTION gateway.usual_debt(b gateway.buckets, its_unit bigint, burst bigint, now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN b.full_at <= now THEN 0
        WHEN b.kind = 't' AND b.unit = its_unit THEN least(b.full_at - now, b.owed)
        -- Not `b`, which would be put together for every row, also those that do not come here.
        ELSE gateway.debt_in(
            ROW(b.full_at, b.owed, b.unit, b.passed, b.kind, b.key, b.moments, b.amounts)::gateway.buckets,
            ROW('t', its_unit, burst, 0, 0, NULL, 0, 0, 0, NULL, 0, 0), now)
    END
$$;

-- How many of these questions to a bucket that owes so much pass.
CREATE FUNCTION gateway.passing(debt bigint, times bigint, cost bigint, unit bigint, burst bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS 'SELECT greatest(least(times, (unit * burst - debt) / (cost * unit)), 0)';

-- What those buckets owed whose rows were not written: they are refused, or new.
CREATE FUNCTION gateway.take_rest(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], written int[], now bigint,
    OUT places int[], OUT debts bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wanted bigint;
    made bigint;
BEGIN
    WITH owing AS MATERIALIZED (
        SELECT a.*, b.key IS NULL AS is_new,
            coalesce(gateway.usual_debt(b, a.unit, a.burst, now), 0) AS debt
        FROM unnest(keys, times, costs, units, bursts) WITH ORDINALITY a(its_key, times, cost, unit, burst, n)
            LEFT JOIN gateway.buckets b ON b.key = a.its_key
        WHERE NOT coalesce(a.n = ANY (written), false)
    ), inserted AS (
        INSERT INTO gateway.buckets (key, kind, full_at, owed, unit)
        SELECT its_key, 't', now + gateway.passing(0, o.times, cost, unit, burst) * cost * unit, unit * burst, unit
        FROM owing o WHERE is_new AND cost <= burst
        ORDER BY its_key
        ON CONFLICT (key) DO NOTHING RETURNING 1
    )
    SELECT array_agg(n), array_agg(debt),
        -- Also what was made since the others were looked for, and has tokens.
        count(*) FILTER (WHERE cost <= burst AND debt <= unit * (burst - cost)),
        (SELECT count(*) FROM inserted)
    INTO places, debts, wanted, made FROM owing;
    IF made < wanted THEN
        RAISE serialization_failure USING MESSAGE = 'a bucket was made by another call';
    END IF;
END $$;

CREATE FUNCTION gateway.take_usual_1(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- Of the whole call, also of rows that it waits for. Tokens that come back meanwhile are the next call's.
    now bigint := gateway.now();
    -- Before the rows are read: see take_one_1.
    mark bigint := gateway.mark(mark_key, now);
    places int[];
    debts bigint[];
    rest record;
BEGIN
    WITH asked AS (
        SELECT * FROM unnest(keys, times, costs, units, bursts)
            WITH ORDINALITY u(its_key, times, cost, unit, burst, n)
        ORDER BY its_key COLLATE "C"
    ), written AS (
        UPDATE gateway.buckets b
        SET full_at = now + gateway.usual_debt(b, a.unit, a.burst, now) + a.cost * a.unit
                * gateway.passing(gateway.usual_debt(b, a.unit, a.burst, now), a.times, a.cost, a.unit, a.burst),
            passed = gateway.passing(gateway.usual_debt(b, a.unit, a.burst, now), a.times, a.cost, a.unit, a.burst),
            owed = greatest(a.unit * a.burst, gateway.usual_debt(b, a.unit, a.burst, now)),
            kind = 't', unit = a.unit, moments = NULL, amounts = NULL
        FROM asked a
        WHERE b.key = a.its_key AND CASE
            WHEN b.full_at > now AND (b.kind <> 't' OR b.unit <> a.unit) THEN true
            ELSE least(b.full_at - now, b.owed) <= a.unit * (a.burst - a.cost) AND a.cost <= a.burst
        END
        RETURNING a.n, b.full_at - now - b.passed * a.cost * a.unit AS debt
    )
    SELECT array_agg(n), array_agg(debt) INTO places, debts FROM (SELECT * FROM written ORDER BY n) w;
    IF cardinality(places) IS DISTINCT FROM cardinality(keys) THEN
        rest := gateway.take_rest(keys, times, costs, units, bursts, places, now);
        SELECT array_agg(u.debt ORDER BY place) INTO debts
        FROM unnest(places || rest.places, debts || rest.debts) u(place, debt);
    END IF;
    RETURN ARRAY[number, mark] || debts;
END $$;
