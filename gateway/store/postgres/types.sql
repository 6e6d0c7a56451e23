-- Types of the values that functions hand to each other.

-- A limit as limit::append_numbers() encodes it. `kind` is that of its rows.
CREATE TYPE gateway.terms AS (
    kind "char",
    -- Worth of a token in the unit of a bucket's debt; 1 if the debt is in tokens.
    unit bigint,
    burst bigint,
    -- Windows have the next seven: tokens in each; usual length of one; known beginnings; microseconds
    -- that are added to a moment before it is divided by the length; id, which differs from that of
    -- other windows; number of the present one; largest debt of a bucket.
    count bigint,
    usual bigint,
    begins bigint[],
    shift bigint,
    id bigint,
    present bigint,
    most bigint,
    -- Length of a sliding limit's window, or of the lease of a place.
    length bigint,
    -- Microseconds to whose multiples a sliding limit rounds its moments up.
    part bigint
);

-- A bucket while its question is decided.
CREATE TYPE gateway.held AS (
    key text,
    terms gateway.terms,
    -- Debt in units of its terms.
    debt bigint,
    -- True if it must be written whatever the answer.
    changed boolean,
    moments bigint[],
    amounts bigint[],
    -- True if the whole debt of a sliding limit counts from now on, as the row was of another kind, or
    -- the clock has stepped back. It is not known any more who took these tokens.
    restarted boolean
);

-- A charge, as redis/take.lua reads it.
CREATE TYPE gateway.charge AS (
    cost bigint,
    -- Number of a correction in remote/call_flags.hpp: refund, charge, reset, renew, ban or unban. 0: the
    -- charge is that of a request.
    correction int,
    enforced boolean,
    looks boolean,
    is_grant boolean,
    max_wait bigint,
    max_reserved bigint,
    held bigint,
    owed_before bigint,
    -- True if the correction `charge` may make the bucket owe more than it holds.
    into_debt boolean,
    -- True if a refund is one of a limit under which requests wait.
    in_line boolean,
    receipt text,
    -- True if a correction can no longer be made: its bucket has other terms by now, or somebody else
    -- has made up for the tokens that it refunds.
    is_lost boolean,
    place bigint,
    -- Numbers of a penalty; null: the limit has none.
    after bigint,
    within bigint,
    ban bigint,
    max_ban bigint,
    ban_key text,
    -- Index in the question's buckets of the one that it charges.
    bucket int,
    -- Reply: allowed, remaining, retry, full.
    said bigint[]
);

CREATE TYPE gateway.question AS (
    charges gateway.charge[],
    buckets gateway.held[],
    -- Positions of the number and of the key behind the question.
    at int,
    key int
);
