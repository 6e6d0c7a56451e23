-- A call of usual questions: each of one charge of a token bucket and nothing else. No bucket comes
-- twice. The reply is the call's number, the mark, and what each bucket owed.
--
-- Missing rows are made first, while nothing is locked. Then one statement writes the rows that have
-- tokens, in the order of their keys, as the session's settings leave it no other way. A refusal locks
-- and writes nothing, unless the row was written in other terms and is converted.
-- Requires: costs >= 1.

-- Returns the debt of a row in the terms of a token bucket. A function in SQL becomes a part of the
-- statements that call it.
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

-- Returns how many of these questions pass at a bucket with that debt.
CREATE FUNCTION gateway.passing(debt bigint, times bigint, cost bigint, unit bigint, burst bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS 'SELECT greatest(least(times, (unit * burst - debt) / (cost * unit)), 0)';

-- Returns the debts of rows that were not written. If one could be taken from, as another call has
-- changed it, the gateway asks again.
CREATE FUNCTION gateway.take_rest(
    keys text[], costs bigint[], units bigint[], bursts bigint[], written int[], now bigint,
    OUT places int[], OUT debts bigint[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    has_tokens boolean;
BEGIN
    SELECT array_agg(a.n), array_agg(coalesce(gateway.usual_debt(b, a.unit, a.burst, now), 0)),
        bool_or(a.cost <= a.burst AND coalesce(gateway.usual_debt(b, a.unit, a.burst, now), 0)
            <= a.unit * (a.burst - a.cost))
    INTO places, debts, has_tokens
    FROM unnest(keys, costs, units, bursts) WITH ORDINALITY a(its_key, cost, unit, burst, n)
        LEFT JOIN gateway.buckets b ON b.key = a.its_key
    WHERE NOT coalesce(a.n = ANY (written), false);
    IF has_tokens THEN
        RAISE serialization_failure USING MESSAGE = 'a bucket was changed by another call';
    END IF;
END $$;

CREATE FUNCTION gateway.take_usual_1(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- Of the whole call, also of rows that it waits for: tokens that come back meanwhile are the next call's.
    now bigint := gateway.now();
    -- Before the rows are read: see take_one_1.
    mark bigint := gateway.mark(mark_key, now);
    misses boolean;
    -- Rows in other terms, or of a smaller burst: by a time before a wait they would owe too little.
    converts boolean;
    places int[];
    debts bigint[];
    rest record;
BEGIN
    SELECT bool_or(b.key IS NULL AND a.cost <= a.burst), bool_or(b.full_at > now AND CASE
        WHEN b.kind = 't' AND b.unit = a.unit THEN b.owed < a.unit * a.burst
        ELSE true
    END)
    INTO misses, converts
    FROM unnest(keys, costs, units, bursts) a(its_key, cost, unit, burst)
        LEFT JOIN gateway.buckets b ON b.key = a.its_key;
    IF misses THEN
        INSERT INTO gateway.buckets (key, kind, full_at)
        SELECT its_key, 'n', 0 FROM unnest(keys, costs, bursts) a(its_key, cost, burst)
        WHERE cost <= burst AND NOT EXISTS (SELECT FROM gateway.buckets b WHERE b.key = its_key)
        ORDER BY its_key COLLATE "C"
        ON CONFLICT (key) DO NOTHING;
    END IF;
    IF converts THEN
        PERFORM FROM gateway.buckets b WHERE b.key = ANY (keys) ORDER BY b.key FOR UPDATE;
        now := gateway.now();
    END IF;
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
            WHEN b.full_at <= now THEN a.cost <= a.burst
            WHEN b.kind = 't' AND b.unit = a.unit THEN (converts OR b.owed >= a.unit * a.burst)
                AND a.cost <= a.burst AND least(b.full_at - now, b.owed) <= a.unit * (a.burst - a.cost)
            ELSE converts
        END
        RETURNING a.n, b.full_at - now - b.passed * a.cost * a.unit AS debt
    )
    SELECT array_agg(n), array_agg(debt) INTO places, debts FROM (SELECT * FROM written ORDER BY n) w;
    IF cardinality(places) IS DISTINCT FROM cardinality(keys) THEN
        rest := gateway.take_rest(keys, costs, units, bursts, places, now);
        SELECT array_agg(u.debt ORDER BY place) INTO debts
        FROM unnest(places || rest.places, debts || rest.debts) u(place, debt);
    END IF;
    RETURN ARRAY[number, mark] || debts;
END $$;
