-- Bans. Twin of limit/penalty.hpp and of redis/penalty.lua.

-- Returns the microseconds for which the bucket is still banned, or 0.
CREATE FUNCTION gateway.banned_for(ban_key text, now bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
    -- A clock that stepped back would leave a ban longer than any that was given.
    SELECT coalesce((
        SELECT greatest(least(owed - now, unit), 0) FROM gateway.buckets
        WHERE key = ban_key AND kind = 'b' AND full_at > now), 0)
$$;

CREATE FUNCTION gateway.ban(ban_key text, length bigint, max_ban bigint, now bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$
    UPDATE gateway.buckets SET kind = 'b', owed = now + length, unit = length, moments = '{}',
        full_at = now + length + max_ban
    WHERE key = ban_key
$$;

-- Notes a rejection of a bucket that is not banned.
CREATE FUNCTION gateway.note_rejection(c gateway.charge, now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    b gateway.buckets;
    recent bigint[];
BEGIN
    SELECT * INTO b FROM gateway.buckets WHERE key = c.ban_key AND kind = 'b' AND full_at > now;
    recent := ARRAY(SELECT m FROM unnest(b.moments) WITH ORDINALITY u(m, n) WHERE m > now - c.within ORDER BY n)
        || now;
    IF cardinality(recent) < c.after THEN
        UPDATE gateway.buckets SET kind = 'b', moments = recent,
            owed = coalesce(b.owed, 0), unit = coalesce(b.unit, 0),
            full_at = greatest(now + c.within, CASE WHEN b.owed > 0 THEN b.owed + c.max_ban ELSE 0 END)
        WHERE key = c.ban_key;
    ELSIF b.unit > 0 AND now < b.owed + c.max_ban THEN
        PERFORM gateway.ban(c.ban_key, least(2 * b.unit, c.max_ban), c.max_ban, now);
    ELSE
        PERFORM gateway.ban(c.ban_key, c.ban, c.max_ban, now);
    END IF;
END $$;
