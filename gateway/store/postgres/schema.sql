-- A gateway keeps one table in a PostgreSQL database (14 or later), and the functions that decide. All
-- moments are microseconds since the Unix epoch, by the server's clock. A released version is not
-- changed, so that gateways of several versions can share a database.
CREATE SCHEMA IF NOT EXISTS gateway;

-- The version's number, and the oldest that a gateway may have been built with.
CREATE TABLE gateway.version (version int NOT NULL, oldest int NOT NULL);
INSERT INTO gateway.version VALUES (1, 1);

-- True if functions can read a row, which may have been changed by hand.
CREATE FUNCTION gateway.is_readable(
    full_at bigint, owed bigint, unit bigint, kind "char", moments bigint[], amounts bigint[])
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN full_at BETWEEN 0 AND 9007199254740991 AND owed >= 0 AND CASE
        WHEN kind = 't' THEN unit >= 1
        WHEN kind IN ('s', 'p') THEN unit >= 1 AND coalesce(cardinality(moments) = cardinality(amounts), false)
            AND array_position(moments, NULL) IS NULL AND coalesce((kind = 'p') OR 0 < ALL (amounts), false)
        WHEN kind = 'b' THEN unit >= 0 AND array_position(moments, NULL) IS NULL
        ELSE kind IN ('w', 'r', 'm', 'n')
    END;
END $$;

-- One row per bucket, ban, receipt and mark. From `full_at` on it is as good as never seen.
--   kind  what            owed                             unit            moments          amounts
--   t     token bucket    the largest debt that can be     of one token
--   w     windows         tokens, when it was written      which windows
--   s     sliding limit   tokens in `amounts`              its length      of takings       tokens
--   p     places                                                           leased until     numbers
--   b     ban             until when it is banned          its length      of rejections
--   r     receipt, of a correction that has been made
--   m     mark, in `owed`: when tokens that nobody expected were given last
--   n     nothing yet: a row that is there to be locked
-- `passed`: how many of the usual questions passed that wrote the row last. An UPDATE can tell what it has
-- written, but not what was there before.
CREATE @LOGGED@ TABLE gateway.buckets (
    full_at bigint NOT NULL,
    owed bigint NOT NULL DEFAULT 0,
    unit bigint NOT NULL DEFAULT 1,
    passed bigint,
    kind "char" NOT NULL,
    key text COLLATE "C" PRIMARY KEY,
    moments bigint[],
    amounts bigint[],
    -- A function, as an expression of this length is read anew by each statement that writes (118 us for a
    -- take, 82 with the function, measured).
    CHECK (gateway.is_readable(full_at, owed, unit, kind, moments, amounts))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Returns the time at which a call begins.
CREATE FUNCTION gateway.now() RETURNS bigint LANGUAGE sql VOLATILE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

CREATE FUNCTION gateway.ceil_div(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT CASE WHEN a > 0 THEN (a - 1) / b + 1 ELSE a / b END';

CREATE FUNCTION gateway.floor_div(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT CASE WHEN a >= 0 THEN a / b ELSE -((-a - 1) / b) - 1 END';

-- Returns when a grant was made last, or 0.
CREATE FUNCTION gateway.mark(mark_key text, now bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT owed FROM gateway.buckets WHERE key = mark_key AND full_at > now), 0);
END $$;
