-- Questions of any kind, encoded as take.sql says. Twin of redis/take_any.lua.

-- Returns the terms in which to correct a bucket, or null to drop the correction. Twin of
-- limit::terms_to_correct_in().
CREATE FUNCTION gateway.terms_to_correct_in(correction int, t gateway.terms, its_key text, now bigint)
RETURNS gateway.terms LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    b gateway.buckets;
    by_tokens boolean := t.kind IN ('t', 'w');
BEGIN
    SELECT * INTO b FROM gateway.buckets WHERE buckets.key = its_key;
    IF NOT FOUND OR b.full_at <= now THEN
        RETURN t;
    ELSIF (b.kind IN ('t', 'w')) <> by_tokens OR NOT by_tokens AND b.kind <> t.kind THEN
        RETURN NULL;
    ELSIF correction = @reset@ OR t.kind = 'p' THEN
        RETURN t;
    ELSIF b.kind = t.kind AND b.unit = (CASE t.kind WHEN 't' THEN t.unit WHEN 'w' THEN t.id ELSE t.length END) THEN
        RETURN t;
    ELSIF correction <> @charge@ OR t.kind <> 't' OR b.kind <> 't' THEN
        RETURN NULL;
    END IF;
    t.unit := b.unit;
    t.burst := greatest(least(t.burst, 3153600000000000 / b.unit), 1);
    RETURN t;
END $$;

-- Reads the question of `count` charges, from number `at` and the key behind `key` on.
CREATE FUNCTION gateway.question_in(keys text[], key int, numbers bigint[], at int, count int, now bigint)
RETURNS gateway.question LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    q gateway.question;
    c gateway.charge;
    t gateway.terms;
    own gateway.terms;
    kind int;
    of_lease boolean;
    its_key text;
BEGIN
    FOR i IN 1 .. count LOOP
        key := key + 1;
        its_key := keys[key];
        c := NULL;
        c.cost := numbers[at];
        kind := numbers[at + 1];
        at := at + 2;
        c.in_line := kind >= @in_line@;
        kind := kind % @in_line@;
        of_lease := kind >= @of_lease@;
        kind := kind % @of_lease@;
        c.looks := kind >= @looks@;
        kind := kind % @looks@;
        c.is_grant := kind >= @is_grant@;
        c.enforced := kind % @may_wait@ = @enforced@;
        c.correction := 0;
        IF kind % @has_penalty@ >= @may_wait@ THEN
            c.max_wait := numbers[at];
            c.max_reserved := numbers[at + 1];
            at := at + 2;
        ELSIF kind % @has_penalty@ > @enforced@ THEN
            c.correction := kind % @has_penalty@;
            c.held := numbers[at];
            c.owed_before := numbers[at + 1];
            c.into_debt := c.owed_before = 0;
            at := at + 2;
            IF of_lease THEN
                c.is_lost := numbers[at] <> gateway.mark(keys[cardinality(keys)], now);
                at := at + 1;
            END IF;
            IF c.correction <> @renew@ THEN
                key := key + 1;
                c.receipt := keys[key];
            END IF;
        END IF;
        t := gateway.terms_in(numbers, at, its_key, now);
        at := at + gateway.numbers_of_terms(numbers, at);
        IF t.kind = 'p' THEN
            c.place := numbers[at];
            at := at + 1;
        END IF;
        IF kind % @is_grant@ >= @has_penalty@ THEN
            key := key + 1;
            c.after := numbers[at];
            c.within := numbers[at + 1];
            c.ban := numbers[at + 2];
            c.max_ban := numbers[at + 3];
            c.ban_key := keys[key];
            at := at + 4;
        END IF;
        IF c.correction BETWEEN @refund@ AND @renew@ AND NOT c.is_grant THEN
            own := gateway.terms_to_correct_in(c.correction, t, its_key, now);
            c.is_lost := coalesce(c.is_lost, false) OR own IS NULL;
            t := CASE WHEN own IS NULL THEN t ELSE own END;
        END IF;
        c.bucket := (SELECT u.ordinality FROM unnest(q.buckets) WITH ORDINALITY u WHERE u.key = its_key LIMIT 1);
        IF c.bucket IS NULL THEN
            q.buckets := q.buckets || gateway.hold(its_key, t, now);
            c.bucket := cardinality(q.buckets);
        END IF;
        q.charges := q.charges || c;
    END LOOP;
    q.at := at;
    q.key := key;
    RETURN q;
END $$;

-- Returns the decision on a request that passes, or would, and leaves the bucket with that debt.
CREATE FUNCTION gateway.passed(h gateway.held, debt bigint, wait bigint, now bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms := h.terms;
    full_in bigint := gateway.time_until(h, debt, now);
BEGIN
    -- What a request that waits takes of a sliding limit counts from the end of the wait.
    IF t.kind = 's' AND wait > 0 THEN
        full_in := greatest(full_in, gateway.counted_at(t, now + wait) + t.length - now);
    END IF;
    RETURN ARRAY[1, greatest(t.burst - gateway.ceil_div(debt, t.unit), 0), wait, full_in];
END $$;

-- Returns the units that the bucket lacks for a charge, or for the most that it ever holds.
CREATE FUNCTION gateway.missing_for(c gateway.charge, h gateway.held) RETURNS bigint
LANGUAGE sql IMMUTABLE AS
'SELECT greatest(h.debt + (least(c.cost, (h.terms).burst) - (h.terms).burst) * (h.terms).unit, 0)';

-- Returns the debt after a charge that passes. Tokens of a window that come to a full bucket are lost.
CREATE FUNCTION gateway.owed_after(c gateway.charge, h gateway.held) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms := h.terms;
    missing bigint := gateway.missing_for(c, h);
BEGIN
    IF t.kind = 'w' THEN
        missing := gateway.ceil_div(missing, t.count) * t.count;
    END IF;
    RETURN greatest(h.debt, missing) + c.cost * t.unit;
END $$;

-- Decides a charge: allowed, remaining, retry, full. `looking`: no rejection is counted.
CREATE FUNCTION gateway.judge(c gateway.charge, h gateway.held, looking boolean, now bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t gateway.terms := h.terms;
    missing bigint := gateway.missing_for(c, h);
    wait bigint := gateway.time_until(h, missing, now);
    passes boolean := c.cost <= t.burst AND (missing = 0 OR coalesce(
        gateway.ceil_div(missing, t.unit) <= c.max_reserved AND wait <= c.max_wait, false));
    ban_left bigint := 0;
BEGIN
    IF c.after IS NOT NULL THEN
        ban_left := gateway.banned_for(c.ban_key, now);
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
