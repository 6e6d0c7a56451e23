-- A call of usual questions only: each of one charge of a token bucket and nothing else, told by its
-- bucket, how often it is asked, and the limit's numbers. No bucket comes twice.
--
-- The reply is the call's number, the mark, what each bucket owed, and how many passed at each, of
-- which the gateway knows the rest.
--
-- In one statement the rows that have tokens are locked, in the order of their keys, and written: what
-- is refused locks and writes nothing. New rows are written last; if somebody else has just made one,
-- all of it is undone, and the gateway asks again.

-- What is told to those whose rows were not written: they are refused, take nothing, or are new.
CREATE FUNCTION gateway.take_rest(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], written int[], now bigint,
    OUT places int[], OUT debts bigint[], OUT passed bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wanted bigint;
    made bigint;
BEGIN
    WITH owing AS MATERIALIZED (
        SELECT a.*, b.key IS NULL AS is_new,
            coalesce(gateway.debt_in(b, ROW('t', a.unit, a.burst, 0, 0, NULL, 0, 0, 0, NULL, 0, 0), now), 0) AS debt
        FROM unnest(keys, times, costs, units, bursts) WITH ORDINALITY a(its_key, times, cost, unit, burst, n)
            LEFT JOIN gateway.buckets b ON b.key = a.its_key
        WHERE NOT coalesce(a.n = ANY (written), false)
    ), decided AS MATERIALIZED (
        SELECT o.*, CASE
            WHEN cost = 0 AND debt <= unit * burst THEN o.times
            WHEN is_new AND cost BETWEEN 1 AND burst THEN least(o.times, burst / cost)
            ELSE 0
        END AS passing
        FROM owing o
    ), inserted AS (
        INSERT INTO gateway.buckets (key, kind, full_at, owed, unit)
        SELECT its_key, 't', now + passing * cost * unit, unit * burst, unit FROM decided
        WHERE is_new AND passing * cost > 0
        ORDER BY its_key
        ON CONFLICT (key) DO NOTHING RETURNING 1
    )
    SELECT array_agg(n), array_agg(debt), array_agg(passing),
        -- Also what was made since the others were looked for, and has tokens.
        count(*) FILTER (WHERE cost BETWEEN 1 AND burst AND debt <= unit * (burst - cost)),
        (SELECT count(*) FROM inserted)
    INTO places, debts, passed, wanted, made FROM decided;
    IF made < wanted THEN
        RAISE serialization_failure USING MESSAGE = 'a bucket was made by another call';
    END IF;
END $$;

CREATE FUNCTION gateway.take_usual_1(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    began bigint := gateway.now();
    -- Before the rows are read: see take_one_1.
    mark bigint := gateway.mark(mark_key, began);
    places int[];
    debts bigint[];
    passed bigint[];
    rest record;
BEGIN
    WITH locked AS MATERIALIZED (
        SELECT a.*, b AS its_row
        FROM unnest(keys, times, costs, units, bursts) WITH ORDINALITY a(its_key, times, cost, unit, burst, n)
            JOIN gateway.buckets b ON b.key = a.its_key
        WHERE CASE
            WHEN b.full_at > began AND (b.kind <> 't' OR b.unit <> a.unit) THEN true
            ELSE a.cost BETWEEN 1 AND a.burst AND least(b.full_at - began, b.owed) <= a.unit * (a.burst - a.cost)
        END
        ORDER BY b.key FOR UPDATE OF b
    ), moment AS MATERIALIZED (
        SELECT gateway.now() AS now FROM (SELECT count(*) FROM locked) waited
    ), owing AS MATERIALIZED (
        SELECT l.*, m.now, CASE
            WHEN (l.its_row).full_at <= m.now THEN 0
            WHEN (l.its_row).kind = 't' AND (l.its_row).unit = l.unit
                THEN least((l.its_row).full_at - m.now, (l.its_row).owed)
            ELSE gateway.debt_in(l.its_row, ROW('t', l.unit, l.burst, 0, 0, NULL, 0, 0, 0, NULL, 0, 0), m.now)
        END AS debt
        FROM locked l, moment m
    ), decided AS MATERIALIZED (
        SELECT o.*, CASE
            WHEN cost > burst OR debt > unit * (burst - cost) THEN 0
            WHEN cost = 0 THEN o.times
            ELSE least(o.times, (unit * burst - debt) / (cost * unit))
        END AS passing
        FROM owing o
    ), written AS (
        UPDATE gateway.buckets b
        SET full_at = d.now + d.debt + d.passing * d.cost * d.unit, kind = 't', unit = d.unit,
            owed = greatest(d.unit * d.burst, d.debt + d.passing * d.cost * d.unit),
            moments = NULL, amounts = NULL
        FROM decided d WHERE b.key = d.its_key
    )
    SELECT array_agg(d.n ORDER BY n), array_agg(d.debt ORDER BY n), array_agg(d.passing ORDER BY n)
    INTO places, debts, passed FROM decided d;
    IF cardinality(places) IS DISTINCT FROM cardinality(keys) THEN
        rest := gateway.take_rest(keys, times, costs, units, bursts, places, began);
        SELECT array_agg(u.debt ORDER BY place), array_agg(u.count ORDER BY place) INTO debts, passed
        FROM unnest(places || rest.places, debts || rest.debts, passed || rest.passed) u(place, debt, count);
    END IF;
    RETURN ARRAY[number, mark] || debts || passed;
END $$;
