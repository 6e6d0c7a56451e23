-- A bucket of a sliding limit in Redis. Twin of limit/history.hpp, in microseconds of the server's
-- clock. Stands between bucket.lua and take_any.lua.
--
-- The key is a list: "h TOKENS LENGTH", tokens that have not come back and the window's length, then
-- "AT TOKENS", oldest first. It expires when all have come back. A bucket has `kept`, the tokens of the
-- list; `first`, the index of its first moment that has not come back; `last`, the newest moment; `fresh`,
-- moments and tokens that this call has taken, in the order of time.
local chunk = 64

-- A request waits for its tokens at most so long (limit::max_wait): no moment of ours is later.
local most_ahead = 600000000

-- Calls `visit` with index, moment and tokens of each entry from that index on, until it returns true.
local function walk(key, from, visit)
    while true do
        local page = redis.call('LRANGE', key, from, from + chunk - 1)
        for i, text in ipairs(page) do
            local at, tokens = string.match(text, '^(%d+) (%d+)$')
            if visit(from + i - 1, tonumber(at) or 0, tonumber(tokens) or 0) then
                return
            end
        end
        if #page < chunk then
            return
        end
        from = from + chunk
    end
end

-- The moment that a token taken at that time counts for: never sooner.
local function counted_at(sliding, at)
    return at + (sliding.part - at % sliding.part) % sliding.part
end

-- Returns what a list of ours says has not come back, and the length of its window, or nil if it is none.
local function kept_in(key)
    local head = redis.pcall('LINDEX', key, 0)
    if type(head) ~= 'string' then
        return nil
    end
    local tokens, length = string.match(head, '^h (%d+) ?(%d*)$')
    return tonumber(tokens), tonumber(length)
end

-- Returns the tokens that a bucket of another kind owes, or nil if the key holds something else.
local function tokens_before(key)
    local value = redis.pcall('GET', key)
    if type(value) ~= 'string' then
        return redis.call('TYPE', key).ok == 'zset' and redis.call('ZCOUNT', key, now, '+inf') or nil
    end
    local debt, unit = read_debt(value, {})
    return debt and math.max(ceil_div(debt, unit), 0) -- below zero: not yet expired
end

-- Tokens that count from that moment, or from the newest one's if that is later.
local function take_fresh(bucket, at, tokens)
    local newest = bucket.fresh[#bucket.fresh]
    if newest and newest.at >= at then
        newest.tokens = newest.tokens + tokens
    else
        at = bucket.last and math.max(at, bucket.last.at) or at
        table.insert(bucket.fresh, { at = at, tokens = tokens })
    end
end

-- All that is owed is taken now.
local function restart(bucket)
    bucket.changed, bucket.replaces, bucket.kept, bucket.last = true, true, 0, nil
    if bucket.debt > 0 then
        take_fresh(bucket, counted_at(bucket.limit.sliding, now), bucket.debt)
    end
end

-- nil if the key holds something else.
local function read_sliding(key, limit)
    local bucket = { key = key, unit = 1, limit = limit, debt = 0, kept = 0, first = 1, fresh = {} }
    if redis.call('EXISTS', key) == 0 then
        return bucket
    end
    local kept, length = kept_in(key)
    local newest = kept and tonumber(string.match(redis.call('LINDEX', key, -1), '^(%d+) %d+$'))
    if kept and not newest then
        return nil
    elseif not kept then
        bucket.debt = tokens_before(key)
        if not bucket.debt then
            return nil
        end
        restart(bucket)
        return bucket
    end
    local until_now = now - limit.sliding.length
    walk(key, 1, function(index, at, tokens)
        if at > until_now then
            return true
        end
        kept = kept - tokens
        bucket.first = index + 1
    end)
    bucket.debt, bucket.kept = kept, kept
    -- Under another window it lives for another time, also if nothing is taken.
    bucket.changed = bucket.first > 1 or length ~= limit.sliding.length
    bucket.last = { at = newest }
    if newest > now + most_ahead + limit.sliding.part then
        restart(bucket) -- the clock has stepped back
    end
    return bucket
end

-- Returns the moment of the n-th of the tokens that have not come back.
local function taken_at(bucket, n)
    local stamp = counted_at(bucket.limit.sliding, now)
    if n > bucket.kept then
        local newest = bucket.last
        for _, entry in ipairs(bucket.fresh) do
            newest, n = entry, n - entry.tokens
            if n <= bucket.kept then
                return entry.at
            end
        end
        return newest and math.max(stamp, newest.at) or stamp
    end
    if n == bucket.kept and bucket.last then
        return bucket.last.at -- a rejection asks for no other, and would walk far for it
    end
    local seen, found = 0, stamp
    walk(bucket.key, bucket.first, function(_, at, tokens)
        seen = seen + tokens
        found = at
        return seen >= n
    end)
    return found
end

-- Microseconds until so many tokens have come back.
local function sliding_time(bucket, tokens)
    if tokens <= 0 then
        return 0
    end
    return taken_at(bucket, tokens) + bucket.limit.sliding.length - now
end

-- Refunds tokens that the list keeps.
local function give_back_kept(bucket, since, tokens)
    walk(bucket.key, bucket.first, function(index, at, there)
        if at >= since then
            local given = math.min(tokens, there)
            local left = there > given and string.format('%.0f %.0f', at, there - given) or 'gone'
            redis.call('LSET', bucket.key, index, left)
            tokens = tokens - given
            bucket.debt, bucket.kept = bucket.debt - given, bucket.kept - given
        end
        return tokens <= 0
    end)
    redis.call('LREM', bucket.key, 0, 'gone')
    local at = string.match(redis.call('LINDEX', bucket.key, -1) or '', '^(%d+) ')
    bucket.last = at and { at = tonumber(at) }
    return tokens
end

-- Twin of limit::history::refund(). How many tokens are left that it did not find.
local function give_back(bucket, since, tokens)
    if not bucket.replaces then
        tokens = give_back_kept(bucket, since, tokens)
    end
    local left = {}
    for _, entry in ipairs(bucket.fresh) do
        local given = entry.at >= since and math.min(tokens, entry.tokens) or 0
        entry.tokens, tokens, bucket.debt = entry.tokens - given, tokens - given, bucket.debt - given
        if entry.tokens > 0 then
            table.insert(left, entry)
        end
    end
    bucket.fresh = left
    return tokens
end

-- A correction may be on its way for longer than its question was, so it looks for tokens taken so much
-- earlier, too. Later ones would be somebody else's.
local function lateness(sliding)
    return math.min(1000000, math.floor(sliding.length / 8))
end

-- Nothing is owed.
local function reset_sliding(bucket)
    bucket.debt, bucket.kept, bucket.fresh = 0, 0, {}
    bucket.changed, bucket.replaces, bucket.last = true, true, nil
end

-- False: it has found nothing.
local function correct_sliding(c)
    local bucket = c.bucket
    if c.kind == @charge@ then
        local top = c.into_debt and most_tokens or c.limit.burst
        local more = math.min(c.cost, math.max(top - bucket.debt, 0))
        bucket.debt = bucket.debt + more
        if more > 0 then
            take_fresh(bucket, counted_at(c.limit.sliding, now), more)
        end
    elseif c.kind == @reset@ then
        reset_sliding(bucket)
    elseif c.is_grant or not bucket.replaces then
        return give_back(bucket, now - c.held - lateness(c.limit.sliding), c.cost) < c.cost
    end
    return true
end

local function write_sliding(bucket)
    local key, fresh = bucket.key, bucket.fresh
    if bucket.replaces or bucket.debt <= 0 then
        redis.call('DEL', key)
        bucket.last = nil
    else
        redis.call('LTRIM', key, bucket.first, -1) -- without its head; an empty list is gone
    end
    if bucket.debt <= 0 then
        return
    end
    if redis.call('EXISTS', key) == 0 then
        bucket.last = nil
    end
    if fresh[1] and bucket.last and bucket.last.at >= fresh[1].at then
        local newest = redis.call('RPOP', key)
        fresh[1].tokens = fresh[1].tokens + tonumber(string.match(newest, ' (%d+)$'))
    end
    for _, entry in ipairs(fresh) do
        redis.call('RPUSH', key, string.format('%.0f %.0f', entry.at, entry.tokens))
        bucket.last = entry
    end
    local length = bucket.limit.sliding.length
    redis.call('LPUSH', key, string.format('h %.0f %.0f', bucket.debt, length))
    local left = bucket.last.at + length - now
    redis.call('PEXPIRE', key, string.format('%.0f', math.max(ceil_div(left, 1000), 0) + 1))
end
