-- Types of what functions hand to each other.

-- A limit as limit::append_numbers() encodes it. `kind` is that of its rows.
CREATE TYPE gateway.terms AS (
    kind "char",
    -- Of a token, in what a bucket owes; 1 where that is tokens.
    unit bigint,
    burst bigint,
    -- Windows: tokens in each; how long one is, usually; the beginnings that are known; what is
    -- added to a moment before it is divided by the length; what tells them from others; the one
    -- now; the most that a bucket can owe.
    count bigint,
    usual bigint,
    begins bigint[],
    shift bigint,
    id bigint,
    present bigint,
    most bigint,
    -- Of a sliding limit; of places the lease.
    length bigint,
    -- Of a sliding limit: to multiples of what its moments are rounded up.
    part bigint
);

-- A bucket while its question is decided.
CREATE TYPE gateway.held AS (
    key text,
    terms gateway.terms,
    -- In units of its terms.
    debt bigint,
    -- Whether it must be written whatever the answer.
    changed boolean,
    moments bigint[],
    amounts bigint[],
    -- All that it owes counts from now on, as the row was one of another kind, or the clock has
    -- stepped back: whose tokens these are is not known any more. Of a sliding limit.
    restarted boolean
);

-- A charge, as redis/take.lua reads it.
CREATE TYPE gateway.charge AS (
    cost bigint,
    -- 0: none; else of a correction: 2 give back, 3 charge, 4 reset, 5 renew, 6 ban, 7 unban.
    correction int,
    enforced boolean,
    looks boolean,
    is_grant boolean,
    max_wait bigint,
    max_reserved bigint,
    held bigint,
    owed_before bigint,
    -- Of a charge: the bucket may owe more than it holds.
    into_debt boolean,
    -- Of what is given back: requests wait under the limit.
    in_line boolean,
    receipt text,
    -- Of a correction: its bucket has other terms by now, in which it cannot be made, or somebody has
    -- made up for the tokens that it gives back.
    is_lost boolean,
    place bigint,
    -- Of a penalty; null: none.
    after bigint,
    within bigint,
    ban bigint,
    max_ban bigint,
    ban_key text,
    -- Which of the question's buckets it charges.
    bucket int,
    -- allowed, remaining, retry, full
    said bigint[]
);

CREATE TYPE gateway.question AS (
    charges gateway.charge[],
    buckets gateway.held[],
    -- Behind the question.
    at int,
    key int
);
