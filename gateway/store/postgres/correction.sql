-- Corrections change a bucket after its request was decided. Twin of limit/correction.hpp.

-- Twin of limit::others_wait(). A correction may be on its way for longer than its question was: the
-- window that it waited for begins that much later.
CREATE FUNCTION gateway.others_wait(c gateway.charge, h gateway.held, now bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms := h.terms;
    ahead bigint := -c.held;
BEGIN
    IF c.held >= 0 THEN
        RETURN h.debt > t.burst * t.unit;
    ELSIF t.kind = 'w' THEN
        ahead := (gateway.window_at(t, now + ahead + least(1000000, t.usual / 8)) - t.present) * t.count;
    END IF;
    RETURN h.debt - ahead >= c.owed_before + (c.cost + 1) * t.unit;
END $$;

-- Corrects a token bucket or windows. Tokens that flowed back meanwhile are not given back once more.
CREATE FUNCTION gateway.corrected(c gateway.charge, h gateway.held, now bigint) RETURNS gateway.held
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms := h.terms;
    most bigint := CASE WHEN c.into_debt THEN coalesce(t.most, 3153600000000000) ELSE t.burst * t.unit END;
    lost bigint;
    given bigint;
BEGIN
    IF c.correction = @charge@ THEN
        h.debt := h.debt + least(c.cost, greatest(most - h.debt, 0) / t.unit) * t.unit;
    ELSIF c.correction = @reset@ THEN
        h.debt := 0;
    ELSIF c.correction = @refund@ AND h.debt > 0 AND (c.is_grant OR NOT h.changed)
        AND NOT (c.in_line AND gateway.others_wait(c, h, now)) THEN
        lost := c.held;
        IF t.kind = 'w' THEN
            lost := (t.present - gateway.window_at(t, now - c.held)) * t.count;
        END IF;
        lost := greatest(lost - c.owed_before, 0);
        given := least(c.cost, gateway.ceil_div(h.debt + lost, t.unit)) * t.unit - lost;
        h.debt := greatest(0, least(h.debt - given, h.debt));
    END IF;
    RETURN h;
END $$;

-- Corrects a sliding limit. A correction may be on its way for longer than its question was, so it
-- looks for tokens taken so much earlier, too. Later ones would be somebody else's.
CREATE FUNCTION gateway.corrected_sliding(c gateway.charge, h gateway.held, now bigint)
RETURNS gateway.held LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms := h.terms;
    since bigint := now - c.held - least(1000000, t.length / 8);
    left_over bigint := c.cost;
    given bigint;
BEGIN
    IF c.correction = @charge@ THEN
        given := least(c.cost, greatest(CASE WHEN c.into_debt THEN 1099511627775 ELSE t.burst END - h.debt, 0));
        h.debt := h.debt + given;
        RETURN CASE WHEN given > 0 THEN gateway.take_at(h, gateway.counted_at(t, now), given) ELSE h END;
    ELSIF c.correction = @reset@ THEN
        h.moments := '{}';
        h.amounts := '{}';
    ELSIF c.correction = @refund@ AND (c.is_grant OR NOT h.restarted) THEN
        FOR i IN 1 .. cardinality(h.moments) LOOP
            IF h.moments[i] >= since THEN
                given := least(left_over, h.amounts[i]);
                h.amounts[i] := h.amounts[i] - given;
                left_over := left_over - given;
            END IF;
        END LOOP;
        SELECT coalesce(array_agg(h.moments[n] ORDER BY n), '{}'), coalesce(array_agg(a ORDER BY n), '{}')
        INTO h.moments, h.amounts
        FROM unnest(h.amounts) WITH ORDINALITY u(a, n) WHERE a > 0;
    END IF;
    h.debt := coalesce((SELECT sum(a) FROM unnest(h.amounts) a), 0);
    RETURN h;
END $$;

-- Corrects places in flight. Null: the place that is to be renewed is lost.
CREATE FUNCTION gateway.corrected_places(c gateway.charge, h gateway.held, now bigint)
RETURNS gateway.held LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    index int := array_position(h.amounts, c.place);
BEGIN
    IF c.correction = @renew@ AND index IS NULL THEN
        RETURN NULL;
    ELSIF c.correction = @renew@ THEN
        h.moments[index] := now + (h.terms).length;
    ELSIF c.correction = @reset@ THEN
        h.moments := '{}';
        h.amounts := '{}';
    ELSIF index IS NOT NULL THEN
        h.moments := h.moments[: index - 1] || h.moments[index + 1 :];
        h.amounts := h.amounts[: index - 1] || h.amounts[index + 1 :];
    END IF;
    h.debt := cardinality(h.moments);
    RETURN h;
END $$;

-- True if there is no receipt yet, so that the correction has not been made.
CREATE FUNCTION gateway.is_first(receipt text, now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO gateway.buckets AS b (key, kind, full_at) VALUES (receipt, 'r', now + 90000000)
    ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at WHERE b.full_at <= now;
    RETURN FOUND;
END $$;

-- Makes all gateways forget what they remember of buckets, after a grant or a change of rate.
CREATE FUNCTION gateway.note_grant_1(mark_key text, now bigint = gateway.now()) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO gateway.buckets (key, kind, full_at, owed) VALUES (mark_key, 'm', now + 60000000, now)
    ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at, owed = excluded.owed
$$;

-- Makes a correction. The reply says if it could be made, and what the bucket has now.
CREATE FUNCTION gateway.correct(c gateway.charge, INOUT h gateway.held, mark_key text, now bigint, OUT said bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    made gateway.held;
BEGIN
    IF c.correction = @renew@ OR gateway.is_first(c.receipt, now) THEN
        IF c.correction >= @ban@ THEN
            PERFORM gateway.ban(c.ban_key, CASE c.correction WHEN @ban@ THEN c.held ELSE 0 END, c.max_ban, now);
            made := h;
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
