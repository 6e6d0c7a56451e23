-- Version 3: bans that an operator gives, of buckets of any limit. They are in the bucket's own row, so
-- that nobody looks elsewhere for them: `passed` is then below 0, and -passed the moment at which the
-- ban is over. Only usual questions that pass write that column else. So the table is as it was, and
-- nobody waits for a lock on it.

ALTER TYPE gateway.held ADD ATTRIBUTE ban_left bigint;

-- True if no operator's ban is in force. A function in SQL becomes a part of the
-- statements that call it.
CREATE FUNCTION gateway.may_pass(passed bigint, now bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
AS 'SELECT coalesce(-passed, 0) <= now';

-- Microseconds for which the bucket is still banned; 0: it is not.
CREATE FUNCTION gateway.ban_left(passed bigint, now bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT greatest(coalesce(-passed, 0) - now, 0)';

-- The bucket of that key in the present terms.
CREATE OR REPLACE FUNCTION gateway.hold(its_key text, t gateway.terms, now bigint) RETURNS gateway.held
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    b gateway.buckets;
    h gateway.held := (its_key, t, 0, false, '{}', '{}', false, 0);
BEGIN
    SELECT * INTO b FROM gateway.buckets WHERE buckets.key = its_key;
    h.ban_left := gateway.ban_left(b.passed, now);
    IF NOT FOUND OR b.full_at <= now THEN
        RETURN h;
    ELSIF t.kind = 's' THEN
        RETURN gateway.hold_sliding(h, b, now);
    ELSIF t.kind <> 'p' THEN
        h.debt := gateway.debt_in(b, t, now);
        h.changed := h.debt > 0 AND NOT gateway.follows(b, t);
        RETURN h;
    ELSIF b.kind <> 'p' THEN
        h.changed := true; -- tokens, from when the limit was another one
        RETURN h;
    END IF;
    h.moments := ARRAY(SELECT m FROM unnest(b.moments) WITH ORDINALITY u(m, n) WHERE m > now ORDER BY n);
    h.amounts := ARRAY(
        SELECT b.amounts[n] FROM unnest(b.moments) WITH ORDINALITY u(m, n) WHERE m > now ORDER BY n);
    h.debt := cardinality(h.moments);
    -- What has been free once stays so, also if the clock steps back.
    h.changed := h.debt < cardinality(b.moments);
    RETURN h;
END $$;

-- Decides a charge: allowed, remaining, retry, full. `looking`: no rejection is counted.
CREATE OR REPLACE FUNCTION gateway.judge(c gateway.charge, h gateway.held, looking boolean, now bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t gateway.terms := h.terms;
    missing bigint := gateway.missing_for(c, h);
    wait bigint := gateway.time_until(h, missing, now);
    passes boolean := c.cost <= t.burst AND (missing = 0 OR coalesce(
        gateway.ceil_div(missing, t.unit) <= c.max_reserved AND wait <= c.max_wait, false));
    ban_left bigint := coalesce(h.ban_left, 0);
BEGIN
    IF c.after IS NOT NULL THEN
        ban_left := greatest(ban_left, gateway.banned_for(c.ban_key, now));
        IF NOT passes AND ban_left = 0 AND c.after > 0 AND NOT looking THEN
            PERFORM gateway.note_rejection(c, now);
            ban_left := gateway.banned_for(c.ban_key, now);
        END IF;
    END IF;
    IF passes AND ban_left = 0 THEN
        RETURN gateway.passed(h, gateway.owed_after(c, h), wait, now);
    END IF;
    RETURN ARRAY[
        CASE WHEN ban_left > 0 THEN @banned_charge@ ELSE 0 END,
        greatest(t.burst - gateway.ceil_div(h.debt, t.unit), 0),
        greatest(CASE WHEN passes THEN 0 ELSE wait END, ban_left),
        gateway.time_until(h, h.debt, now)];
END $$;

-- Bans the bucket of that correction, or ends its ban: also the one that its limit's penalty knows of.
CREATE FUNCTION gateway.banned_by_hand(c gateway.charge, h gateway.held, now bigint) RETURNS gateway.held
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    length bigint := CASE c.correction WHEN @ban@ THEN c.held ELSE 0 END;
BEGIN
    IF c.ban_key IS NOT NULL THEN
        PERFORM gateway.ban(c.ban_key, length, c.max_ban, now);
    END IF;
    UPDATE gateway.buckets SET passed = -(now + nullif(length, 0)) WHERE key = h.key;
    h.ban_left := length;
    RETURN h;
END $$;

-- Makes a correction, and answers it: whether it could be made, and what the bucket has now.
CREATE OR REPLACE FUNCTION gateway.correct(c gateway.charge, INOUT h gateway.held, mark_key text, now bigint, OUT said bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    made gateway.held;
BEGIN
    IF c.correction = @renew@ OR gateway.is_first(c.receipt, now) THEN
        IF c.correction >= @ban@ THEN
            made := gateway.banned_by_hand(c, h, now);
        ELSIF (h.terms).kind = 's' THEN
            made := gateway.corrected_sliding(c, h, now);
            IF c.correction = @refund@ AND made.debt = h.debt AND NOT h.restarted THEN
                -- Perhaps it was held up for so long that it looked for later tokens than its own. If it
                -- is asked for again, that says better when these were taken.
                DELETE FROM gateway.buckets WHERE key = c.receipt;
            END IF;
        ELSIF (h.terms).kind = 'p' THEN
            made := gateway.corrected_places(c, h, now);
        ELSE
            made := gateway.corrected(c, h, now);
        END IF;
        IF c.is_grant THEN
            PERFORM gateway.note_grant_1(mark_key, now);
        END IF;
        said := ARRAY[CASE WHEN made.key IS NULL THEN 0 ELSE 1 END];
        h := CASE WHEN made.key IS NULL THEN h ELSE made END;
        h.changed := true;
    ELSE
        said := ARRAY[1];
    END IF;
    said := said || ARRAY[
        greatest((h.terms).burst - gateway.ceil_div(h.debt, (h.terms).unit), 0), 0, 0];
END $$;

-- Deletes what is as good as never seen. The last key of the page; null at the end; where it was, if
-- somebody else does so just now.
CREATE OR REPLACE FUNCTION gateway.prune_1(prefix text, behind text, page int) RETURNS text
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
        WHERE key > greatest(behind, prefix) AND key <= last AND full_at <= now AND gateway.may_pass(passed, now)
            AND starts_with(key, prefix)
        ORDER BY key FOR UPDATE SKIP LOCKED);
    RETURN CASE WHEN starts_with(last, prefix) THEN last END;
END $$;

CREATE OR REPLACE FUNCTION gateway.look_at_one_1(
    its_key text, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint)
RETURNS TABLE (is_there boolean, refusal bigint[]) LANGUAGE sql STABLE ROWS 1 AS $$
    -- The mark of the same moment, as gateway.mark() reads it: one that is newer than what is told here
    -- would have a rejection remembered that has been forgiven.
    SELECT debt IS NOT NULL, CASE WHEN debt > its_unit * (burst - cost) THEN ARRAY[
        number,
        coalesce((SELECT m.owed FROM gateway.buckets m WHERE m.key = mark_key AND m.full_at > gateway.now()), 0),
        debt] END
    FROM (SELECT (SELECT greatest(least(b.full_at - gateway.now(), b.owed), 0) FROM gateway.buckets b
        WHERE b.key = its_key AND b.kind = 't' AND b.unit = its_unit AND b.owed >= its_unit * burst
            AND coalesce(b.passed, 0) >= 0)) found(debt)
$$;

-- Like take_one_1 and take_usual_1, which older gateways call. For a banned bucket they return three
-- numbers: -2, what it owes, and the microseconds left of the ban.
CREATE FUNCTION gateway.take_one_2(
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
            AND full_at - now <= its_unit * (burst - cost) AND coalesce(passed, 0) >= 0
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
    RETURN gateway.take_usual_2(
        ARRAY[its_key], ARRAY[times], ARRAY[cost], ARRAY[its_unit], ARRAY[burst], mark_key, number);
END $$;

-- Returns what the buckets owe whose rows were not written, and how long they are banned. Raises
-- serialization_failure if one of them could be taken from, as another call has changed it: the gateway
-- asks again.
CREATE FUNCTION gateway.take_rest_2(
    keys text[], costs bigint[], units bigint[], bursts bigint[], written int[], now bigint,
    OUT places int[], OUT debts bigint[], OUT bans bigint[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    has_tokens boolean;
BEGIN
    SELECT array_agg(a.n), array_agg(coalesce(gateway.usual_debt(b, a.unit, a.burst, now), 0)),
        array_agg(gateway.ban_left(b.passed, now)),
        bool_or(a.cost <= a.burst AND gateway.may_pass(b.passed, now) AND coalesce(gateway.usual_debt(b, a.unit, a.burst, now), 0)
            <= a.unit * (a.burst - a.cost))
    INTO places, debts, bans, has_tokens
    FROM unnest(keys, costs, units, bursts) WITH ORDINALITY a(its_key, cost, unit, burst, n)
        LEFT JOIN gateway.buckets b ON b.key = a.its_key
    WHERE NOT coalesce(a.n = ANY (written), false);
    IF has_tokens THEN
        RAISE serialization_failure USING MESSAGE = 'a bucket was changed by another call';
    END IF;
END $$;

CREATE FUNCTION gateway.take_usual_2(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- The time of the whole call, also for rows that it waits for: tokens that come back meanwhile are the next call's.
    now bigint := gateway.now();
    -- Before the rows are read: see take_one_2.
    mark bigint := gateway.mark(mark_key, now);
    misses boolean;
    -- Rows in other terms, or of a smaller burst: by a time before a wait they would owe too little.
    converts boolean;
    places int[];
    debts bigint[];
    rest record;
BEGIN
    SELECT bool_or(b.key IS NULL AND a.cost <= a.burst), bool_or(b.full_at > now AND gateway.may_pass(b.passed, now) AND CASE
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
        WHERE b.key = a.its_key AND gateway.may_pass(b.passed, now) AND CASE
            WHEN b.full_at <= now THEN a.cost <= a.burst
            WHEN b.kind = 't' AND b.unit = a.unit THEN (converts OR b.owed >= a.unit * a.burst)
                AND a.cost <= a.burst AND least(b.full_at - now, b.owed) <= a.unit * (a.burst - a.cost)
            ELSE converts
        END
        RETURNING a.n, b.full_at - now - b.passed * a.cost * a.unit AS debt
    )
    SELECT array_agg(n), array_agg(debt) INTO places, debts FROM (SELECT * FROM written ORDER BY n) w;
    IF cardinality(places) IS DISTINCT FROM cardinality(keys) THEN
        rest := gateway.take_rest_2(keys, costs, units, bursts, places, now);
        SELECT array_agg(said.number ORDER BY u.place, said.n) INTO debts
        FROM unnest(rest.places || places, rest.debts || debts, rest.bans) u(place, debt, ban),
            unnest(CASE WHEN u.ban > 0 THEN ARRAY[@banned_bucket@, u.debt, u.ban] ELSE ARRAY[u.debt] END)
                WITH ORDINALITY said(number, n);
    END IF;
    RETURN ARRAY[number, mark] || debts;
END $$;

-- Tells older gateways that a banned bucket owes more than it holds, so that nothing passes until the
-- ban is over, or a little later.
CREATE OR REPLACE FUNCTION gateway.take_one_1(
    its_key text, times bigint, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint,
    is_there boolean)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    said bigint[] := gateway.take_one_2(its_key, times, cost, its_unit, burst, mark_key, number, is_there);
BEGIN
    RETURN CASE WHEN said[3] = @banned_bucket@ THEN said[1:2] || (its_unit * burst + said[5]) ELSE said END;
END $$;

CREATE OR REPLACE FUNCTION gateway.take_usual_1(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    said bigint[] := gateway.take_usual_2(keys, times, costs, units, bursts, mark_key, number);
    reply bigint[] := said[1:2];
    at int := 3;
BEGIN
    FOR i IN 1 .. cardinality(keys) LOOP
        IF said[at] = @banned_bucket@ THEN
            reply := reply || (units[i] * bursts[i] + said[at + 2]);
            at := at + 3;
        ELSE
            reply := reply || said[at];
            at := at + 1;
        END IF;
    END LOOP;
    RETURN reply;
END $$;

DROP FUNCTION gateway.take_rest(text[], bigint[], bigint[], bigint[], int[], bigint);

CREATE FUNCTION gateway.pooled_take_one_2(
    its_key text, times bigint, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint,
    most_wait int)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM set_config('lock_timeout', most_wait::text, true);
    RETURN (
        SELECT coalesce(l.refusal, gateway.take_one_2(
            its_key, times, cost, its_unit, burst, mark_key, number, l.is_there))
        FROM gateway.look_at_one_1(its_key, cost, its_unit, burst, mark_key, number) l);
END $$;

CREATE FUNCTION gateway.pooled_take_usual_2(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint,
    most_wait int)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM set_config('lock_timeout', most_wait::text, true);
    RETURN gateway.take_usual_2(keys, times, costs, units, bursts, mark_key, number);
END $$;

UPDATE gateway.version SET version = 3;
