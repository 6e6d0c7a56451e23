-- Windows, and what buckets of token buckets and windows owe. Twin of limit/fixed_window.hpp,
-- limit/debt.hpp and redis/bucket.lua.

-- Returns the number of a moment's window; only differences mean something. Beyond the known beginnings
-- of a calendar, windows are as long as these are on average.
CREATE FUNCTION gateway.window_at(t gateway.terms, at bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    last int := cardinality(t.begins);
    index int := 1;
BEGIN
    IF last IS NULL THEN
        RETURN gateway.floor_div(at + t.shift, t.usual);
    ELSIF at < t.begins[1] THEN
        RETURN 1 + gateway.floor_div(at - t.begins[1], t.usual);
    ELSIF at >= t.begins[last] THEN
        RETURN last + gateway.floor_div(at - t.begins[last], t.usual);
    END IF;
    WHILE t.begins[index + 1] <= at LOOP
        index := index + 1;
    END LOOP;
    RETURN index;
END $$;

CREATE FUNCTION gateway.window_begin(t gateway.terms, index bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    known bigint;
BEGIN
    IF t.begins IS NULL THEN
        RETURN index * t.usual - t.shift;
    END IF;
    known := greatest(1, least(index, cardinality(t.begins)));
    RETURN t.begins[known] + (index - known) * t.usual;
END $$;

-- Returns how many numbers a limit has.
CREATE FUNCTION gateway.numbers_of_terms(numbers bigint[], at int) RETURNS int
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN numbers[at] > @windows_code@ THEN 2
        WHEN numbers[at] = @sliding_code@ THEN 4
        WHEN numbers[at] = @in_flight_code@ THEN 3
        WHEN numbers[at + 3] = 0 THEN 7 + numbers[at + 6]::int
        ELSE 6
    END
$$;

-- Reads the limit from number `at` on. The key's last digits are the client's, whose windows begin at an
-- offset of their own unless they are aligned.
CREATE FUNCTION gateway.terms_in(numbers bigint[], at int, key text, now bigint)
RETURNS gateway.terms LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms;
BEGIN
    t.unit := numbers[at];
    t.burst := numbers[at + 1];
    IF t.unit > @windows_code@ THEN
        t.kind := 't';
        RETURN t;
    ELSIF t.unit < @windows_code@ THEN
        t.kind := CASE t.unit WHEN @sliding_code@ THEN 's' ELSE 'p' END;
        t.length := numbers[at + 2];
        t.part := CASE t.unit WHEN @sliding_code@ THEN numbers[at + 3] END;
        t.unit := 1;
        RETURN t;
    END IF;
    t.kind := 'w';
    t.unit := 1;
    t.count := numbers[at + 2];
    t.usual := numbers[at + 3];
    t.shift := 0;
    t.id := numbers[at + 5];
    IF t.usual = 0 THEN
        t.begins := ARRAY(
            SELECT 1000000 * b
            FROM unnest(numbers[at + 7 : at + 6 + numbers[at + 6]]) WITH ORDINALITY u(b, n) ORDER BY n);
        t.usual := greatest(
            (t.begins[cardinality(t.begins)] - t.begins[1]) / greatest(cardinality(t.begins) - 1, 1), 1);
    ELSIF numbers[at + 4] <> @aligned_windows@ THEN
        t.shift := ('x' || lpad(substr(right(key, 32), 1, 13), 16, '0'))::bit(64)::bigint % t.usual;
    END IF;
    t.present := gateway.window_at(t, now);
    t.most := least((3153600000000000 / t.usual)::numeric * t.count, 1099511627775)::bigint;
    RETURN t;
END $$;

-- Returns the microseconds until so many units more have been issued.
CREATE FUNCTION gateway.time_of(t gateway.terms, units bigint, now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN t.kind <> 'w' OR units <= 0 THEN units
        ELSE gateway.window_begin(t, t.present + gateway.ceil_div(units, t.count)) - now
    END
$$;

-- Returns the debt of a bucket that owed `owed` when it was written, or null if it would be full later
-- than that many tokens take, as the clock has stepped back.
CREATE FUNCTION gateway.still_owed(t gateway.terms, full_at bigint, owed bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    needed bigint := gateway.ceil_div(owed, t.count);
    to_come bigint := gateway.window_at(t, full_at + t.usual / 2) - t.present;
BEGIN
    IF to_come > needed + 1 THEN
        RETURN NULL;
    END IF;
    RETURN greatest(0, least(to_come * t.count - (needed * t.count - owed), owed));
END $$;

-- Converts a debt from units worth `old` a token, rounded up, so that it never shrinks.
CREATE FUNCTION gateway.rescaled(debt bigint, old bigint, t gateway.terms) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT least(ceil(debt::numeric * t.unit / old), coalesce(t.most, 3153600000000000))::bigint
$$;

-- Returns the debt of a row now, in units of these terms, of a token bucket or of windows.
CREATE FUNCTION gateway.debt_in(b gateway.buckets, t gateway.terms, now bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF b.full_at <= now THEN
        RETURN 0;
    END IF;
    CASE b.kind
    WHEN 't' THEN
        -- A clock that stepped back would leave a debt larger than any that can be made.
        IF t.kind = 't' AND t.unit = b.unit THEN
            RETURN least(b.full_at - now, b.owed);
        END IF;
        RETURN gateway.rescaled(least(b.full_at - now, b.owed), b.unit, t);
    WHEN 'w' THEN
        IF t.kind = 'w' AND t.id = b.unit THEN
            RETURN coalesce(gateway.still_owed(t, b.full_at, b.owed), least(b.owed, t.most));
        END IF;
        RETURN gateway.rescaled(b.owed, 1, t);
    WHEN 's' THEN
        RETURN gateway.rescaled(b.owed, 1, t);
    WHEN 'p' THEN
        RETURN gateway.rescaled((SELECT count(*) FROM unnest(b.moments) m WHERE m > now), 1, t);
    ELSE
        RETURN 0;
    END CASE;
END $$;

-- True if a row is in these terms, so that it need not be written anew.
CREATE FUNCTION gateway.follows(b gateway.buckets, t gateway.terms) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN b.kind <> t.kind THEN false
        WHEN t.kind = 't' THEN b.unit = t.unit
        ELSE b.unit = t.id AND gateway.still_owed(t, b.full_at, b.owed) IS NOT NULL
    END
$$;
