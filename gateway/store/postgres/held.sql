-- A bucket of any kind between its row and its question. Twin of limit/history.hpp and of
-- redis/sliding.lua and redis/places.lua.

-- Returns the moment that a token taken at that time counts for: never sooner.
CREATE FUNCTION gateway.counted_at(t gateway.terms, at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT at + (t.part - at % t.part) % t.part';

-- Takes tokens that count from that moment, or from the newest one's if that is later.
CREATE FUNCTION gateway.take_at(h gateway.held, at bigint, tokens bigint) RETURNS gateway.held
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    last int := cardinality(h.moments);
BEGIN
    IF last > 0 AND h.moments[last] >= at THEN
        h.amounts[last] := h.amounts[last] + tokens;
    ELSE
        h.moments := h.moments || at;
        h.amounts := h.amounts || tokens;
    END IF;
    RETURN h;
END $$;

-- Reads the row of a sliding limit, without tokens that have come back.
CREATE FUNCTION gateway.hold_sliding(h gateway.held, b gateway.buckets, now bigint)
RETURNS gateway.held LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms := h.terms;
    first int := 1;
    last int := cardinality(b.moments);
BEGIN
    IF b.kind <> 's' THEN
        h.debt := CASE b.kind
            WHEN 't' THEN gateway.ceil_div(least(b.full_at - now, b.owed), b.unit)
            WHEN 'w' THEN b.owed
            WHEN 'p' THEN (SELECT count(*) FROM unnest(b.moments) m WHERE m > now)
            ELSE 0
        END;
        h.changed := true;
        h.restarted := true;
        RETURN CASE WHEN h.debt > 0 THEN gateway.take_at(h, gateway.counted_at(t, now), h.debt) ELSE h END;
    END IF;
    WHILE first <= last AND b.moments[first] <= now - t.length LOOP
        first := first + 1;
    END LOOP;
    h.moments := b.moments[first : last];
    h.amounts := b.amounts[first : last];
    h.debt := coalesce((SELECT sum(a) FROM unnest(h.amounts) a), 0);
    -- Under another window it lives for another time, also if nothing is taken.
    h.changed := first > 1 OR b.unit <> t.length;
    -- No moment of ours is further ahead (limit::max_wait): the clock has stepped back.
    IF last > 0 AND b.moments[last] > now + 600000000 + t.part THEN
        h.moments := '{}';
        h.amounts := '{}';
        h.changed := true;
        h.restarted := true;
        h := CASE WHEN h.debt > 0 THEN gateway.take_at(h, gateway.counted_at(t, now), h.debt) ELSE h END;
    END IF;
    RETURN h;
END $$;

-- Returns the bucket of that key in the present terms.
CREATE FUNCTION gateway.hold(its_key text, t gateway.terms, now bigint) RETURNS gateway.held
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    b gateway.buckets;
    h gateway.held := (its_key, t, 0, false, '{}', '{}', false);
BEGIN
    SELECT * INTO b FROM gateway.buckets WHERE buckets.key = its_key;
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

-- Returns the moment of the n-th token that has not come back.
CREATE FUNCTION gateway.taken_at(h gateway.held, n bigint, now bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    last int := cardinality(h.moments);
    index int := 1;
BEGIN
    WHILE index <= last AND n > h.amounts[index] LOOP
        n := n - h.amounts[index];
        index := index + 1;
    END LOOP;
    IF index <= last THEN
        RETURN h.moments[index];
    END IF;
    -- One that the same question takes.
    RETURN greatest(gateway.counted_at(h.terms, now), h.moments[last]);
END $$;

-- Returns the microseconds until so many units have come back.
CREATE FUNCTION gateway.time_until(h gateway.held, units bigint, now bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF (h.terms).kind = 's' THEN
        RETURN CASE WHEN units <= 0 THEN 0
            ELSE gateway.taken_at(h, units, now) + (h.terms).length - now END;
    ELSIF (h.terms).kind = 'p' THEN
        RETURN CASE WHEN units > 0 THEN 1000000 ELSE 0 END;
    END IF;
    RETURN gateway.time_of(h.terms, units, now);
END $$;

-- Writes a bucket whose row is there.
CREATE FUNCTION gateway.let_go(h gateway.held, now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t gateway.terms := h.terms;
    b gateway.buckets;
BEGIN
    b.kind := t.kind;
    b.full_at := now + h.debt;
    b.owed := h.debt;
    b.unit := t.unit;
    IF t.kind = 't' THEN
        -- Rebased or corrected, it may owe more than it holds.
        b.owed := greatest(h.debt, t.unit * t.burst);
    ELSIF t.kind = 'w' THEN
        b.full_at := now + gateway.time_of(t, h.debt, now);
        b.unit := t.id;
    ELSE
        b.unit := t.length;
        b.moments := h.moments;
        b.amounts := h.amounts;
        b.full_at := CASE t.kind
            WHEN 's' THEN h.moments[cardinality(h.moments)] + t.length
            ELSE (SELECT max(m) FROM unnest(h.moments) m)
        END;
    END IF;
    UPDATE gateway.buckets SET full_at = coalesce(b.full_at, 0), owed = b.owed, unit = b.unit,
        kind = b.kind, moments = b.moments, amounts = b.amounts
    WHERE buckets.key = h.key;
END $$;
